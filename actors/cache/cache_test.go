package cache_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors/cache"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
)

var errBroken = errors.New("server died")

func isBusy(t *testing.T, err error, reason messages.BusyReason, waited time.Duration) {
	t.Helper()
	assert.Equal(t, error(&messages.BusyError{Project: "/b", Waited: waited, Reason: reason}), err)
}

func TestOpenCacheDoesWithAnOperationAsItsLedgerDecides(t *testing.T) {
	cacheBubble(t, "create and grant", cache.Config{}, func(t *testing.T, b *cacheBench) {
		first, second := b.call("/a"), b.call("/a")
		b.entry("/a").ExpectExactly(t, messages.Lease{Op: first}, messages.Lease{Op: second})
		assert.Len(t, b.entries["/a"], 1)
		assert.Regexp(t, `^entry/[0-9a-f]{8}#\d+$`, b.entry("/a").Ref().ID)
	})
	cacheBubble(t, "evict", cache.Config{}, func(t *testing.T, b *cacheBench) {
		b.idle("/a")
		waiting := b.call("/b")
		b.entry("/a").ExpectExactly(t, messages.Close{})
		assert.Equal(t, []string{"evicted: for /b"}, b.events())
		b.gone("/a")
		b.expectLease(waiting)
	})
	cacheBubble(t, "wait", cache.Config{}, func(t *testing.T, b *cacheBench) {
		b.leased("/a")
		b.Observer.Take()
		waiting := b.call("/b")
		waiting.pending(t)
		b.entry("/a").ExpectNothing(t)
		assert.Equal(t, 1, b.sums().Waiting)
	})
	cacheBubble(t, "refuse", cache.Config{}, func(t *testing.T, b *cacheBench) {
		isBusy(t, b.call("/b", within(0)).err(t), messages.Slot, 0)
		assert.Empty(t, b.entries)
		assert.Len(t, b.events(), 1)
	})
	cacheBubble(t, "nobody waits for it any more", cache.Config{}, func(t *testing.T, b *cacheBench) {
		b.idle("/a")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.Equal(t, messages.KindCancelled, messages.KindOf(b.call("/b", under(ctx)).err(t)))
		over, cancel := context.WithDeadline(t.Context(), time.Now())
		defer cancel()
		isBusy(t, b.call("/b", under(over)).err(t), messages.Slot, 0)
		b.entry("/a").ExpectNothing(t)
		assert.Len(t, b.entries, 1, "nothing is started, and nothing ended")
	})
	cacheBubble(t, "stale and in use", cache.Config{}, func(t *testing.T, b *cacheBench) {
		old := b.leased("/a", version("1"))
		time.Sleep(time.Second)
		b.call("/a", version("2")).pending(t)
		b.entry("/a").ExpectExactly(t, messages.Outdated{})
		b.release(old, messages.Healthy, nil)
		b.entry("/a").ExpectExactly(t, messages.Close{})
		assert.Equal(t, []string{"evicted: stale"}, b.events())
	})
}

