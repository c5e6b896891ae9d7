package lsp

import "crypto/sha256"

// Has reports whether the server has a document open.
func (d *Documents[K]) Has(path string) bool {
	doc := d.docs[path]
	return doc != nil && doc.version != 0
}

// Known gives the sum of the text that the server has of a document, and the plan that
// Found would give a call that reads this text, where that sends nothing. Such a call
// goes through Free, Enter, Confirmed, Leave. With any other text it goes on as all do.
func (d *Documents[K]) Known(c Claim) (plan Plan, sum [sha256.Size]byte, ok bool) {
	doc := d.docs[c.Path]
	if !d.Has(c.Path) || doc.crashed || c.Diagnoses || c.Reopen != 0 || d.anyDirty() {
		return Plan{}, sum, false
	}
	return Plan{Path: c.Path, LanguageID: c.LanguageID, Version: doc.version}, doc.sum, true
}

// Crashed takes in that what the server ran for a version of a document is gone. It runs
// something anew only for a text, so the next call opens the document anew.
func (d *Documents[K]) Crashed(path string, version int32) {
	if doc := d.docs[path]; doc != nil && doc.version == version {
		doc.crashed = true
	}
}

// anyDirty tells whether a plan would have to close documents first.
func (d *Documents[K]) anyDirty() bool {
	for _, doc := range d.docs {
		if doc.dirty != 0 && doc.unused() {
			return true
		}
	}
	return false
}

// unused tells whether a document is open and no call has it.
func (doc *document[K]) unused() bool {
	return doc.version != 0 && !doc.busy && len(doc.users) == 0
}

// leaving tells whether a plan on its way closes a document.
func (doc *document[K]) leaving() bool {
	return doc.version != 0 && doc.busy && len(doc.users) == 0
}

// Confirmed takes in that a call found the text of Known on disk; told is as for Found.
func (d *Documents[K]) Confirmed(id K, path string, told uint64) {
	doc := d.docs[path]
	doc.dirty, doc.busy = later(doc.dirty, told), false
	doc.users[id].version = doc.version
}
