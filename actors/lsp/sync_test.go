package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

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

func TestAServerThatTakesNoChangesIsReopened(t *testing.T) {
	c, w := newClient(t, Profile{Complete: CompleteVersion}, `{"capabilities":{"textDocumentSync":0}}`)
	n, err := c.Sync(t.Context(), Plan{Kind: PlanChange, Path: aPath, Version: 2}, nil)
	require.NoError(t, err)
	assert.Equal(t, 1, n, "it is one step of the plan")
	assert.Equal(t, []string{"textDocument/didClose", "textDocument/didOpen"}, w.methods())
}

func TestACancelLeavesNoDocumentHalfReopened(t *testing.T) {
	c, w := newClient(t, Profile{Complete: CompleteVersion}, pushing)
	ctx, cancel := context.WithCancel(t.Context())
	w.on["textDocument/didClose"] = func(context.Context, json.RawMessage) (any, error) { cancel(); return nil, nil }
	n, err := c.Sync(ctx, Plan{Kind: PlanReopen, Path: aPath, Version: 2}, nil)
	require.NoError(t, err)
	assert.Equal(t, 2, n)
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

func TestChangedFilesAreTold(t *testing.T) {
	c, w := newClient(t, Profile{}, pushing)
	require.NoError(t, c.FilesChanged(t.Context(), []FileChange{{"/p/a b", FileCreated}, {"/p/c", FileDeleted}}))
	assert.Equal(t, []sent{{"workspace/didChangeWatchedFiles", `{"changes":[{"uri":"file:///p/a%20b","type":1},{"uri":"file:///p/c","type":3}]}`}}, w.take())
	assert.ErrorIs(t, c.FilesChanged(ended(), []FileChange{{"/p/c", FileDeleted}}), errors.ErrUnsupported)
}

// saving is a server that is asked for its findings and could hear of what was saved.
const saving = `{"capabilities":{"diagnosticProvider":{},"textDocumentSync":{"change":1,"save":true}}}`

func TestAChangeOfAnOpenDocumentIsToldWhenItIsClosed(t *testing.T) {
	created, changed, deleted := FileChange{aPath, FileCreated}, FileChange{aPath, FileChanged}, FileChange{aPath, FileDeleted}
	for _, c := range []struct {
		name    string
		offers  string
		changes []FileChange
		open    []string // told while it is open
		closed  string   // told when it is closed
	}{
		{"asked", saving, []FileChange{changed}, nil, "2"},
		{"asked, twice", saving, []FileChange{created, changed}, nil, "1"},
		{"asked, gone", saving, []FileChange{changed, deleted}, []string{"3"}, ""},
		{"asked, gone and new", saving, []FileChange{deleted, created}, []string{"3"}, "1"},
		{"publishing", pushing, []FileChange{changed}, []string{"2"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl, w := newClient(t, Profile{Complete: CompleteVersion}, c.offers)
			do := func(p Plan) {
				_, err := cl.Sync(t.Context(), p, []byte("x"))
				require.NoError(t, err)
			}
			do(Plan{Kind: PlanOpen, Path: aPath, Version: 1})
			w.take()
			for _, change := range c.changes {
				require.NoError(t, cl.FilesChanged(t.Context(), []FileChange{change}))
			}
			do(Plan{Kind: PlanChange, Path: aPath, Version: 2}) // keeps what is held
			assert.Equal(t, c.open, toldTypes(t, w.take()))
			do(Plan{Close: []string{aPath}})
			var closed []string
			if c.closed != "" {
				closed = []string{c.closed}
			}
			assert.Equal(t, closed, toldTypes(t, w.take()))
			require.NoError(t, cl.FilesChanged(t.Context(), []FileChange{changed}))
			assert.Equal(t, []string{"2"}, toldTypes(t, w.take()), "it is open no longer")
		})
	}
}

// toldTypes are the types of the changes that a server was told of.
func toldTypes(t *testing.T, all []sent) (types []string) {
	for _, s := range all {
		if s.method == watchedFiles {
			var params struct{ Changes []struct{ Type json.Number } }
			require.NoError(t, json.Unmarshal([]byte(s.params), &params))
			for _, change := range params.Changes {
				types = append(types, change.Type.String())
			}
		}
	}
	return types
}

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
