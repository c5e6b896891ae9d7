package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChangedFilesAreTold(t *testing.T) {
	c, w := newClient(t, Profile{}, pushing)
	require.NoError(t, c.FilesChanged(t.Context(), []FileChange{{"/p/a b", FileCreated}, {"/p/c", FileDeleted}}))
	assert.Equal(t, []sent{{"workspace/didChangeWatchedFiles", `{"changes":[{"uri":"file:///p/a%20b","type":1},{"uri":"file:///p/c","type":3}]}`}}, w.take())
	assert.ErrorIs(t, c.FilesChanged(ended(), []FileChange{{"/p/c", FileDeleted}}), errors.ErrUnsupported)
}

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

// holding is a client that has a document open and holds back that its file was made.
func holding(t *testing.T) (*Client, *scripted) {
	c, w := newClient(t, Profile{Complete: CompleteVersion}, saving)
	_, err := c.Sync(t.Context(), Plan{Kind: PlanOpen, Path: aPath, Version: 1}, []byte("x"))
	require.NoError(t, err)
	require.NoError(t, c.FilesChanged(t.Context(), []FileChange{{aPath, FileCreated}}))
	require.Empty(t, toldTypes(t, w.take()))
	return c, w
}

func TestWhatIsHeldBackIsToldBeforeAQuestionAboutAnotherDocument(t *testing.T) {
	c, w := holding(t)
	require.NoError(t, c.tellOthers(t.Context(), aPath))
	assert.Empty(t, w.take(), "the server has that document's text")
	require.NoError(t, c.tellOthers(t.Context(), "/p/b"))
	assert.Equal(t, []string{"1"}, toldTypes(t, w.take()))
	require.NoError(t, c.tellOthers(t.Context(), "/p/b"))
	_, err := c.Sync(t.Context(), Plan{Close: []string{aPath}}, nil)
	require.NoError(t, err)
	assert.Empty(t, toldTypes(t, w.take()), "it was told")
}

func TestWhatCouldNotBeToldIsHeldBackFurther(t *testing.T) {
	c, w := holding(t)
	assert.Error(t, c.tellOthers(ended(), "/p/b"))
	require.NoError(t, c.tellOthers(t.Context(), "/p/b"))
	assert.Equal(t, []string{"1"}, toldTypes(t, w.take()))
}

func TestWhatIsHeldBackIsToldWithTheNextChangeWhereTheServerCantBeAsked(t *testing.T) {
	c, w := holding(t)
	_, err := c.try(t.Context(), pullMethod, nil)
	require.Error(t, err, "it is unknown")
	require.NoError(t, c.FilesChanged(t.Context(), []FileChange{{aPath, FileChanged}}))
	assert.Equal(t, []string{"1"}, toldTypes(t, w.take()), "it has not heard of the file yet")
	_, err = c.Sync(t.Context(), Plan{Close: []string{aPath}}, nil)
	require.NoError(t, err)
	assert.Empty(t, toldTypes(t, w.take()))
}

func TestAServerHearsOfAFilesChangesInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, w := holding(t)
		gate := make(chan struct{})
		w.on[watchedFiles] = func(context.Context, json.RawMessage) (any, error) { <-gate; return nil, nil }
		go func() {
			_, err := c.Sync(t.Context(), Plan{Close: []string{aPath}}, nil)
			assert.NoError(t, err)
		}()
		synctest.Wait()
		require.Equal(t, []string{"1"}, toldTypes(t, w.take()), "it is being written")
		go func() { assert.NoError(t, c.FilesChanged(t.Context(), []FileChange{{aPath, FileDeleted}})) }()
		synctest.Wait()
		assert.Empty(t, w.take(), "it has to wait")
		close(gate)
		synctest.Wait()
		assert.Equal(t, []string{"3"}, toldTypes(t, w.take()))
	})
}
