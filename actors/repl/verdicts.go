package repl

import (
	"container/list"
	"crypto/sha256"
)

// verdictsKept is how many headers are remembered; an agent works with a handful.
const verdictsKept = 256

// verdict is what Lean's parser says of one header.
type verdict struct {
	imports  []string // without the implicit ones
	rejected string   // why it can't be run, or nothing
}

// verdicts remembers the last headers by the hash of their text, least recently
// used first out.
type verdicts struct {
	limit   int
	order   *list.List // of *remembered, the newest in front
	entries map[[sha256.Size]byte]*list.Element
}

type remembered struct {
	key [sha256.Size]byte
	verdict
}

func newVerdicts(limit int) *verdicts {
	return &verdicts{limit: limit, order: list.New(), entries: make(map[[sha256.Size]byte]*list.Element)}
}

func (v *verdicts) get(key [sha256.Size]byte) (verdict, bool) {
	element, ok := v.entries[key]
	if !ok {
		return verdict{}, false
	}
	v.order.MoveToFront(element)
	return element.Value.(*remembered).verdict, true
}

func (v *verdicts) put(key [sha256.Size]byte, what verdict) {
	if element, ok := v.entries[key]; ok {
		element.Value.(*remembered).verdict = what
		v.order.MoveToFront(element)
		return
	}
	v.entries[key] = v.order.PushFront(&remembered{key: key, verdict: what})
	if v.order.Len() > v.limit {
		oldest := v.order.Remove(v.order.Back()).(*remembered)
		delete(v.entries, oldest.key)
	}
}
