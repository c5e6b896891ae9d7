package lsp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	maxWatches  = 4096                   // directories; the kernel's own limit is shared by all programs
	settleTime  = 50 * time.Millisecond  // without an event before changes are told
	longestWait = 500 * time.Millisecond // before they are told anyway
	clockGrain  = 10 * time.Millisecond  // by which a file's time may be behind the clock
)

// skipped are folders whose contents servers don't want, or change by the thousand.
var skipped = []string{".git", ".lake", "node_modules", "target", "build"}

// Notifier is the part of fsnotify that a Watcher needs.
type Notifier interface {
	Add(dir string) error
	Remove(dir string) error
	Events() <-chan fsnotify.Event
	Errors() <-chan error
	Close() error
}

type fsNotifier struct{ *fsnotify.Watcher }

func (n fsNotifier) Events() <-chan fsnotify.Event { return n.Watcher.Events }
func (n fsNotifier) Errors() <-chan error          { return n.Watcher.Errors }

// NewNotifier opens the system's own.
func NewNotifier() (Notifier, error) {
	w, err := fsnotify.NewWatcher()
	return fsNotifier{w}, err
}

// Watcher finds out what changes below a project's root and tells it in batches. It
// works in Run, on whose goroutine all fields but the locked ones are.
type Watcher struct {
	root     string
	exclude  []string
	notifier Notifier
	since    time.Time     // of what the server has read for itself; zero: it reads later
	begun    chan struct{} // closed when watching has begun, or ended

	mu       sync.Mutex
	patterns []Pattern
	flushes  map[string]chan<- bool // by the name of the file that marks the flush
	idle     []string               // such files that no flush has
	made     int                    // how many such files there have been
	marks    string                 // directory of those files; empty: not running

	incomplete atomic.Bool
	dirs       map[string]bool
	pending    map[string]change
	oldest     time.Time // when the first of pending came
}

// change is what has to be told of one path; dir: it was a watched folder.
type change struct {
	kind ChangeType
	dir  bool
}

// NewWatcher watches root, but for the folders that are always left out and those
// named in exclude. It owns n, which Run closes.
func NewWatcher(root string, exclude []string, n Notifier) *Watcher {
	return &Watcher{
		root: root, exclude: slices.Concat(skipped, exclude), notifier: n, begun: make(chan struct{}),
		flushes: map[string]chan<- bool{}, dirs: map[string]bool{}, pending: map[string]change{},
	}
}

// Since makes files that have changed after t count as changes, although Run begins
// later: the server began to read at t.
func (w *Watcher) Since(t time.Time) { w.since = t.Add(-clockGrain) }

// SetPatterns says from now on which changes are told. A pattern that matches nothing
// below the root costs nothing.
func (w *Watcher) SetPatterns(patterns []Pattern) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.patterns = patterns
}

// Incomplete reports whether some folders are not watched, because there are too many
// or the system allows no more.
func (w *Watcher) Incomplete() bool { return w.incomplete.Load() }

// Run watches until ctx ends, giving deliver each batch of changes on its own
// goroutine. An error of deliver ends it.
func (w *Watcher) Run(ctx context.Context, deliver func(context.Context, []FileChange) error) (err error) {
	defer func() {
		err = errors.Join(err, w.notifier.Close())
		select {
		case <-w.begun:
		default:
			close(w.begun) // it could not begin
		}
	}()
	marks, err := os.MkdirTemp("", "hearth-watch-")
	if err != nil {
		return err
	}
	defer w.stop(marks)
	if err := w.notifier.Add(marks); err != nil {
		return err
	}
	w.addTree(w.root, w.missed)
	w.mu.Lock()
	w.marks = marks
	w.mu.Unlock()
	close(w.begun)
	return w.loop(ctx, marks, deliver)
}

func (w *Watcher) loop(ctx context.Context, marks string, deliver func(context.Context, []FileChange) error) error {
	settled := time.After(settleTime) // what the watch came too late for
	for {
		var flushed, lost []string
		select {
		case event, open := <-w.notifier.Events():
			if !open {
				return errors.New("watching files ended by itself")
			}
			if filepath.Dir(event.Name) == marks {
				flushed = []string{event.Name}
				break
			}
			w.note(event)
			settled = time.After(min(settleTime, time.Until(w.oldest.Add(longestWait))))
			continue
		case err := <-w.notifier.Errors():
			lost = w.failed(err)
		case <-settled:
		case <-ctx.Done():
			return nil
		}
		if err := w.tell(ctx, deliver); err != nil {
			return err
		}
		w.letGo(flushed, true)
		w.letGo(lost, false)
	}
}

// tell delivers what is pending and wanted.
func (w *Watcher) tell(ctx context.Context, deliver func(context.Context, []FileChange) error) error {
	if len(w.pending) == 0 {
		return nil
	}
	w.mu.Lock()
	patterns := w.patterns
	w.mu.Unlock()
	var changes []FileChange
	for path, c := range w.pending {
		told := FileChange{Path: path, Type: c.kind}
		wanted := func(p Pattern) bool { return p.wants(w.root, told) }
		// A file that was replaced in one step looks like a new one.
		if told.Type == FileCreated && !slices.ContainsFunc(patterns, wanted) {
			told.Type = FileChanged
		}
		// A folder that is gone is told to whoever asked for anything: of what was in
		// it there may be no events.
		if c.dir && len(patterns) > 0 || slices.ContainsFunc(patterns, wanted) {
			changes = append(changes, told)
		}
	}
	clear(w.pending)
	if len(changes) == 0 {
		return nil
	}
	slices.SortFunc(changes, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
	return deliver(ctx, changes)
}