func TestWaitersAnswerTellsWhichOfItsClocksRanOut(t *testing.T) {
	cacheBubble(t, "its time to wait", cache.Config{}, func(t *testing.T, b *cacheBench) {
		b.leased("/a")
		waiting := b.call("/b", within(time.Minute))
		time.Sleep(time.Minute)
		isBusy(t, waiting.err(t), messages.Slot, time.Minute)
	})
	cacheBubble(t, "the caller's deadline", cache.Config{}, func(t *testing.T, b *cacheBench) {
		b.leased("/a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		waiting := b.call("/b", under(ctx))
		time.Sleep(time.Second)
		isBusy(t, waiting.err(t), messages.Slot, time.Second)
	})
	cacheBubble(t, "the caller left", cache.Config{}, func(t *testing.T, b *cacheBench) {
		b.leased("/a")
		ctx, cancel := context.WithCancelCause(t.Context())
		waiting := b.call("/b", under(ctx))
		waiting.pending(t)
		cancel(errBroken)
		err := waiting.err(t)
		assert.Equal(t, messages.KindCancelled, messages.KindOf(err))
		assert.ErrorIs(t, err, errBroken)
	})
	creation := cache.Config{Creation: func(messages.Key) time.Duration { return time.Minute }}
	cacheBubble(t, "too late for the creation", creation, func(t *testing.T, b *cacheBench) {
		b.leased("/a")
		waiting := b.call("/b", within(3*time.Minute))
		time.Sleep(2*time.Minute - 1)
		waiting.pending(t)
		time.Sleep(time.Nanosecond)
		isBusy(t, waiting.err(t), messages.CreationBudget, 2*time.Minute)
	})
	cacheBubble(t, "but its key is there", creation, func(t *testing.T, b *cacheBench) {
		b.leased("/b")
		b.call("/c", within(10*time.Minute))
		waiting := b.call("/b", within(3*time.Minute))
		time.Sleep(3*time.Minute - 1)
		waiting.pending(t)
		time.Sleep(time.Nanosecond)
		isBusy(t, waiting.err(t), messages.Slot, 3*time.Minute)
	})
}

func TestWaiterThatLeavesLetsThoseBehindGoOn(t *testing.T) {
	cacheBubble(t, "cancel", cache.Config{}, func(t *testing.T, b *cacheBench) {
		b.leased("/a")
		ctx, cancel := context.WithCancel(t.Context())
		b.call("/b", under(ctx))
		behind := b.call("/a")
		b.entry("/a").ExpectNothing(t)
		cancel()
		b.expectLease(behind)
	})
}

func TestClockThatCrossesTheLeaseDoesNoHarm(t *testing.T) {
	cacheBubble(t, "crossing", cache.Config{}, func(t *testing.T, b *cacheBench) {
		b.idle("/a")
		ctx, cancel := context.WithCancel(t.Context())
		served := b.call("/b", under(ctx), within(time.Minute))
		served.pending(t)
		b.cache.Send(messages.EntryClosed{From: b.entry("/a").Ref()})
		cancel()
		b.expectLease(served)
		time.Sleep(time.Hour)
		served.pending(t)
	})
}

func TestReadyKeyIsAnEvent(t *testing.T) {
	cacheBubble(t, "ready", cache.Config{}, func(t *testing.T, b *cacheBench) {
		b.leased("/a")
		b.events()
		b.cache.Send(messages.EntryReady{From: b.entry("/a").Ref()})
		assert.Equal(t, []string{"ready: "}, b.events())
		b.cache.Send(messages.EntryReady{From: b.Parent.Handle.Ref()})
		assert.Empty(t, b.events())
	})
}

func TestReleasedLeaseAdmitsTheNextAtOnce(t *testing.T) {
	cacheBubble(t, "healthy", cache.Config{}, func(t *testing.T, b *cacheBench) {
		first := b.leased("/a")
		waiting := b.call("/b")
		waiting.pending(t)
		began := time.Now()
		b.release(first, messages.Healthy, nil)
		b.entry("/a").ExpectExactly(t, messages.Close{})
		b.gone("/a")
		b.expectLease(waiting)
		assert.Zero(t, time.Since(began))
	})
	cacheBubble(t, "broken", cache.Config{Limit: 2}, func(t *testing.T, b *cacheBench) {
		first, second := b.leased("/a"), b.leased("/a")
		b.events()
		b.release(first, messages.Broken, errBroken)
		b.release(second, messages.Broken, errBroken)
		assert.Equal(t, []string{"broken: server died"}, b.events(), "once for each key")
		next := b.call("/a")
		b.entry("/a").ExpectNothing(t)
		next.pending(t)
		b.gone("/a")
		assert.Len(t, b.entries["/a"], 2)
		b.expectLease(next)
	})
	cacheBubble(t, "returned once", cache.Config{}, func(t *testing.T, b *cacheBench) {
		first := b.leased("/a")
		behind := b.call("/b")
		b.release(first, messages.Returned, errBroken)
		first.pending(t)
		b.gone("/a")
		b.expectLease(first)
		b.release(first, messages.Returned, errBroken)
		assert.ErrorIs(t, first.err(t), errBroken, "a second time it is told why")
		b.gone("/a")
		b.expectLease(behind)
	})
	cacheBubble(t, "returned without a reason", cache.Config{}, func(t *testing.T, b *cacheBench) {
		first := b.leased("/a", within(time.Minute))
		time.Sleep(time.Minute)
		b.release(first, messages.Returned, nil)
		assert.ErrorIs(t, first.err(t), messages.ErrClosing, "its time to wait is over")
	})
	cacheBubble(t, "returned while closing", cache.Config{}, func(t *testing.T, b *cacheBench) {
		first := b.leased("/a")
		b.cache.Send(messages.Close{})
		b.release(first, messages.Returned, errBroken)
		assert.ErrorIs(t, first.err(t), errBroken)
	})
	cacheBubble(t, "while closing, the last", cache.Config{}, func(t *testing.T, b *cacheBench) {
		first, second := b.leased("/a"), b.leased("/a")
		b.cache.Send(messages.Close{})
		b.release(first, messages.Healthy, nil)
		b.entry("/a").ExpectNothing(t)
		b.release(second, messages.Healthy, nil)
		b.entry("/a").ExpectExactly(t, messages.Close{})
	})
	cacheBubble(t, "from a stranger", cache.Config{}, func(t *testing.T, b *cacheBench) {
		first := b.leased("/a")
		b.call("/b")
		b.cache.Send(messages.LeaseReleased{From: b.Parent.Handle.Ref(), ID: first.ID, Verdict: messages.Healthy})
		b.entry("/a").ExpectNothing(t)
	})
}

func TestReturnedOperationKeepsItsClocks(t *testing.T) {
	cacheBubble(t, "deadline", cache.Config{}, func(t *testing.T, b *cacheBench) {
		first := b.leased("/b", within(time.Minute))
		b.release(first, messages.Returned, errBroken)
		time.Sleep(time.Minute)
		isBusy(t, first.err(t), messages.Slot, time.Minute)
	})
	cacheBubble(t, "of one that had waited before", cache.Config{}, func(t *testing.T, b *cacheBench) {
		b.idle("/a")
		waited := b.call("/b", within(time.Minute))
		b.gone("/a")
		b.expectLease(waited)
		b.release(waited, messages.Returned, errBroken)
		time.Sleep(time.Minute)
		isBusy(t, waited.err(t), messages.Slot, time.Minute)
	})
	cacheBubble(t, "cancel", cache.Config{}, func(t *testing.T, b *cacheBench) {
		ctx, cancel := context.WithCancel(t.Context())
		first := b.leased("/b", under(ctx))
		cancel()
		b.release(first, messages.Returned, errBroken)
		assert.Equal(t, messages.KindCancelled, messages.KindOf(first.err(t)))
	})
}

func TestSnapshotIsPublishedBeforeTheAnswerAndOnlyWhenItChanges(t *testing.T) {
	cacheBubble(t, "sums", cache.Config{Limit: 2}, func(t *testing.T, b *cacheBench) {
		assert.Equal(t, "open", b.sums().State)
		first := b.leased("/a")
		assert.EqualValues(t, 1, b.sums().Occupied)
		b.leased("/a")
		b.release(first, messages.Healthy, nil)
		b.Observer.ExpectNothing(t)
		b.cache.Send(messages.Republish{})
		published := actortest.Next[messages.Publish](t, b.Observer)
		assert.Equal(t, b.cache.ID(), published.Key)
		assert.EqualValues(t, 2, published.Snapshot.(messages.CacheSnapshot).Limit)
		synctest.Wait()
	})
}
