package lsp_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/test/standins"
)

// rig is a runtime with one project of one language.
type rig struct {
	*supervisor.Runtime
	t        testing.TB
	root     string
	language string
}

// change is what a test has different from the defaults.
type change = func(*supervisor.Config, *config.Language)

// start makes a runtime over a project of these files in a new directory.
func start(t testing.TB, language string, files map[string]string, changes ...change) *rig {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return startAt(t, root, language, files, changes...)
}

// startAt makes a runtime whose profile of a language is changed so, over a project of
// these files. When the test ends nothing of it may be left.
func startAt(t testing.TB, root, language string, files map[string]string, changes ...change) *rig {
	t.Helper()
	standins.NewCanary(t)
	r := &rig{t: t, root: root, language: language}
	for name, text := range files {
		r.write(name, text)
	}
	cfg := supervisor.DefaultConfig()
	profile := cfg.Languages[language]
	profile.Name = language
	for _, change := range changes {
		change(&cfg, &profile)
	}
	cfg.Languages[language] = profile
	runtime, err := supervisor.Start(t.Context(), cfg)
	require.NoError(t, err)
	r.Runtime = runtime
	t.Cleanup(r.end)
	return r
}

func (r *rig) end() {
	ctx, cancel := context.WithTimeout(context.Background(), standins.Bound)
	defer cancel()
	assert.NoError(r.t, r.Shutdown(ctx))
}

// bounded is a context with a bound that no slow machine reaches.
func (r *rig) bounded() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), standins.Bound)
	r.t.Cleanup(cancel)
	return ctx
}

func (r *rig) write(name, text string) {
	r.t.Helper()
	standins.WriteFile(r.t, filepath.Join(r.root, name), text)
}

func (r *rig) doc(name string) supervisor.Document {
	return supervisor.Document{Project: r.root, File: name, Language: r.language}
}

// found are the messages of a file's diagnostics that are errors or warnings.
func (r *rig) found(name string) []string {
	r.t.Helper()
	report, err := r.Diagnostics(r.bounded(), r.doc(name))
	require.NoError(r.t, err)
	return grave(report)
}

func grave(report supervisor.DiagnosticsReport) []string {
	found := []string{}
	for _, d := range report.Diagnostics {
		if d.Severity == messages.SeverityError || d.Severity == messages.SeverityWarning {
			found = append(found, d.Message)
		}
	}
	return found
}

// at is the position of the first place of word in a file, as it is on disk.
func (r *rig) at(name, word string) *supervisor.Position {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.root, name))
	require.NoError(r.t, err)
	before, _, some := strings.Cut(string(text), word)
	require.True(r.t, some, "%s has no %q", name, word)
	line := strings.Count(before, "\n")
	column := utf16.Encode([]rune(before[strings.LastIndexByte(before, '\n')+1:]))
	return &supervisor.Position{Line: line, Character: len(column)}
}

// session is the one session of the runtime, in its present state.
func (r *rig) session() messages.SessionSnapshot {
	r.t.Helper()
	status, err := r.Status(r.bounded())
	require.NoError(r.t, err)
	require.Len(r.t, status.Sessions, 1)
	return status.Sessions[0]
}

// leader is the process of the one tree.
func (r *rig) leader() messages.TreeStatus {
	r.t.Helper()
	status, err := r.Status(r.bounded())
	require.NoError(r.t, err)
	require.Len(r.t, status.Trees, 1)
	return status.Trees[0]
}
