package lsp

import "slices"

// FilesChanged takes in which files changed on disk. A server goes by what it was sent
// of an open document, so the plan that is made next, for whatever document, closes
// those of them that nobody uses: other files' answers depend on them. unwatched says
// that the server was not told of the change; then it looks again only when a document
// is opened, and each other open one is, for its next diagnostics.
func (d *Documents[K]) FilesChanged(paths []string, unwatched bool) {
	for path, doc := range d.docs {
		changed := slices.Contains(paths, path)
		doc.dirty = doc.dirty || changed
		doc.stale = doc.stale || unwatched && !changed
	}
}

// takeDirty marks as being closed the unused documents whose files have changed.
func (d *Documents[K]) takeDirty() []string {
	paths := slices.DeleteFunc(d.unused(), func(path string) bool { return !d.docs[path].dirty })
	for _, path := range paths {
		d.docs[path].busy = true
	}
	return paths
}
