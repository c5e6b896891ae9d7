package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAPlanIsSentInOrder(t *testing.T) {
	c, w := newClient(t, Profile{DependencyBuildMode: "never"}, `{"capabilities":{"textDocumentSync":{"change":1,"save":{"includeText":true}}}}`)
	do := func(p Plan, text string) {
		n, err := c.Sync(t.Context(), p, []byte(text))
		require.NoError(t, err)
		require.Equal(t, len(p.Close)+notifications(p.Kind), n)
	}
	do(Plan{Kind: PlanOpen, Path: "/p/a b", LanguageID: "lean4", Version: 1}, "one")
	do(Plan{Kind: PlanNothing, Path: "/p/a b"}, "one")
	do(Plan{Kind: PlanChange, Path: "/p/a b", Version: 2}, "two")
	do(Plan{Kind: PlanReopen, Path: "/p/a b", LanguageID: "lean4", Version: 3}, "two")
	do(Plan{Close: []string{"/p/a b"}, Kind: PlanOpen, Path: "/p/c", LanguageID: "x", Version: 1}, "")
	var got []string
	for _, s := range w.take() {
		got = append(got, s.method+" "+s.params)
	}
	assert.Equal(t, []string{
		`textDocument/didOpen {"dependencyBuildMode":"never","textDocument":{"languageId":"lean4","text":"one","uri":"file:///p/a%20b","version":1}}`,
		`textDocument/didChange {"contentChanges":[{"text":"two"}],"textDocument":{"uri":"file:///p/a%20b","version":2}}`,
		`textDocument/didSave {"text":"two","textDocument":{"uri":"file:///p/a%20b"}}`,
		`textDocument/didClose {"textDocument":{"uri":"file:///p/a%20b"}}`,
		barrierMethod + ` {}`,
		`textDocument/didOpen {"dependencyBuildMode":"never","textDocument":{"languageId":"lean4","text":"two","uri":"file:///p/a%20b","version":3}}`,
		`textDocument/didClose {"textDocument":{"uri":"file:///p/a%20b"}}`,
		`textDocument/didOpen {"dependencyBuildMode":"never","textDocument":{"languageId":"x","text":"","uri":"file:///p/c","version":1}}`,
	}, got)
}

func TestADocumentIsClosedWithWhatItsFileHolds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	c, w := newClient(t, Profile{Complete: CompleteVersion}, pushing)
	for disk, want := range map[string][]string{
		"sent":  {"textDocument/didOpen", "textDocument/didClose"},
		"other": {"textDocument/didOpen", "textDocument/didChange", "textDocument/didClose"},
		"":      {"textDocument/didOpen", "textDocument/didClose"},
	} {
		require.NoError(t, os.WriteFile(path, []byte(disk), 0o600))
		if disk == "" {
			require.NoError(t, os.Remove(path))
		}
		_, err := c.Sync(t.Context(), Plan{Kind: PlanOpen, Path: path, Version: 1}, []byte("sent"))
		require.NoError(t, err)
		n, err := c.Sync(t.Context(), Plan{Close: []string{path}}, nil)
		require.NoError(t, err)
		assert.Equal(t, 1, n)
		assert.Equal(t, want, w.methods(), disk)
	}
}

func TestADocumentWhoseFileCannotBeSentIsClosedAllTheSame(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"too large":         func(path string) error { return os.Truncate(path, maxParams+1) },
		"too large as JSON": func(path string) error { return os.Truncate(path, maxParams/2) }, // \u0000 each
		"a FIFO":            func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) },
		"a directory":       func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a")
			require.NoError(t, os.WriteFile(path, []byte("sent"), 0o600))
			p := started(t, Answers{})
			c := &Client{Collector: NewCollector(func() {}), wire: p.Wire, texts: map[string]*text{}, closed: map[string]time.Time{},
				telling: make(chan struct{}, 1)}
			_, err := c.Sync(t.Context(), Plan{Kind: PlanOpen, Path: path, Version: 1}, []byte("sent"))
			require.NoError(t, err)
			require.NoError(t, replace(path))
			n, err := c.Sync(t.Context(), Plan{Close: []string{path}}, nil)
			require.NoError(t, err)
			assert.Equal(t, 1, n)
			for _, want := range []string{"textDocument/didOpen", "textDocument/didClose"} {
				m, _ := p.receive()
				assert.Equal(t, want, m.Method)
			}
		})
	}
}

