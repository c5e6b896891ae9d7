package cache_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors/cache"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
)

func TestOneResourceServesAllCallsOfItsKey(t *testing.T) {
	sharedBubble(t, "reuse", cache.Config{Limit: 2}, func(t *testing.T, w *world) {
		for range 5 {
			c := w.call("/a")
			w.settle()
			assert.NoError(t, c.err(t))
		}
		assert.Equal(t, []string{"/a"}, w.starts())
	})
}

func TestCallsAtTheSameMomentStartOneResource(t *testing.T) {
	sharedBubble(t, "twenty calls", cache.Config{}, func(t *testing.T, w *world) {
		w.startTakes = time.Second
		calls := make([]*call, 20)
		for i := range calls {
			calls[i] = w.call("/a")
		}
		hasty := w.call("/a", within(300*time.Millisecond))
		time.Sleep(300 * time.Millisecond)
		assert.Equal(t, messages.KindBusy, messages.KindOf(hasty.err(t)), "it leaves alone")
		w.settle()
		for _, c := range calls {
			assert.NoError(t, c.err(t))
		}
		assert.Equal(t, []string{"/a"}, w.starts())
	})
	sharedBubble(t, "a start that fails", cache.Config{}, func(t *testing.T, w *world) {
		w.startTakes, w.startFails = time.Second, errBroken
		calls := make([]*call, 20)
		for i := range calls {
			calls[i] = w.call("/a")
		}
		w.settle()
		for _, c := range calls {
			assert.ErrorIs(t, c.err(t), errBroken)
		}
		assert.Len(t, w.starts(), 1)
		w.startFails = nil
		repaired := w.call("/a")
		w.settle()
		assert.NoError(t, repaired.err(t), "the slot is free")
	})
}

func TestCreationWhoseCallersHaveAllLeftIsKept(t *testing.T) {
	sharedBubble(t, "for the next", cache.Config{}, func(t *testing.T, w *world) {
		w.startTakes = time.Minute
		late := w.call("/a", within(time.Second))
		time.Sleep(time.Second)
		assert.Equal(t, messages.KindBusy, messages.KindOf(late.err(t)))
		w.settle()
		assert.NotContains(t, w.log(), "call /a", "nobody gets it late")
		began := time.Now()
		next := w.call("/a")
		assert.NoError(t, next.err(t))
		assert.Zero(t, time.Since(began))
		assert.Len(t, w.starts(), 1)
	})
	sharedBubble(t, "but not by a closing cache", cache.Config{}, func(t *testing.T, w *world) {
		w.startTakes = hour
		w.call("/a", within(time.Second))
		time.Sleep(time.Second)
		w.cache.Send(messages.Close{})
		w.settle()
		assert.Zero(t, w.living())
		actortest.Find[messages.Closed](t, w.Parent)
	})
}

func TestLeastRecentlyUsedIsEvictedAndNeverAKeyInUse(t *testing.T) {
	sharedBubble(t, "lru", cache.Config{Limit: 2}, func(t *testing.T, w *world) {
		w.call("/old")
		w.settle()
		w.callTakes = hour
		busy := w.call("/busy")
		w.settle()
		w.callTakes = 0
		w.call("/old")
		w.settle()
		next := w.call("/new")
		w.settle()
		assert.NoError(t, next.err(t))
		assert.Contains(t, w.log(), "close /old")
		time.Sleep(hour)
		assert.NoError(t, busy.err(t), "it was not disturbed")
	})
}

func TestAdmissionStopsBeforeTheResponseBudget(t *testing.T) {
	cfg := cache.Config{Creation: func(messages.Key) time.Duration { return 2 * time.Minute }}
	sharedBubble(t, "budget", cfg, func(t *testing.T, w *world) {
		w.callTakes = hour
		w.call("/a")
		began := time.Now()
		waiting := w.call("/b", within(5*time.Minute))
		time.Sleep(3 * time.Minute)
		var busy *messages.BusyError
		assert.ErrorAs(t, waiting.err(t), &busy)
		assert.Equal(t, messages.CreationBudget, busy.Reason)
		assert.Equal(t, time.Since(began), busy.Waited)
		assert.Equal(t, []string{"/a"}, w.starts())
	})
}

func TestIdleTimeNeverClosesAResourceInUse(t *testing.T) {
	sharedBubble(t, "ttl", cache.Config{Idle: 2 * time.Second}, func(t *testing.T, w *world) {
		w.callTakes = hour
		c := w.call("/a")
		time.Sleep(hour - 1)
		assert.Equal(t, 1, w.living())
		time.Sleep(time.Nanosecond)
		assert.NoError(t, c.err(t))
		time.Sleep(4 * time.Second)
		assert.Zero(t, w.living(), "two to four seconds after its last release")
	})
}

