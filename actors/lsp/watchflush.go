package lsp

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Flush returns when every change that was made before it was called has been told, or
// ctx ends. It waits for the watch to begin. It touches a file of its own in a folder of
// its own: the kernel queues that behind the changes of all others.
func (w *Watcher) Flush(ctx context.Context) error {
	select {
	case <-w.begun:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	name, done, err := w.mark()
	if err != nil {
		return err
	}
	if err := report(name); err != nil {
		select {
		case <-done: // by the end, which then removes the file
			return nil
		default:
			w.letGo([]string{name}, false)
			return err
		}
	}
	select {
	case reported := <-done:
		w.reuse(name, reported)
		return nil
	case <-ctx.Done():
		w.letGo([]string{name}, false)
		w.reuse(name, false)
		return context.Cause(ctx)
	}
}

// mark registers a flush under the name of a file that no other has.
func (w *Watcher) mark() (name string, done <-chan bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.marks == "" {
		return "", nil, errors.New("files are watched no longer")
	}
	if last := len(w.idle) - 1; last >= 0 {
		name, w.idle = w.idle[last], w.idle[:last]
	} else {
		w.made++
		name = filepath.Join(w.marks, strconv.Itoa(w.made))
	}
	let := make(chan bool, 1)
	w.flushes[name] = let
	return name, let, nil
}

// report has the kernel report a file, which is made the first time.
func report(name string) error {
	err := os.Chmod(name, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return os.WriteFile(name, nil, 0o600)
	}
	return err
}

// reuse keeps the file of a flush for the next one, if the kernel has reported it: a
// report that is still to come would end that one too early.
func (w *Watcher) reuse(name string, reported bool) {
	if !reported {
		_ = os.Remove(name) // stop removes what is left
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle = append(w.idle, name)
}

// marked are the files that mark the flushes of now.
func (w *Watcher) marked() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.flushes))
}

// letGo ends the flushes that these files mark, and tells them whether their file was
// reported.
func (w *Watcher) letGo(marks []string, reported bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, mark := range marks {
		if let := w.flushes[mark]; let != nil {
			let <- reported // it has room for one
			delete(w.flushes, mark)
		}
	}
}

// stop lets go everybody who waits in Flush.
func (w *Watcher) stop(marks string) {
	w.mu.Lock()
	w.marks = ""
	w.mu.Unlock()
	w.letGo(w.marked(), false)
	_ = os.RemoveAll(marks)
}
