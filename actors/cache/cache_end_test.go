package cache_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors/cache"
	"github.com/seed-f6977891/hearth/messages"
)

func TestFailedEntryKeepsItsSlotUntilItsTreesAreGone(t *testing.T) {
	for _, closing := range []bool{false, true} {
		name := map[bool]string{false: "open", true: "closing"}[closing]
		cacheBubble(t, name, cache.Config{}, func(t *testing.T, b *cacheBench) {
			first := b.leased("/a")
			failed := b.entry("/a").Ref()
			if closing {
				b.cache.Send(messages.Close{})
			}
			waiting := b.call("/b")
			b.cache.Send(messages.Down{From: failed, Reason: errBroken})
			err := first.err(t)
			assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(err))
			assert.ErrorIs(t, err, errBroken)
			assert.EqualValues(t, 1, b.sums().Occupied)
			b.cache.Send(messages.LeaseReleased{From: failed, ID: first.ID, Verdict: messages.Healthy})
			assert.Empty(t, b.entries["/b"])
			b.cache.Send(messages.TreesGone{From: failed})
			if closing {
				assert.ErrorIs(t, waiting.err(t), messages.ErrClosing)
				b.Parent.ExpectExactly(t, messages.Closed{From: b.cache.Ref()})
				return
			}
			b.expectLease(waiting)
			assert.Nil(t, b.System.Roster().Lookup(failed))
		})
	}
	cacheBubble(t, "but counts as coming free", cache.Config{Limit: 2}, func(t *testing.T, b *cacheBench) {
		b.leased("/a")
		b.leased("/b")
		b.call("/c")
		heldBack := b.call("/b")
		b.entry("/b").ExpectNothing(t)
		b.cache.Send(messages.Down{From: b.entry("/a").Ref(), Reason: errBroken})
		b.expectLease(heldBack)
	})
	cacheBubble(t, "of a stranger", cache.Config{}, func(t *testing.T, b *cacheBench) {
		first := b.leased("/a")
		b.cache.Send(messages.Down{From: b.Parent.Handle.Ref(), Reason: errBroken})
		b.cache.Send(messages.TreesGone{From: b.Parent.Handle.Ref()})
		first.pending(t)
	})
}

func TestClosedEntryIsStoppedAndItsSlotServesTheHead(t *testing.T) {
	cacheBubble(t, "crossing leases", cache.Config{}, func(t *testing.T, b *cacheBench) {
		first, second := b.leased("/a"), b.leased("/a")
		old := b.entry("/a").Ref()
		b.cache.Send(messages.EntryClosed{From: old, Cause: errBroken})
		b.entry("/a").ExpectExactly(t, messages.Lease{Op: first}, messages.Lease{Op: second})
		assert.Len(t, b.entries["/a"], 2)
		assert.Nil(t, b.System.Roster().Lookup(old))
		b.cache.Send(messages.EntryClosed{From: b.entry("/a").Ref(), Cause: errBroken})
		assert.ErrorIs(t, first.err(t), errBroken, "only once")
		assert.ErrorIs(t, second.err(t), errBroken)
	})
	cacheBubble(t, "an old generation does not touch its successor", cache.Config{}, func(t *testing.T, b *cacheBench) {
		b.idle("/a")
		old := b.entry("/a").Ref()
		b.gone("/a")
		present := b.leased("/a")
		for _, late := range []any{
			messages.EntryClosed{From: old}, messages.TreesGone{From: old}, messages.Down{From: old, Reason: errBroken},
			messages.LeaseReleased{From: old, ID: present.ID, Verdict: messages.Broken},
		} {
			b.cache.Send(late)
		}
		present.pending(t)
		b.leased("/a")
		assert.Len(t, b.entries["/a"], 2)
	})
	cacheBubble(t, "the last of a closing cache", cache.Config{Limit: 2}, func(t *testing.T, b *cacheBench) {
		b.idle("/a")
		b.idle("/b")
		b.cache.Send(messages.Close{})
		b.gone("/a")
		b.Parent.ExpectNothing(t)
		b.gone("/b")
		b.Parent.ExpectExactly(t, messages.Closed{From: b.cache.Ref()})
	})
}