func TestAskingForStatusIsNoUse(t *testing.T) {
	sharedBubble(t, "republish", cache.Config{Idle: 2 * time.Second}, func(t *testing.T, w *world) {
		c := w.call("/a")
		assert.NoError(t, c.err(t))
		for range 20 {
			for _, live := range w.System.Roster().Live() {
				live.Send(messages.Republish{})
			}
			time.Sleep(200 * time.Millisecond)
		}
		assert.Zero(t, w.living())
		assert.Equal(t, []string{"/a"}, w.starts())
	})
}

func TestChangedToolchainReplacesTheResourceAfterItsCalls(t *testing.T) {
	sharedBubble(t, "in use", cache.Config{}, func(t *testing.T, w *world) {
		w.callTakes = time.Minute
		running := w.call("/a", version("1"))
		time.Sleep(time.Second)
		next := w.call("/a", version("2"))
		late := w.call("/a", version("1"), func(c *call) { c.Fingerprint.Taken = c.Fingerprint.Taken.Add(-time.Minute) })
		time.Sleep(time.Minute - time.Second)
		assert.NoError(t, running.err(t), "it finishes on the old one")
		next.pending(t)
		assert.Equal(t, []string{"start /a", "call /a", "close /a", "start /a", "call /a", "call /a"}, w.log())
		w.settle()
		assert.NoError(t, next.err(t))
		assert.NoError(t, late.err(t), "an old look throws away nothing newer")
		assert.Len(t, w.starts(), 2)
	})
	sharedBubble(t, "idle", cache.Config{}, func(t *testing.T, w *world) {
		w.call("/a", version("1"))
		w.settle()
		next := w.call("/a", version("2"))
		assert.NoError(t, next.err(t))
		assert.Len(t, w.starts(), 2)
	})
}

func TestFailedResourceIsReplaced(t *testing.T) {
	sharedBubble(t, "crash", cache.Config{}, func(t *testing.T, w *world) {
		w.callTakes = hour
		first := w.call("/a")
		w.settle()
		w.closeTakes = time.Second
		for _, live := range w.System.Roster().Live() {
			live.Send(crash{errBroken}) // only servers know it
		}
		assert.ErrorIs(t, first.err(t), errBroken)
		w.callTakes = 0
		next := w.call("/a")
		next.pending(t)
		time.Sleep(time.Second)
		assert.NoError(t, next.err(t), "by the message that freed the slot")
		assert.Len(t, w.starts(), 2)
	})
}

func TestWaiterIsAdmittedByTheMessageThatFreesTheSlot(t *testing.T) {
	sharedBubble(t, "at once", cache.Config{}, func(t *testing.T, w *world) {
		w.callTakes = time.Minute
		first := w.call("/a")
		waiting := w.call("/b")
		time.Sleep(time.Minute)
		assert.NoError(t, first.err(t))
		assert.Equal(t, []string{"/a", "/b"}, w.starts(), "in no time at all")
		w.settle()
		assert.NoError(t, waiting.err(t))
	})
}

func TestCancelledWaiterStartsNothing(t *testing.T) {
	sharedBubble(t, "cancel", cache.Config{}, func(t *testing.T, w *world) {
		w.callTakes = time.Minute
		w.call("/a")
		ctx, cancel := context.WithCancelCause(t.Context())
		left := w.call("/b", under(ctx))
		left.pending(t)
		cancel(errors.New("tab closed"))
		assert.ErrorContains(t, left.err(t), "tab closed")
		w.settle()
		assert.Equal(t, []string{"/a"}, w.starts())
	})
}

func TestClosingCacheFinishesWhatItAdmittedAndLeavesNothing(t *testing.T) {
	sharedBubble(t, "drain", cache.Config{Limit: 2}, func(t *testing.T, w *world) {
		w.closeTakes = time.Second
		w.call("/idle")
		w.settle()
		w.callTakes = time.Minute
		running := w.call("/a")
		waiting := w.call("/b")
		waiting.pending(t)
		w.cache.Send(messages.Close{})
		assert.ErrorIs(t, waiting.err(t), messages.ErrClosing)
		w.settle()
		assert.NoError(t, running.err(t))
		w.settle()
		assert.Zero(t, w.living())
		actortest.Find[messages.Closed](t, w.Parent)
	})
	sharedBubble(t, "abort", cache.Config{Limit: 2}, func(t *testing.T, w *world) {
		w.callTakes = hour
		running := w.call("/a")
		running.pending(t) // its server has begun
		w.startTakes = hour
		creating := w.call("/b")
		creating.pending(t)
		w.cache.Send(messages.Abort{})
		assert.ErrorIs(t, running.err(t), messages.ErrAborted)
		assert.ErrorIs(t, creating.err(t), messages.ErrAborted)
		assert.Zero(t, w.living())
		actortest.Find[messages.Closed](t, w.Parent)
	})
}
