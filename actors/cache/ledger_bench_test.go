package cache

import (
	"container/list"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// turns is how many operations are timed at once; the clock costs nothing then, and
// a neighbour's work on the machine spoils few of the samples.
const turns = 2000

// admitAndRelease gives the time of some operations on a ledger of n idle keys.
func admitAndRelease(n int) func() time.Duration {
	l := newLedger(int64(n))
	now := epoch
	heads := make([]messages.Head, n)
	for i := range heads {
		heads[i] = messages.Head{Key: keyOf(fmt.Sprintf("/home/somebody/projects/%d", i)), AcquireBy: epoch.Add(1000 * time.Hour)}
	}
	var id messages.OperationID
	next := 0
	turn := func() {
		id++
		now = now.Add(time.Microsecond)
		heads[next].ID = id
		c := l.newClaim(nil)
		c.head = heads[next]
		next = (next + 1) % n
		l.admit(now, c)
		l.release(now, l.claims[id], messages.Healthy)
		l.recycle(c)
		l.serve(now)
	}
	for range n {
		turn()
	}
	return func() time.Duration { return timed(turn) }
}

// lookupAndMove gives the time of what any cache with an order of use does at least.
func lookupAndMove(n int) func() time.Duration {
	elements := make(map[messages.Key]*list.Element, n)
	var order list.List
	keys := make([]messages.Key, n)
	for i := range keys {
		keys[i] = keyOf(fmt.Sprintf("/home/somebody/projects/%d", i))
		elements[keys[i]] = order.PushBack(keys[i])
	}
	next := 0
	return func() time.Duration {
		return timed(func() {
			order.MoveToBack(elements[keys[next]])
			next = (next + 1) % n
		})
	}
}

func timed(turn func()) time.Duration {
	began := time.Now()
	for range turns {
		turn()
	}
	return time.Since(began)
}

// ratio gives the median of how much longer the one takes than the other.
func ratio(b *testing.B, one, other func() time.Duration) (float64, time.Duration) {
	ratios := make([]float64, 0, b.N)
	took := make([]time.Duration, 0, b.N)
	for b.Loop() {
		long, short := one(), other()
		ratios = append(ratios, float64(long)/float64(short))
		took = append(took, long)
	}
	slices.Sort(ratios)
	slices.Sort(took)
	return ratios[len(ratios)/2], took[len(took)/2]
}

// BenchmarkAdmitAndRelease: at most 6x a map lookup with a list move.
func BenchmarkAdmitAndRelease(b *testing.B) {
	for _, n := range []int{4, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			times, took := ratio(b, admitAndRelease(n), lookupAndMove(n))
			b.ReportMetric(times, "x-lookup")
			b.ReportMetric(float64(took.Nanoseconds())/turns, "ns/admission")
		})
	}
}

// BenchmarkAdmitAndReleaseAtTenThousand: at most 2x the same at 4.
func BenchmarkAdmitAndReleaseAtTenThousand(b *testing.B) {
	times, _ := ratio(b, admitAndRelease(10_000), admitAndRelease(4))
	b.ReportMetric(times, "x-at-4")
}
