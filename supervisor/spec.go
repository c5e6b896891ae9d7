package supervisor

import (
	"os"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/cache"
	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

const (
	exitGrace   = 5 * time.Second  // of a server that was asked to shut down
	writeStall  = 10 * time.Second // without a byte taken, while one is written, a server is lost
	silenceMost = 10 * time.Second // of a server that somebody waits for
)

// lspCache is the cache of language servers: each counts one.
func (rt *Runtime) lspCache() cache.Config {
	return cache.Config{Kind: messages.LSP, Limit: int64(rt.cfg.MaxProjects), Idle: rt.cfg.Idle, Resource: "session",
		Weight:   func(messages.Key) int64 { return 1 },
		Creation: func(messages.Key) time.Duration { return rt.cfg.LSPCreation() },
		NewResource: func(key messages.Key) func(*actors.Self) actors.Behaviour {
			return lsp.NewSession(sessionConfig(rt.cfg, key))
		}}
}

// sessionConfig is one language server's, from its profile.
func sessionConfig(cfg config.Config, key messages.Key) lsp.SessionConfig {
	language := cfg.Languages[key.Language]
	profile := lsp.Profile{Name: language.Server.Commands[0][0], Settings: language.Server.Settings,
		Complete: completeness[language.Server.Complete], InitializationOptions: language.Server.InitializationOptions,
		Sources: sources(language.Extensions), Serial: language.Server.Serial}
	if profile.Complete == lsp.CompleteLean {
		profile.DependencyBuildMode = "once" // as editors do: build once, then ask for a restart
	}
	parallel := cfg.LSP.Parallel
	if profile.Serial {
		parallel = 1
	}
	spec, start := launchOf(key.Root, language, language.Server.Commands, language.Server.Env)
	start.Limit = cfg.LSP.StartupTimeout
	return lsp.SessionConfig{Key: key, Spec: spec, Start: start, Profile: profile, Startup: cfg.LSP.StartupTimeout,
		Exit: exitGrace, Parallel: parallel, OpenDocuments: cfg.LSP.OpenDocuments,
		Silence: min(silenceMost, cfg.LSP.Timeout), Unwatched: language.Server.Unwatched, NewNotifier: lsp.NewNotifier,
		Connect: func(pipes messages.Pipes, answers lsp.Answers) lsp.Wire {
			return lsp.NewWire(pipes.Stdout, pipes.Stdin, writeStall, answers)
		}}
}

// sources are the files of a language whose change a server must notice.
func sources(extensions []string) []string {
	globs := make([]string, 0, len(extensions))
	for _, extension := range extensions {
		globs = append(globs, "**/*"+extension)
	}
	return globs
}

var completeness = map[config.Complete]lsp.Complete{
	config.CompleteQuiet: lsp.CompleteQuiet, config.CompleteVersion: lsp.CompleteVersion, config.CompleteWait: lsp.CompleteLean,
}

// launchOf is how a child of a profile is started: in the project, with the runtime's
// own environment as it is now, without PYTHONPATH (which would let one project's
// modules into every tool written in Python).
func launchOf(root string, language config.Language, commands []config.Command, env map[string]string) (procscan.Spec, messages.Start) {
	var start messages.Start
	for _, command := range commands[1:] {
		start.Fallbacks = append(start.Fallbacks, command)
	}
	start.Hint, _ = language.InstallHint(commands[0][0])
	extra := make([]string, 0, len(env))
	for name, value := range env {
		extra = append(extra, name+"="+value)
	}
	return procscan.Spec{Argv: commands[0], Dir: root,
		Env: procscan.ChildEnv(os.Environ(), []string{"PYTHONPATH"}, extra, nil)}, start
}
