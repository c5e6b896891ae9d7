package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/seed-f6977891/hearth/cmd/runtime/internal/render"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

func (a *app) doctor() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say which languages are usable here and what to install for the others, directories, limits and left-over trees",
		Args:  arguments(cobra.NoArgs, "doctor"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.load()
			if err != nil {
				return err
			}
			sections := []render.Section{
				{Title: "Languages", Facts: a.languageFacts(cfg)},
				{Title: "Directories", Facts: directoryFacts(cfg)},
				{Title: "Limits", Facts: limitFacts(cfg)},
				{Title: "Process trees", Facts: leftoverFacts(cmd.Context(), cfg)},
			}
			if a.json {
				return a.printJSON(sections)
			}
			return a.print(render.Doctor(sections))
		},
	}
}

func (a *app) languageFacts(cfg config.Config) []render.Fact {
	var facts []render.Fact
	for _, name := range slices.Sorted(maps.Keys(cfg.Languages)) {
		l := cfg.Languages[name]
		if l.HasServer() {
			facts = append(facts, a.programFact(name+" server", l, l.Server.Commands))
		}
		if l.HasREPL() {
			facts = append(facts, a.programFact(name+" REPL", l, []config.Command{l.REPL.Command}))
		}
	}
	return facts
}

func (a *app) programFact(name string, l config.Language, commands []config.Command) render.Fact {
	command, err := l.Find(commands, a.environ("PATH"), "")
	if missing, ok := err.(*messages.LaunchError); ok {
		return render.Fact{Name: name, Text: missing.Diagnosis}
	}
	return render.Fact{Name: name, OK: err == nil, Text: command.String()}
}

// replMemory says what REPL workers may take together, in whole GiB as their weights are.
func replMemory(cfg config.Config) string {
	return fmt.Sprintf("%d of %d GiB by the workers' weights: pools of Lean at a time: %d",
		cfg.NodeBudget()/config.GiB, cfg.RAM/config.GiB, cfg.LeanPools())
}

func directoryFacts(cfg config.Config) []render.Fact {
	facts := []render.Fact{directoryFact("runtime", cfg.Dir()), directoryFact("temporary", os.TempDir())}
	if cache, err := os.UserCacheDir(); err == nil {
		facts = append(facts, directoryFact("cache", filepath.Join(cache, "hearth")))
	}
	return facts
}

func directoryFact(name, path string) render.Fact {
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return render.Fact{Name: name, OK: true, Text: path + " (not there; made when it is needed)"}
	case err != nil:
		return render.Fact{Name: name, Text: err.Error()}
	case !info.IsDir():
		return render.Fact{Name: name, Text: path + " is not a directory"}
	}
	return render.Fact{Name: name, OK: true, Text: fmt.Sprintf("%s (%s)", path, info.Mode()&(fs.ModePerm|fs.ModeSticky))}
}

func limitFacts(cfg config.Config) []render.Fact {
	facts := []render.Fact{
		{Name: "language servers", OK: true, Text: fmt.Sprintf("%d at a time (max_projects)", cfg.MaxProjects)},
		{Name: "REPL memory", OK: cfg.RAM > 0, Text: replMemory(cfg)},
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err == nil {
		facts = append(facts, render.Fact{Name: "open files", OK: true, Text: fmt.Sprint(files.Cur)})
	}
	for _, limit := range procscan.Limits() {
		facts = append(facts, render.Fact{Name: "this platform", Text: limit})
	}
	return facts
}