func TestIdleKeysAreClosedAndNothingElseIs(t *testing.T) {
	cacheBubble(t, "by age", cache.Config{Limit: 3, Idle: 10 * time.Second}, func(t *testing.T, b *cacheBench) {
		b.idle("/old")
		b.leased("/used")
		time.Sleep(6 * time.Second)
		b.idle("/young")
		b.events()
		time.Sleep(4 * time.Second)
		b.entry("/old").ExpectExactly(t, messages.Close{})
		b.entry("/young").ExpectNothing(t)
		assert.Equal(t, []string{"evicted: idle"}, b.events())
		time.Sleep(time.Hour)
		b.entry("/young").ExpectExactly(t, messages.Close{})
		b.entry("/used").ExpectNothing(t)
	})
	cacheBubble(t, "never", cache.Config{Idle: 0}, func(t *testing.T, b *cacheBench) {
		b.idle("/a")
		time.Sleep(1000 * time.Hour)
		b.cache.Send(messages.SweepIdle{})
		b.entry("/a").ExpectNothing(t)
	})
	cacheBubble(t, "not by a closing cache", cache.Config{Limit: 2, Idle: time.Second}, func(t *testing.T, b *cacheBench) {
		b.idle("/a")
		b.leased("/b")
		b.cache.Send(messages.Close{})
		time.Sleep(time.Hour)
		b.cache.Send(messages.SweepIdle{})
		b.entry("/a").ExpectExactly(t, messages.Close{})
	})
}

func TestClosingCacheRefusesItsWaitersAndFinishesWhatItAdmitted(t *testing.T) {
	cacheBubble(t, "close", cache.Config{Limit: 2}, func(t *testing.T, b *cacheBench) {
		first := b.leased("/a")
		b.idle("/i")
		waiting, behind := b.call("/b"), b.call("/c")
		b.entry("/i").ExpectExactly(t, messages.Close{})
		b.cache.Send(messages.Close{})
		assert.ErrorIs(t, waiting.err(t), messages.ErrClosing)
		assert.ErrorIs(t, behind.err(t), messages.ErrClosing)
		b.entry("/a").ExpectNothing(t)
		first.pending(t)
		assert.ErrorIs(t, b.call("/a").err(t), messages.ErrClosing)
		b.cache.Send(messages.Close{})
		b.gone("/i")
		b.release(first, messages.Healthy, nil)
		b.entry("/a").ExpectExactly(t, messages.Close{})
		b.Parent.ExpectNothing(t)
		b.gone("/a")
		b.Parent.ExpectExactly(t, messages.Closed{From: b.cache.Ref()})
	})
	cacheBubble(t, "a creation for nobody", cache.Config{}, func(t *testing.T, b *cacheBench) {
		b.idle("/a") // its caller has left, and EntryReady never came
		b.cache.Send(messages.Close{})
		b.entry("/a").ExpectExactly(t, messages.Close{})
	})
	cacheBubble(t, "abort", cache.Config{Limit: 2}, func(t *testing.T, b *cacheBench) {
		first := b.leased("/a")
		b.idle("/i")
		waiting := b.call("/b")
		b.entry("/i").ExpectExactly(t, messages.Close{})
		b.call("/c")
		b.cache.Send(messages.Abort{})
		assert.ErrorIs(t, waiting.err(t), messages.ErrAborted)
		b.entry("/a").ExpectExactly(t, messages.Abort{})
		b.entry("/i").ExpectExactly(t, messages.Abort{})
		b.cache.Send(messages.Abort{})
		b.entry("/a").ExpectExactly(t, messages.Abort{})
		first.pending(t)
		assert.ErrorIs(t, b.call("/a").err(t), messages.ErrClosing)
	})
	cacheBubble(t, "abort of a closing one", cache.Config{}, func(t *testing.T, b *cacheBench) {
		b.leased("/a")
		b.cache.Send(messages.Close{})
		b.cache.Send(messages.Abort{})
		b.entry("/a").ExpectExactly(t, messages.Abort{})
	})
	for name, command := range map[string]any{"close": messages.Close{}, "abort": messages.Abort{}} {
		cacheBubble(t, name+" of an empty one", cache.Config{Idle: time.Second}, func(t *testing.T, b *cacheBench) {
			b.cache.Send(command)
			b.Parent.ExpectExactly(t, messages.Closed{From: b.cache.Ref()})
			b.cache.Send(messages.Close{})
			b.cache.Send(messages.Abort{})
			b.Parent.ExpectNothing(t)
			assert.ErrorIs(t, b.call("/a").err(t), messages.ErrClosing)
			assert.Empty(t, b.entries)
		})
	}
}
