package cache

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// ledger holds what a Cache has given out and alone decides who gets what. It is
// pure: it starts nothing, sends nothing and reads no clock. now never runs
// backwards from one call to the next.
//
// Two sums say everything about room: occupied counts every key whose Entry has not
// closed, and ending is the part of it that comes free by itself. What waiting
// operations are promised of it is counted anew on every walk over the queue.
type ledger struct {
	limit    int64
	occupied int64
	ending   int64
	rows     map[messages.Key]*row
	idle     ordered[*row]                   // without leases and usable: the next victim first
	queue    ordered[*claim]                 // who waits, in the order in which they came
	claims   map[messages.OperationID]*claim // waiting and leased
	places   uint64
	draining bool // no key outlives its last lease
	out      []decision
	used     []*claim // for the next operations
}

// claimsKept bounds what is kept for later of a burst of operations.
const claimsKept = 64

// row is a key that occupies its weight: from the creation of its Entry until
// nothing is left of it.
type row struct {
	key         messages.Key
	fingerprint messages.Fingerprint // of the operation that created it
	weight      int64
	leases      int
	lastUsed    time.Time // the last release
	stale       bool      // a newer fingerprint was seen: no further lease, and it ends with the last one
	ending      bool      // its Entry is closing, or failed: no further lease
	spot        link[*row]
	entry       messages.Ref // set by the Cache, which spawns it
}

// claim is one operation's place in the ledger.
type claim struct {
	op       messages.Operation
	head     messages.Head
	weight   int64
	creation time.Duration // the time that must be left when a creation begins
	since    time.Time
	place    uint64
	waiting  bool // it was told to wait; a new one is heard even behind a blocked queue
	returned bool // it came back unused once
	row      *row // what it is leased on
	spot     link[*claim]
	clocks   clocks
}

func newLedger(limit int64) *ledger {
	return &ledger{
		limit:  limit,
		rows:   make(map[messages.Key]*row),
		claims: make(map[messages.OperationID]*claim),
		idle:   ordered[*row]{before: usedBefore},
		queue:  ordered[*claim]{before: func(a, b *claim) bool { return a.place < b.place }},
	}
}

func usedBefore(a, b *row) bool {
	if age := a.lastUsed.Compare(b.lastUsed); age != 0 {
		return age < 0
	}
	return compareKeys(a.key, b.key) < 0
}

func compareKeys(a, b messages.Key) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Root, b.Root), strings.Compare(a.Language, b.Language))
}

// admit takes in an operation and decides: it is granted, or waits, or is refused.
// What is heavier than the whole budget counts as the whole budget, which admits it
// alone. The decisions are valid until the next call.
func (l *ledger) admit(now time.Time, c *claim) []decision {
	l.places++
	c.place = l.places
	c.since = now
	c.weight = min(max(c.weight, 1), l.limit)
	c.spot.member = c
	l.claims[c.head.ID] = c
	l.queue.insert(&c.spot)
	return l.serve(now, c)
}

// requeue puts an operation that came back unused at its old place. It is called
// once for each, and serve after it.
func (l *ledger) requeue(c *claim) {
	c.row, c.waiting, c.returned = nil, false, true
	l.claims[c.head.ID] = c
	l.queue.insert(&c.spot)
}

// leave takes an operation out of the queue.
func (l *ledger) leave(c *claim) {
	l.queue.remove(&c.spot)
	delete(l.claims, c.head.ID)
}

// waiter gives the operation if it waits.
func (l *ledger) waiter(id messages.OperationID) *claim {
	if c := l.claims[id]; c != nil && c.row == nil {
		return c
	}
	return nil
}

// release takes back a lease. It is true where the key has to be closed now: it
// was only kept for this lease.
func (l *ledger) release(now time.Time, c *claim, verdict messages.Verdict) (closeNow bool) {
	r := c.row
	delete(l.claims, c.head.ID)
	r.leases--
	r.lastUsed = now
	if verdict != messages.Healthy {
		l.end(r)
	}
	switch {
	case r.ending || r.leases > 0:
		return false
	case r.stale || l.draining:
		l.end(r)
		return true
	}
	l.idle.insert(&r.spot)
	return false
}

// end marks a key that takes no further lease; its weight comes free when its Entry
// has closed.
func (l *ledger) end(r *row) {
	if r.ending {
		return
	}
	if l.isIdle(r) {
		l.idle.remove(&r.spot)
	}
	r.ending = true
	l.ending += r.weight
}

// isIdle tells whether a row is in the idle list. Asked of a row whose last lease
// was just taken back, it looks at the links: the row isn't in yet.
func (l *ledger) isIdle(r *row) bool {
	return r.spot.prev != nil || r.spot.next != nil || l.idle.first == &r.spot
}

// drop ends a key and gives the operations that were leased on it, the oldest
// first; they are out of the ledger.
func (l *ledger) drop(r *row) []*claim {
	l.end(r)
	var leased []*claim
	if r.leases > 0 {
		for id, c := range l.claims {
			if c.row == r {
				leased = append(leased, c)
				delete(l.claims, id)
			}
		}
		slices.SortFunc(leased, func(a, b *claim) int { return cmp.Compare(a.place, b.place) })
	}
	r.leases = 0
	return leased
}

// free gives back the weight of a key of which nothing is left, and the leases that
// crossed its end. serve follows.
func (l *ledger) free(r *row) (crossed []*claim) {
	crossed = l.drop(r)
	delete(l.rows, r.key)
	l.occupied -= r.weight
	l.ending -= r.weight
	return crossed
}

// expire ends the keys that nobody has used for at least idle.
func (l *ledger) expire(now time.Time, idle time.Duration) (ended []*row) {
	for l.idle.first != nil && now.Sub(l.idle.first.member.lastUsed) >= idle {
		ended = append(ended, l.idle.first.member)
		l.end(l.idle.first.member)
	}
	return ended
}

// drain gives everybody who waits, and the keys that can end at once; from here on
// every other ends with its last lease. A second time it finds nothing.
func (l *ledger) drain() (waiters []*claim, ended []*row) {
	l.draining = true
	for l.queue.first != nil {
		waiters = append(waiters, l.queue.first.member)
		l.leave(l.queue.first.member)
	}
	for l.idle.first != nil {
		ended = append(ended, l.idle.first.member)
		l.end(l.idle.first.member)
	}
	return waiters, ended
}

// newClaim gives a claim for an operation. Claims are used again: making one anew
// for each operation took a third of the time of an admission.
func (l *ledger) newClaim(op messages.Operation) *claim {
	n := len(l.used)
	if n == 0 {
		return &claim{op: op}
	}
	c := l.used[n-1]
	l.used = l.used[:n-1]
	*c = claim{op: op}
	return c
}

// recycle takes back a claim that nobody else holds.
func (l *ledger) recycle(c *claim) {
	if len(l.used) < claimsKept {
		l.used = append(l.used, c)
	}
}
