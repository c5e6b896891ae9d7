package lsp

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// note merges an event into what is pending.
func (w *Watcher) note(event fsnotify.Event) {
	switch {
	case event.Has(fsnotify.Create):
		if info, err := os.Lstat(event.Name); err == nil && info.IsDir() {
			delete(w.pending, event.Name)
			w.addTree(event.Name, all(FileCreated))
			return
		}
		w.merge(event.Name, change{kind: FileCreated})
	case event.Has(fsnotify.Write):
		w.merge(event.Name, change{kind: FileChanged})
	case event.Has(fsnotify.Remove), event.Has(fsnotify.Rename):
		w.merge(event.Name, change{kind: FileDeleted, dir: w.dirs[event.Name]})
		w.dropTree(event.Name)
	}
}

// merge keeps the one change that leads from what was last told to what is now.
func (w *Watcher) merge(path string, c change) {
	if len(w.pending) == 0 {
		w.oldest = time.Now()
	}
	before, some := w.pending[path]
	c.dir = c.dir || before.dir && c.kind == FileDeleted
	switch {
	case some && before.kind == FileCreated && c.kind == FileDeleted:
		delete(w.pending, path)
		return
	case some && before.kind == FileCreated:
		c.kind = FileCreated
	case some && before.kind == FileDeleted && c.kind != FileDeleted:
		c.kind = FileChanged
	}
	w.pending[path] = c
}

// addTree watches dir and all below it, and counts each file as a change of its kind, or
// none where that is 0: in a new folder they may have been made before the watch was.
func (w *Watcher) addTree(dir string, kindOf func(fs.DirEntry) ChangeType) {
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone meanwhile, or not readable: then its changes can't be seen either
		}
		if !entry.IsDir() {
			if kind := kindOf(entry); kind != 0 {
				w.merge(path, change{kind: kind})
			}
			return nil
		}
		if path != w.root && slices.Contains(w.exclude, entry.Name()) {
			return fs.SkipDir
		}
		return w.add(path)
	})
}

func all(kind ChangeType) func(fs.DirEntry) ChangeType {
	return func(fs.DirEntry) ChangeType { return kind }
}

// missed tells which files have changed since the server began to read.
func (w *Watcher) missed(entry fs.DirEntry) ChangeType {
	if w.since.IsZero() {
		return 0
	}
	if info, err := entry.Info(); err == nil && info.ModTime().After(w.since) {
		return FileChanged
	}
	return 0
}

func (w *Watcher) add(dir string) error {
	if len(w.dirs) >= maxWatches {
		w.incomplete.Store(true)
		return fs.SkipAll
	}
	switch err := w.notifier.Add(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fs.SkipDir
	case err != nil:
		w.incomplete.Store(true)
		return fs.SkipAll
	}
	w.dirs[dir] = true
	return nil
}

// dropTree stops watching what was at and below path. A folder that was only moved
// would go on reporting under its old name, and be taken for watched under its new one.
func (w *Watcher) dropTree(path string) {
	if !w.dirs[path] {
		return
	}
	for dir := range w.dirs {
		if dir == path || strings.HasPrefix(dir, path+"/") {
			_ = w.notifier.Remove(dir) // fails where it is gone, which is as well
			delete(w.dirs, dir)
		}
	}
}

// failed handles an error of the notifier. Where events were lost every file counts as
// changed, and it gives the flushes whose marks may be among the lost. One that begins
// later comes behind the loss, and may have to wait for what is made meanwhile.
func (w *Watcher) failed(err error) (lost []string) {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.incomplete.Store(true)
		return nil
	}
	lost = w.marked()
	w.addTree(w.root, all(FileChanged))
	return lost
}
