package repl_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

// plenty is a call's time where the test is not about it.
const plenty = 50 * time.Second

// rig is a runtime with one project.
type rig struct {
	*supervisor.Runtime
	t       testing.TB
	project string
	standins.Scripted
}

// startFake starts a runtime over a Lean project whose REPL is fakerepl.
func startFake(t testing.TB, s script.REPL, changes ...func(*supervisor.Config)) *rig {
	t.Helper()
	scripted, bin := standins.WriteREPL(t, s), standins.Build(t)
	fake := func(cfg *supervisor.Config) {
		lean := cfg.Languages["lean"]
		lean.REPL.Command, lean.REPL.AllowedImports = scripted.Command(bin.REPL), nil
		lean.REPL.HeaderCommand[0] = filepath.Join(bin.LeanDir(), "lake")
		cfg.Languages["lean"] = lean
	}
	r := start(t, standins.Project(t, "lean"), append([]func(*supervisor.Config){fake}, changes...)...)
	r.Scripted = scripted
	return r
}

// start starts a runtime over a project. When the test ends nothing may be left.
func start(t testing.TB, project string, changes ...func(*supervisor.Config)) *rig {
	t.Helper()
	standins.NewCanary(t)
	cfg := supervisor.DefaultConfig()
	cfg.REPL.TotalWorkers, cfg.REPL.WorkersPerProject = 1, 1
	for _, change := range changes {
		change(&cfg)
	}
	runtime, err := supervisor.Start(t.Context(), cfg)
	require.NoError(t, err)
	r := &rig{Runtime: runtime, t: t, project: project}
	t.Cleanup(r.end)
	return r
}

func resident(cfg *supervisor.Config) { cfg.REPL.Mode = config.Resident }

func (r *rig) end() {
	ctx, cancel := context.WithTimeout(context.Background(), standins.Bound)
	defer cancel()
	assert.NoError(r.t, r.Shutdown(ctx))
	if r.Journal != "" {
		assert.Empty(r.t, standins.Survivors(r.t, r.Journal))
	}
}

func (r *rig) run(code string, timeout time.Duration) (supervisor.RunReport, error) {
	return r.RunCode(r.t.Context(), supervisor.Snippet{Project: r.project, Code: code, Timeout: timeout})
}

// says runs code that must come to an answer, and gives the text of its one message.
func (r *rig) says(code string) string {
	r.t.Helper()
	report, err := r.run(code, plenty)
	require.NoError(r.t, err)
	require.Empty(r.t, report.Error)
	require.Len(r.t, report.Messages, 1)
	return report.Messages[0].Data
}

// failure runs code of which no whole reply comes, and gives the error.
func (r *rig) failure(code string, timeout time.Duration) *messages.RunError {
	r.t.Helper()
	_, err := r.run(code, timeout)
	var run *messages.RunError
	require.ErrorAs(r.t, err, &run)
	assert.True(r.t, run.Sent)
	assert.False(r.t, messages.Retryable(err))
	assert.NotContains(r.t, err.Error(), "\n")
	return run
}

// replStarts gives the REPL processes that were started so far.
func (r *rig) replStarts() []standins.Event {
	r.t.Helper()
	return r.Select(r.t, standins.Is("repl", journal.Start, ""))
}
