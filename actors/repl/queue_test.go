package repl

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// warmQueue has all its slots warm.
func warmQueue(slots int, resident bool) *Queue[string] {
	q := NewQueue[string](slots, resident)
	for _, slot := range q.Starts(start) {
		q.Ready(slot)
	}
	return q
}

// handed takes all that can be handed over now.
func handed(q *Queue[string]) (pairs []string) {
	for {
		id, slot, ok := q.Next()
		if !ok {
			return pairs
		}
		pairs = append(pairs, fmt.Sprint(id, slot))
	}
}

func push(q *Queue[string], ids ...string) {
	for _, id := range ids {
		q.Push(id)
	}
}

func TestAllSlotsStartAtOnceAndOnlyOnce(t *testing.T) {
	q := NewQueue[string](3, false)
	assert.Equal(t, []int{0, 1, 2}, q.Starts(start))
	assert.Empty(t, q.Starts(start))
	assert.Equal(t, [...]int{0, 3, 0, 0, 0}, q.Counts())
}

func TestTheLongestWaitingCallGetsTheLongestWaitingWorker(t *testing.T) {
	q := NewQueue[string](3, true)
	q.Starts(start)
	q.Ready(2)
	q.Ready(0)
	push(q, "a", "b", "c")
	assert.Equal(t, []string{"a2", "b0"}, handed(q))
	q.Settled(0, true)
	assert.Equal(t, []string{"c0"}, handed(q))
	assert.Zero(t, q.Waiting())
}

func TestAFreshWorkerServesOneCall(t *testing.T) {
	q := warmQueue(1, false)
	push(q, "a", "b")
	require.Equal(t, []string{"a0"}, handed(q))
	q.Settled(0, true)
	assert.Equal(t, Ending, q.State(0))
	assert.Empty(t, q.Starts(start), "its processes are still there")
	q.Emptied(0)
	assert.Equal(t, []int{0}, q.Starts(start))
	assert.Empty(t, handed(q))
	q.Ready(0)
	assert.Equal(t, []string{"b0"}, handed(q))
}

func TestTheReserveIsFilledThoughNobodyWaits(t *testing.T) {
	q := warmQueue(2, false)
	push(q, "a")
	handed(q)
	q.Settled(0, true)
	q.Emptied(0)
	assert.Equal(t, []int{0}, q.Starts(start))
}

func TestABrokenWorkerIsNeverHandedOutAgain(t *testing.T) {
	q := warmQueue(1, true)
	push(q, "a", "b")
	handed(q)
	q.Settled(0, false)
	assert.Empty(t, handed(q))
	assert.Equal(t, Ending, q.State(0))
}

func TestAWorkerThatEndsInReserveIsNotHandedOut(t *testing.T) {
	q := warmQueue(2, true)
	q.End(0)
	push(q, "a")
	assert.Equal(t, []string{"a1"}, handed(q))
}

func TestACallThatWasNotSentGoesBackToItsPlace(t *testing.T) {
	q := warmQueue(2, false)
	push(q, "a", "b", "c", "d")
	require.Equal(t, []string{"a0", "b1"}, handed(q))
	q.Return(1)
	q.Return(0)
	assert.Equal(t, Ending, q.State(0))
	assert.Equal(t, []string{"a", "b", "c", "d"}, q.Drain())
	assert.Zero(t, q.Waiting())
}

func TestACallThatLeftIsNotHandedOver(t *testing.T) {
	q := warmQueue(1, false)
	push(q, "a", "b", "c")
	assert.True(t, q.Remove("a"))
	assert.False(t, q.Remove("a"))
	assert.Equal(t, []string{"b0"}, handed(q))
	assert.False(t, q.Remove("b"), "it has a worker")
}

func TestBackoffDoublesToItsLimitAndEndsWithASuccess(t *testing.T) {
	q := NewQueue[string](1, false)
	now := start
	q.Starts(now)
	push(q, "a")
	for _, seconds := range []time.Duration{1, 2, 4, 8, 16, 30, 30, 30} {
		q.StartFailed(0, now)
		_, ok := q.NextStart()
		require.False(t, ok, "its processes are still there")
		q.Emptied(0)
		at, ok := q.NextStart()
		require.True(t, ok)
		require.Equal(t, now.Add(seconds*time.Second), at)
		require.Empty(t, q.Starts(at.Add(-1)))
		require.Equal(t, []int{0}, q.Starts(at))
		now = at
	}
	q.Ready(0)
	handed(q)
	q.Settled(0, false)
	q.Emptied(0)
	require.Equal(t, []int{0}, q.Starts(now))
	q.StartFailed(0, now)
	q.Emptied(0)
	push(q, "b")
	at, ok := q.NextStart()
	require.True(t, ok)
	require.Equal(t, now.Add(time.Second), at)
}

