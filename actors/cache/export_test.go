package cache

// What the machines' tests need of the inside: a Cache whose Entries are probes, and
// an Entry alone.
var (
	NewWithEntries = newCache
	NewEntry       = newEntry
)
