package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheEndLetsGoWhoeverFlushes(t *testing.T) {
	n := &silent{added: map[string]bool{}}
	root := t.TempDir()
	w := NewWatcher(root, nil, n)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx, nil) }()
	<-w.begun
	flushed := w.flushing(t, context.Background())
	cancel()
	assert.NoError(t, <-ended)
	assert.NoError(t, <-flushed)
	assert.True(t, n.closed)
	assert.ErrorContains(t, w.Flush(context.Background()), "no longer")
}

func TestAFlushWaitsForTheWatchToBeginAndForAllThatItCameTooLateFor(t *testing.T) {
	n, err := NewNotifier()
	require.NoError(t, err)
	root := t.TempDir()
	write := func(name string, age time.Duration) {
		path := filepath.Join(root, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(-age)))
	}
	w := NewWatcher(root, nil, n)
	w.Since(time.Now().Add(-time.Minute))
	pattern, _ := parsePattern(json.RawMessage(`"**"`), 0)
	w.SetPatterns([]Pattern{pattern})
	write("old", time.Hour)
	write("new", 0)
	ctx, cancel := context.WithCancel(context.Background())
	told, flushed, ended := make(chan []FileChange, 1), make(chan error, 1), make(chan error, 1)
	go func() { flushed <- w.Flush(ctx) }()
	go func() {
		ended <- w.Run(ctx, func(_ context.Context, c []FileChange) error { told <- c; return nil })
	}()
	assert.NoError(t, <-flushed)
	assert.Equal(t, []FileChange{{filepath.Join(root, "new"), FileChanged}}, <-told)
	cancel()
	assert.NoError(t, <-ended)
}

func TestAFlushEndsWithItsContext(t *testing.T) {
	n := &silent{added: map[string]bool{}}
	w := NewWatcher(t.TempDir(), nil, n)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx, nil) }()
	short, stop := context.WithTimeout(ctx, 20*time.Millisecond)
	defer stop()
	assert.Eventually(t, func() bool { return errors.Is(w.Flush(short), context.DeadlineExceeded) }, generous, time.Millisecond)
	assert.Empty(t, w.flushes)
	cancel()
	assert.NoError(t, <-ended)
}

// silent is a Notifier whose events come from the test.
type silent struct {
	added  map[string]bool
	adds   func() // is called at the next
	limit  int
	events chan fsnotify.Event
	errors chan error
	closed bool
}

func (n *silent) Add(dir string) error {
	if n.limit > 0 && len(n.added) >= n.limit {
		return errors.New("no space left for watches")
	}
	n.added[dir] = true
	if n.adds != nil {
		n.adds()
	}
	return nil
}
func (n *silent) Remove(string) error           { return nil }
func (n *silent) Events() <-chan fsnotify.Event { return n.events }
func (n *silent) Errors() <-chan error          { return n.errors }
func (n *silent) Close() error                  { n.closed = true; return nil }

func TestWatchesAreBounded(t *testing.T) {
	root := t.TempDir()
	for n := range 5 {
		require.NoError(t, os.Mkdir(filepath.Join(root, fmt.Sprint(n)), 0o700))
	}
	n := &silent{added: map[string]bool{}, limit: 3}
	w := NewWatcher(root, nil, n)
	w.addTree(root, all(0))
	assert.True(t, w.Incomplete())
	assert.Len(t, w.dirs, 3)
	w = NewWatcher(root, nil, &silent{added: map[string]bool{}})
	for n := range maxWatches - 2 {
		w.dirs[fmt.Sprint(n)] = true
	}
	w.addTree(root, all(0))
	assert.True(t, w.Incomplete())
	assert.Len(t, w.dirs, maxWatches)
}