func TestAFailedStartIsTriedAgainForACallAlone(t *testing.T) {
	q := NewQueue[string](3, false)
	for _, slot := range q.Starts(start) {
		q.StartFailed(slot, start)
		q.Emptied(slot)
	}
	later := start.Add(time.Hour)
	assert.Empty(t, q.Starts(later))
	_, ok := q.NextStart()
	assert.False(t, ok)
	push(q, "a", "b")
	assert.Equal(t, []int{0, 1}, q.Starts(later), "one for each call that waits")
	_, ok = q.NextStart()
	assert.False(t, ok)
}

func TestHopelessIsWhatNobodyWillServe(t *testing.T) {
	for _, resident := range []bool{false, true} {
		q := NewQueue[string](2, resident)
		q.Starts(start)
		assert.False(t, q.Hopeless(), "both are warming")
		q.StartFailed(0, start)
		assert.False(t, q.Hopeless(), "one is warming")
		q.Ready(1)
		assert.False(t, q.Hopeless(), "one is warm")
		push(q, "a")
		handed(q)
		assert.Equal(t, !resident, q.Hopeless(), "a resident worker will be warm again")
		q.Settled(1, false)
		assert.True(t, q.Hopeless())
	}
}

func TestWhatCannotBeIsRefusedLoudly(t *testing.T) {
	q := NewQueue[string](1, false)
	assert.PanicsWithValue(t, "repl: slot 0 is empty and can't be warm", func() { q.Ready(0) })
	q.Starts(start)
	assert.PanicsWithValue(t, "repl: slot 0 is warming and can't be ending", func() { q.Return(0) })
	assert.PanicsWithValue(t, "repl: slot 0 is warming and can't be empty", func() { q.Emptied(0) })
}

// TestRandomOperationsLoseNoCallAndNoSlot compares the queue with a list of the
// calls in the order in which they came: every call is waiting, busy or done; those
// that wait are handed over in that order; a slot has one worker.
func TestRandomOperationsLoseNoCallAndNoSlot(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		slots, resident := 1+random.IntN(4), random.IntN(2) == 0
		m := &model{Queue: NewQueue[int](slots, resident), busy: map[int]int{}, now: start}
		for range 300 {
			m.step(t, random, slots)
		}
	}
}

type model struct {
	*Queue[int]
	waiting []int // ascending: ids are numbered as they come
	busy    map[int]int
	pushed  int
	done    int
	now     time.Time
}

func (m *model) step(t *testing.T, random *rand.Rand, slots int) {
	m.now = m.now.Add(time.Duration(random.IntN(2000)) * time.Millisecond)
	slot := random.IntN(slots)
	switch state := m.State(slot); {
	case random.IntN(3) == 0:
		m.pushed++
		m.Push(m.pushed)
		m.waiting = append(m.waiting, m.pushed)
	case random.IntN(20) == 0 && len(m.waiting) > 0:
		gone := m.waiting[random.IntN(len(m.waiting))]
		require.True(t, m.Remove(gone))
		m.waiting = slices.DeleteFunc(m.waiting, func(id int) bool { return id == gone })
		m.done++
	case state == Empty:
		for _, started := range m.Starts(m.now) {
			require.Equal(t, Warming, m.State(started))
		}
		if at, ok := m.NextStart(); ok {
			require.Greater(t, at, m.now, "what is due has been started")
		}
	case state == Warming && random.IntN(3) == 0:
		m.StartFailed(slot, m.now)
	case state == Warming:
		m.Ready(slot)
	case state == Warm && random.IntN(5) == 0:
		m.End(slot)
	case state == Warm:
		m.handOver(t)
	case state == Busy && random.IntN(4) == 0:
		m.Return(slot)
		m.waiting = append(m.waiting, m.busy[slot])
		slices.Sort(m.waiting)
		delete(m.busy, slot)
	case state == Busy:
		m.Settled(slot, random.IntN(2) == 0)
		delete(m.busy, slot)
		m.done++
	case state == Ending:
		m.Emptied(slot)
	}
	require.Equal(t, m.pushed, len(m.waiting)+len(m.busy)+m.done)
	require.Equal(t, len(m.waiting), m.Waiting())
	require.Equal(t, len(m.busy), m.Counts()[Busy])
}

func (m *model) handOver(t *testing.T) {
	id, slot, ok := m.Next()
	require.Equal(t, len(m.waiting) > 0, ok, "a worker is warm")
	if !ok {
		return
	}
	require.Equal(t, m.waiting[0], id)
	m.waiting = m.waiting[1:]
	require.NotContains(t, m.busy, slot)
	m.busy[slot] = id
}
