package actors

import "sync"

// keptCapacity is the most messages for which an idle mailbox keeps its memory.
const keptCapacity = 64

// mailbox is an actor's queue, in the order of arrival. It is unbounded: what comes
// from outside is counted before the first send (max_operations).
//
// hollywood's inbox is not used: it starts a goroutine for each turn, whose small stack
// is then grown by copying deep inside Receive; that was more than half of the cost of a
// call through three actors.
type mailbox struct {
	mu      sync.Mutex
	waiting []any
	taken   bool // a runner works on it, or is on its way
}

// put appends msg, and tells whether a runner has to be found for the mailbox.
func (m *mailbox) put(msg any) (idle bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting = append(m.waiting, msg)
	idle = !m.taken
	m.taken = true
	return idle
}

// take gives all that waits, and keeps the memory of spent, the batch before. none: the
// mailbox is free for the next runner.
func (m *mailbox) take(spent []any) (batch []any, some bool) {
	clear(spent)
	if cap(spent) > keptCapacity {
		spent = nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	batch, m.waiting = m.waiting, spent[:0]
	m.taken = len(batch) > 0
	return batch, m.taken
}
