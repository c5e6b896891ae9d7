package lsp

import (
	"errors"
	"io/fs"
	"maps"
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
			w.addTree(event.Name, true)
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

// addTree watches dir and all below it. created says that dir is new: then its files
// are changes, since they may have been made before the watch was.
func (w *Watcher) addTree(dir string, created bool) {
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone meanwhile, or not readable: then its changes can't be seen either
		}
		if !entry.IsDir() {
			if created {
				w.merge(path, change{kind: FileCreated})
			}
			return nil
		}
		if path != w.root && slices.Contains(w.exclude, entry.Name()) {
			return fs.SkipDir
		}
		return w.add(path)
	})
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

// dropTree forgets the folders at and below path, which is gone; the notifier does so
// by itself.
func (w *Watcher) dropTree(path string) {
	if w.dirs[path] {
		maps.DeleteFunc(w.dirs, func(dir string, _ bool) bool {
			return dir == path || strings.HasPrefix(dir, path+"/")
		})
	}
}

// failed handles an error of the notifier and reports whether events were lost, those
// that mark flushes too; every file counts as changed then.
func (w *Watcher) failed(err error) (lost bool) {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.incomplete.Store(true)
		return false
	}
	w.addTree(w.root, true)
	return true
}
