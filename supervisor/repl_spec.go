package supervisor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/cache"
	"github.com/seed-f6977891/hearth/actors/repl"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

// driverPython is the name of the driver that makes an interpreter of Python a REPL.
const driverPython = "python"

// replCache is the cache of REPL pools: each counts the memory that its workers may
// take, so that a node holds few pools of a heavy language and many of a light one.
func (rt *Runtime) replCache() cache.Config {
	return cache.Config{Kind: messages.REPL, Limit: int64(rt.cfg.NodeBudget()), Idle: rt.cfg.Idle, Resource: "pool",
		Weight:   func(key messages.Key) int64 { return int64(rt.cfg.PoolWeight(rt.cfg.Languages[key.Language])) },
		Creation: func(messages.Key) time.Duration { return rt.cfg.REPLCreation() },
		NewResource: func(key messages.Key) func(*actors.Self) actors.Behaviour {
			return repl.NewPool(poolConfig(rt.cfg, rt.table, key))
		}}
}

// poolConfig is one project's pool, from its language's profile.
func poolConfig(cfg config.Config, table procscan.Table, key messages.Key) repl.PoolConfig {
	language := cfg.Languages[key.Language]
	command := language.REPL.Command
	if language.REPL.Driver == driverPython {
		command = repl.PythonCommand(command)
	}
	spec, start := launchOf(key.Root, language, []config.Command{command}, nil)
	pool := repl.PoolConfig{Key: key, Workers: cfg.REPL.WorkersPerProject, Resident: cfg.REPL.Mode == config.Resident,
		MaxUses: cfg.REPL.MaxUses, Startup: cfg.REPL.StartupTimeout, Spec: spec, Start: start,
		Memory: repl.Memory{Limit: int64(cfg.MemoryLimit(language)), Ratio: cfg.REPL.MemoryRatio,
			Group: groupIn(table), Measure: procscan.Measure},
		Warm:     func() []string { return language.WarmImports(key.Root) },
		Protocol: protocolOf(language)}
	if language.REPL.Protocol == config.ProtocolLean {
		pool.Header = headerConfig(language, key.Root)
	}
	return pool
}

func headerConfig(language config.Language, root string) *repl.HeaderConfig {
	header := &repl.HeaderConfig{Allowed: language.REPL.AllowedImports}
	if command := language.REPL.HeaderCommand; command != nil {
		header.Spec, header.Start = launchOf(root, language, []config.Command{command}, nil)
	}
	return header
}

// protocolOf makes what a language's child speaks. The warm-up of a jsonl child is
// code: for hearth's own driver its imports, for any other what the profile says.
func protocolOf(language config.Language) func(warm []string) repl.Protocol {
	if language.REPL.Protocol == config.ProtocolLean {
		return func(warm []string) repl.Protocol { return repl.NewLean(warm) }
	}
	return func(warm []string) repl.Protocol {
		if language.REPL.Driver != driverPython {
			return repl.NewJSONL(strings.Join(warm, "\n"))
		}
		lines := make([]string, len(warm))
		for i, module := range warm {
			lines[i] = "import " + module
		}
		return repl.NewPython(strings.Join(lines, "\n"))
	}
}

// groupIn looks for a leader's process group in one walk of the table.
func groupIn(table procscan.Table) func(context.Context, procscan.Identity) ([]procscan.Identity, error) {
	return func(ctx context.Context, leader procscan.Identity) ([]procscan.Identity, error) {
		all, err := table.Walk(ctx)
		if err != nil {
			return nil, fmt.Errorf("look for the group of process %d: %w", leader.PID, err)
		}
		var members []procscan.Identity
		for _, info := range all {
			if info.PGID == leader.PID {
				members = append(members, info.Identity)
			}
		}
		return members, nil
	}
}
