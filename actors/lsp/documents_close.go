package lsp

import "slices"

// victims marks as being closed the least recently used documents beyond keep. What is
// in use stays open, so more than the limit can be open for a while.
func (d *Documents[K]) victims(keep int) []string {
	excess := len(d.Open()) - d.closing() - max(keep, 0)
	if excess <= 0 {
		return nil
	}
	paths := d.unused()
	return d.close(paths[:min(excess, len(paths))])
}

// close marks documents as being closed.
func (d *Documents[K]) close(paths []string) []string {
	for _, path := range paths {
		d.docs[path].busy = true
	}
	return paths
}

// unused are the open documents that no call has, least recently used first.
func (d *Documents[K]) unused() []string {
	var paths []string
	for path, doc := range d.docs {
		if doc.unused() {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return d.docs[a].used.Compare(d.docs[b].used) })
	return paths
}

// closing counts the open documents that a plan on its way closes.
func (d *Documents[K]) closing() int {
	n := 0
	for _, doc := range d.docs {
		if doc.leaving() {
			n++
		}
	}
	return n
}