func TestACancelLeavesNoDocumentHalfReopened(t *testing.T) {
	c, w := newClient(t, Profile{Complete: CompleteVersion}, pushing)
	ctx, cancel := context.WithCancel(t.Context())
	w.on["textDocument/didClose"] = func(context.Context, json.RawMessage) (any, error) { cancel(); return nil, nil }
	n, err := c.Sync(ctx, Plan{Kind: PlanReopen, Path: aPath, Version: 2}, nil)
	require.NoError(t, err)
	assert.Equal(t, 2, n)
}

// TestACancelLeavesNoDocumentWithATextThatNobodyKnowsOf: what brings an old document up
// to date before it is closed counts for nothing unless it is closed.
func TestACancelLeavesNoDocumentWithATextThatNobodyKnowsOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	c, w := newClient(t, Profile{Complete: CompleteVersion}, pushing)
	_, err := c.Sync(t.Context(), Plan{Kind: PlanOpen, Path: path, Version: 1}, []byte("sent"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte("other"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	w.on["textDocument/didChange"] = func(context.Context, json.RawMessage) (any, error) { cancel(); return nil, nil }
	n, err := c.Sync(ctx, Plan{Close: []string{path}, Kind: PlanOpen, Path: aPath, Version: 1}, nil)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 1, n)
	assert.Equal(t, []string{"textDocument/didOpen", "textDocument/didChange", "textDocument/didClose"}, w.methods())
}

func TestSyncReportsHowFarItCame(t *testing.T) {
	broken := &StreamError{Reason: "gone"}
	for failing, want := range map[string]int{"textDocument/didClose": 0, "textDocument/didOpen": 1} {
		c, w := newClient(t, Profile{}, pushing)
		w.on[failing] = func(context.Context, json.RawMessage) (any, error) { return nil, broken }
		n, err := c.Sync(t.Context(), Plan{Close: []string{"/p/b"}, Kind: PlanOpen, Path: aPath}, nil)
		assert.ErrorIs(t, err, broken)
		assert.Equal(t, want, n)
		assert.Empty(t, c.files, "what was not opened is not tracked")
	}
	c, w := newClient(t, Profile{}, pushing)
	w.on["textDocument/didChange"] = func(context.Context, json.RawMessage) (any, error) { return nil, broken }
	n, err := c.Sync(t.Context(), Plan{Kind: PlanChange, Path: aPath}, nil)
	assert.ErrorIs(t, err, broken)
	assert.Zero(t, n)
}

// saving is a server that is asked for its findings and could hear of what was saved.
const saving = `{"capabilities":{"diagnosticProvider":{},"textDocumentSync":{"change":1,"save":true}}}`

func TestAServerThatIsAskedIsNotToldOfASave(t *testing.T) {
	for offers, want := range map[string][]string{
		saving: {"textDocument/didChange"},
		`{"capabilities":{"textDocumentSync":{"change":1,"save":true}}}`: {"textDocument/didChange", "textDocument/didSave"},
	} {
		c, w := newClient(t, Profile{}, offers)
		_, err := c.Sync(t.Context(), Plan{Kind: PlanChange, Path: aPath, Version: 2}, []byte("x"))
		require.NoError(t, err)
		assert.Equal(t, want, w.methods())
	}
}

func ended() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.ErrUnsupported)
	return ctx
}

func TestWatchPatternsFollowTheRegistrations(t *testing.T) {
	c, w := newClient(t, Profile{}, pushing)
	assert.Empty(t, c.WatchPatterns())
	w.tell(Registered{ID: "1", Method: "workspace/didChangeWatchedFiles", Options: json.RawMessage(`{"watchers":[{"globPattern":"**/*.lean"},{"globPattern":"*.x","kind":4},{"globPattern":7}]}`)})
	w.tell(Registered{ID: "2", Method: "workspace/didChangeWatchedFiles", Options: json.RawMessage(`7`)})
	assert.Len(t, c.WatchPatterns(), 2)
	w.tell(Unregistered{ID: "1"})
	assert.Empty(t, c.WatchPatterns())
}