func TestLostEventsCountEveryFileAsChanged(t *testing.T) {
	root := t.TempDir()
	populate(t)(root)
	n := &silent{added: map[string]bool{}, events: make(chan fsnotify.Event), errors: make(chan error)}
	w := NewWatcher(root, []string{"left-out"}, n)
	pattern, _ := parsePattern(json.RawMessage(`"**/*.go"`), 0)
	w.SetPatterns([]Pattern{pattern})
	ctx, cancel := context.WithCancel(context.Background())
	told := make(chan []FileChange, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- w.Run(ctx, func(_ context.Context, c []FileChange) error { told <- c; return nil })
	}()
	n.errors <- errors.New("another error")
	n.errors <- fsnotify.ErrEventOverflow
	assert.Equal(t, []FileChange{{filepath.Join(root, "a/b/old.go"), FileChanged}}, <-told)
	assert.True(t, w.Incomplete())
	cancel()
	assert.NoError(t, <-ended)
}

func TestAFlushThatBeginsAfterEventsWereLostWaitsForItsOwnMark(t *testing.T) {
	root := t.TempDir()
	n := &silent{added: map[string]bool{}, events: make(chan fsnotify.Event), errors: make(chan error)}
	w := NewWatcher(root, nil, n)
	pattern, _ := parsePattern(json.RawMessage(`"**"`), 0)
	w.SetPatterns([]Pattern{pattern})
	ctx, cancel := context.WithCancel(context.Background())
	told, ended := make(chan []FileChange, 1), make(chan error, 1)
	go func() {
		ended <- w.Run(ctx, func(_ context.Context, c []FileChange) error { told <- c; return nil })
	}()
	<-w.begun
	early := w.flushing(t, ctx)
	var late chan error
	n.adds = func() { // all files are looked through now; what is made next is told behind the mark
		n.adds = nil
		late = w.flushing(t, ctx)
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "x"), nil, 0o600))
	n.errors <- fsnotify.ErrEventOverflow
	assert.Len(t, <-told, 1)
	assert.NoError(t, <-early, "its mark may be lost")
	n.events <- fsnotify.Event{Name: filepath.Join(root, "made"), Op: fsnotify.Write}
	assert.Empty(t, late, "its mark is still to come")
	n.events <- fsnotify.Event{Name: filepath.Join(w.marks, "2"), Op: fsnotify.Create}
	assert.NoError(t, <-late)
	assert.Equal(t, []FileChange{{filepath.Join(root, "made"), FileChanged}}, <-told)
	cancel()
	assert.NoError(t, <-ended)
}

// flushing begins a flush and waits until it is marked.
func (w *Watcher) flushing(t *testing.T, ctx context.Context) chan error {
	before := len(w.marked())
	ended := make(chan error, 1)
	go func() { ended <- w.Flush(ctx) }()
	assert.Eventually(t, func() bool { return len(w.marked()) > before }, generous, time.Millisecond)
	return ended
}

func TestADeliveryThatFailsEndsTheWatching(t *testing.T) {
	root := t.TempDir()
	n := &silent{added: map[string]bool{}, events: make(chan fsnotify.Event, 1)}
	w := NewWatcher(root, nil, n)
	pattern, _ := parsePattern(json.RawMessage(`"**"`), 0)
	w.SetPatterns([]Pattern{pattern})
	gone := errors.New("gone")
	n.events <- fsnotify.Event{Name: filepath.Join(root, "x"), Op: fsnotify.Write}
	assert.ErrorIs(t, w.Run(context.Background(), func(context.Context, []FileChange) error { return gone }), gone)
	assert.True(t, n.closed)
}

func TestChangesOfOnePathMergeIntoOne(t *testing.T) {
	for _, c := range []struct {
		events []ChangeType
		want   []change
	}{
		{[]ChangeType{FileCreated, FileChanged}, []change{{kind: FileCreated}}},
		{[]ChangeType{FileCreated, FileDeleted}, nil},
		{[]ChangeType{FileChanged, FileDeleted}, []change{{kind: FileDeleted}}},
		{[]ChangeType{FileDeleted, FileCreated}, []change{{kind: FileChanged}}},
		{[]ChangeType{FileDeleted, FileCreated, FileDeleted}, []change{{kind: FileDeleted}}},
	} {
		w := NewWatcher("/r", nil, &silent{})
		for _, kind := range c.events {
			w.merge("/r/x", change{kind: kind})
		}
		var got []change
		for _, p := range w.pending {
			got = append(got, p)
		}
		assert.True(t, slices.Equal(c.want, got), "%v gave %v", c.events, got)
	}
}
