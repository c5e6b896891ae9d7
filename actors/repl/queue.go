package repl

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// SlotState is where a slot of a pool stands.
type SlotState uint8

// The states of a slot. Each but Empty means that a worker is there, with processes.
const (
	Empty   SlotState = iota
	Warming           // its worker is starting
	Warm              // its worker waits for a call
	Busy              // its worker has a call
	Ending            // its worker takes no more calls, and its processes are being ended
)

func (s SlotState) String() string {
	return [...]string{"empty", "warming", "warm", "busy", "ending"}[s]
}

// longestBackoff bounds the time between two starts of a slot that keeps failing.
const longestBackoff = 30 * time.Second

// Queue decides for a pool which waiting call gets which worker, and which slot
// starts a worker when. It starts, sends and waits for nothing itself, and it
// panics when it is told what can't be.
type Queue[ID comparable] struct {
	resident bool
	slots    []slot[ID]
	warm     []int // warm slots, the longest waiting first
	waiting  []call[ID]
	calls    uint64
}

type slot[ID comparable] struct {
	state    SlotState
	failures int       // starts that failed since the last that didn't
	notUntil time.Time // of the next start
	call     call[ID]  // while busy
}

type call[ID comparable] struct {
	id    ID
	order uint64
}

// NewQueue makes the queue of a pool with so many slots, all empty. Resident tells
// whether a worker may serve a second call.
func NewQueue[ID comparable](slots int, resident bool) *Queue[ID] {
	return &Queue[ID]{resident: resident, slots: make([]slot[ID], slots)}
}

// Push adds a call behind all others.
func (q *Queue[ID]) Push(id ID) {
	q.calls++
	q.waiting = append(q.waiting, call[ID]{id: id, order: q.calls})
}

// Remove takes a call that still waits out, and tells whether there was one.
func (q *Queue[ID]) Remove(id ID) bool {
	before := len(q.waiting)
	q.waiting = slices.DeleteFunc(q.waiting, func(c call[ID]) bool { return c.id == id })
	return len(q.waiting) < before
}

// Drain takes out all that waits, in order.
func (q *Queue[ID]) Drain() []ID {
	ids := make([]ID, 0, len(q.waiting))
	for _, c := range q.waiting {
		ids = append(ids, c.id)
	}
	q.waiting = nil
	return ids
}

// Waiting is how many calls wait.
func (q *Queue[ID]) Waiting() int { return len(q.waiting) }

// Next hands the call that has waited longest to the worker that has, and marks
// that slot busy.
func (q *Queue[ID]) Next() (id ID, slot int, ok bool) {
	if len(q.waiting) == 0 || len(q.warm) == 0 {
		return id, 0, false
	}
	head := q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	slot = q.warm[0]
	q.to(slot, Busy, Warm)
	q.slots[slot].call = head
	return head.id, slot, true
}

// Settled ends a slot's call. A good worker is warm again, any other is ending.
func (q *Queue[ID]) Settled(slot int, good bool) {
	if good && q.resident {
		q.to(slot, Warm, Busy)
	} else {
		q.to(slot, Ending, Busy)
	}
}

// Unused ends a call that was answered without its worker's child: the worker is warm
// again, whatever the mode.
func (q *Queue[ID]) Unused(slot int) { q.to(slot, Warm, Busy) }

// Return puts a slot's call, which was never sent to its child, back where it was
// in the queue: ahead of all that came after it. The worker is ending.
func (q *Queue[ID]) Return(slot int) {
	back := q.slots[slot].call
	q.to(slot, Ending, Busy)
	at, _ := slices.BinarySearchFunc(q.waiting, back, func(a, b call[ID]) int { return cmp.Compare(a.order, b.order) })
	q.waiting = slices.Insert(q.waiting, at, back)
}

// Starts gives the slots that are to start a worker now, and marks them warming.
// Where the last start failed, the next one comes when its back-off is over and a
// call waits that no other start serves: a broken program isn't tried for nobody.
func (q *Queue[ID]) Starts(now time.Time) []int {
	var starts []int
	for i := range q.slots {
		if q.slots[i].state == Empty && q.slots[i].failures == 0 {
			q.to(i, Warming, Empty)
			starts = append(starts, i)
		}
	}
	for i := range q.slots {
		if q.slots[i].state == Empty && !now.Before(q.slots[i].notUntil) && q.unserved() {
			q.to(i, Warming, Empty)
			starts = append(starts, i)
		}
	}
	return starts
}

// NextStart is when Starts is to be asked again, if only time stands in the way of
// a start.
func (q *Queue[ID]) NextStart() (at time.Time, ok bool) {
	if !q.unserved() {
		return at, false
	}
	for _, s := range q.slots {
		if s.state == Empty && (!ok || s.notUntil.Before(at)) {
			at, ok = s.notUntil, true
		}
	}
	return at, ok
}

// unserved tells whether more calls wait than workers are warming.
func (q *Queue[ID]) unserved() bool { return len(q.waiting) > q.Counts()[Warming] }

// Ready says that a slot's worker takes calls from now on.
func (q *Queue[ID]) Ready(slot int) {
	q.to(slot, Warm, Warming)
	q.slots[slot].failures = 0
}

// StartFailed says that a slot's worker never will, or that it ended again before it
// was of use; its next start waits for 2^n seconds, n being the failures in a row
// before this one, and at most 30 s.
func (q *Queue[ID]) StartFailed(slot int, now time.Time) {
	q.to(slot, Ending, Warming, Warm)
	s := &q.slots[slot]
	s.notUntil = now.Add(min(longestBackoff, time.Second<<min(s.failures, 5)))
	s.failures++
}

// Hopeless tells whether nothing that is there will serve the calls that wait: no
// worker is warm or warming, and none will be warm again after its call.
func (q *Queue[ID]) Hopeless() bool {
	n := q.Counts()
	return n[Warm]+n[Warming] == 0 && (n[Busy] == 0 || !q.resident)
}

// End says that a worker which has no call began to end by itself, or was told to.
func (q *Queue[ID]) End(slot int) { q.to(slot, Ending, Warming, Warm) }

// Emptied says that nothing is left of a slot's worker.
func (q *Queue[ID]) Emptied(slot int) { q.to(slot, Empty, Ending) }

// State is where a slot stands.
func (q *Queue[ID]) State(slot int) SlotState { return q.slots[slot].state }

// Counts is how many slots are in each state.
func (q *Queue[ID]) Counts() (n [Ending + 1]int) {
	for _, s := range q.slots {
		n[s.state]++
	}
	return n
}

// to changes a slot's state, which must be one of from.
func (q *Queue[ID]) to(slot int, state SlotState, from ...SlotState) {
	s := &q.slots[slot]
	if !slices.Contains(from, s.state) {
		panic(fmt.Sprintf("repl: slot %d is %s and can't be %s", slot, s.state, state))
	}
	if s.state == Warm {
		q.warm = slices.DeleteFunc(q.warm, func(i int) bool { return i == slot })
	}
	if state == Warm {
		q.warm = append(q.warm, slot)
	}
	s.state, s.call = state, call[ID]{}
}
