package lsp

import "slices"

// FilesChanged takes in which files changed on disk. Each change is told under the next
// higher number. A server goes by what it was sent of an open document, so the plan that
// is made next, for whatever document, closes those of them that nobody uses: other
// files' answers depend on them. unwatched says that the server was not told of the
// change; then it looks again only when it is sent a text, and each other open document
// is opened anew for its next diagnostics.
func (d *Documents[K]) FilesChanged(number uint64, paths []string, unwatched bool) {
	for path, doc := range d.docs {
		switch {
		case slices.Contains(paths, path):
			doc.dirty = number
		case unwatched:
			doc.stale = number
		}
	}
}

// later is a change that was told, if that was later than what is known to be in a text.
// One that was told after the file was read may have been made before that or not.
func later(change, known uint64) uint64 {
	if change <= known {
		return 0
	}
	return change
}

// Tidy is Found for a call about no document.
func (d *Documents[K]) Tidy() (Plan, bool) {
	if d.settling() {
		return Plan{}, false
	}
	return Plan{Close: d.takeDirty()}, true
}

// settling tells whether a document whose file has changed is being closed. A question
// that overtakes that would be answered by its old text.
func (d *Documents[K]) settling() bool {
	for _, doc := range d.docs {
		if doc.dirty != 0 && doc.leaving() {
			return true
		}
	}
	return false
}

// takeDirty marks as being closed the unused documents whose files have changed.
func (d *Documents[K]) takeDirty() []string {
	return d.close(slices.DeleteFunc(d.unused(), func(path string) bool { return d.docs[path].dirty == 0 }))
}
