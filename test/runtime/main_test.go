// Package runtime_test runs whole runtimes, embedded, on stand-ins of Lean's tools.
package runtime_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/test/standins"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lean is a runtime over fakelean, with the journal of everything it started.
type lean struct {
	*supervisor.Runtime
	t       *testing.T
	journal string
	project string
}

// startLean makes a runtime and a project. The runtime is closed at the end of the
// test, and nothing that it started may be left then.
func startLean(t *testing.T, knobs ...string) *lean {
	t.Helper()
	return startLeanWith(t, nil, knobs...)
}

// startLeanWith is startLean with another configuration.
func startLeanWith(t *testing.T, change func(*supervisor.Config), knobs ...string) *lean {
	t.Helper()
	l := &lean{t: t, journal: standins.JournalPath(t), project: standins.Project(t, "lean")}
	standins.EndSurvivors(t, l.journal)
	t.Cleanup(func() { standins.AwaitNoSurvivor(t, l.journal) }) // after every runtime's Close
	l.Runtime = l.startWith(change, knobs...)
	return l
}

func (l *lean) start() *supervisor.Runtime { return l.startWith(nil) }

func (l *lean) startWith(change func(*supervisor.Config), knobs ...string) *supervisor.Runtime {
	bin := standins.Build(l.t)
	cfg := supervisor.DefaultConfig()
	language := cfg.Languages["lean"]
	language.Server.Commands = []config.Command{{bin.LeanDir() + "/lake", "serve"}}
	language.Server.Env = map[string]string{}
	cfg.Languages["lean"] = language
	if change != nil {
		change(&cfg)
	}
	standins.WriteKnobs(l.t, l.project, bin.LeanEnv(l.journal, knobs...)...)
	rt, err := supervisor.Start(l.t.Context(), cfg)
	require.NoError(l.t, err)
	l.t.Cleanup(func() { assert.NoError(l.t, rt.Close()) })
	return rt
}

// write puts a file into the project and gives its document.
func (l *lean) write(name, text string) supervisor.Document {
	standins.WriteFile(l.t, l.project+"/"+name, text)
	return supervisor.Document{Project: l.project, File: name}
}

// bounded is a context with a bound that no slow machine reaches.
func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), standins.Bound)
	t.Cleanup(cancel)
	return ctx
}

// shortly is the time in which an end must be over, as users were promised it.
const shortly = 4 * time.Second
