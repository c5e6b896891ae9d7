package main

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

// engine is what commands ask of a runtime, wherever that runs.
type engine interface {
	Diagnostics(context.Context, supervisor.Document) (supervisor.DiagnosticsReport, error)
	Hover(context.Context, supervisor.Document, supervisor.Position) (supervisor.HoverReport, error)
	Query(ctx context.Context, doc supervisor.Document, method string, at *supervisor.Position, params json.RawMessage) (supervisor.QueryReport, error)
	RunCode(context.Context, supervisor.Snippet) (supervisor.RunReport, error)
	Status(context.Context) (supervisor.Status, error)
	// Shutdown ends what the command had started; when ctx has ended, by force.
	Shutdown(context.Context) error
}

// startEmbedded starts an engine in this process, with a guard for the case that it
// is killed.
func startEmbedded(ctx context.Context, cfg config.Config, log *slog.Logger) (engine, error) {
	return supervisor.Start(ctx, cfg, supervisor.WithLogger(log), supervisor.WithGuard())
}

// withEngine runs do with an engine and ends the engine afterwards, whatever came of
// it. Ctrl-C cancels ctx: calls in flight are answered, and the end is by force.
func (a *app) withEngine(ctx context.Context, cfg config.Config, do func(engine) error) error {
	eng, err := a.start(ctx, cfg, a.logger(cfg))
	if err != nil {
		return err
	}
	failure := do(eng)
	stopping, cancel := context.WithTimeout(ctx, cfg.StopTimeout)
	defer cancel()
	switch err := eng.Shutdown(stopping); {
	case failure == nil:
		return err
	case err != nil:
		a.complain(err) // the command's own error decides the exit code
	}
	return failure
}

// logger logs to standard error where somebody asked for a level: by default a short
// command says only what it was asked for.
func (a *app) logger(cfg config.Config) *slog.Logger {
	if _, asked := a.origins["log_level"]; !asked {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: cfg.LogLevel}))
}
