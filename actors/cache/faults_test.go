package cache_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/cache"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
)

// failingRefusal is an operation that can't even be refused.
type failingRefusal struct {
	*call
	fault func()
}

func (f failingRefusal) Refuse(error) { f.fault() }

func TestFailingCacheAnswersEverythingItHolds(t *testing.T) {
	for name, fault := range faults {
		cacheBubble(t, "open, by "+name, cache.Config{Limit: 2}, func(t *testing.T, b *cacheBench) {
			leased := b.leased("/a")
			b.leased("/b")
			waiting := b.call("/c")
			inHand := b.call("/d", failing(fault))
			assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(leased.err(t)))
			assert.Equal(t, messages.KindInternal, messages.KindOf(waiting.err(t)), "it was never begun")
			assert.Equal(t, messages.KindInternal, messages.KindOf(inHand.err(t)))
			b.expectDown()
			assert.ErrorIs(t, b.call("/a").err(t), messages.ErrClosing)
			b.expectChildrenPassedOn()
		})
		cacheBubble(t, "closing, by "+name, cache.Config{}, func(t *testing.T, b *cacheBench) {
			leased := b.leased("/a")
			b.cache.Send(messages.Close{})
			b.cache.Send(failingRefusal{b.call("/b"), fault})
			assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(leased.err(t)))
			b.expectDown()
			b.expectChildrenPassedOn()
		})
		cacheBubble(t, "closed, by "+name, cache.Config{}, func(t *testing.T, b *cacheBench) {
			b.cache.Send(messages.Close{})
			b.Parent.ExpectExactly(t, messages.Closed{From: b.cache.Ref()})
			b.cache.Send(failingRefusal{b.call("/b"), fault})
			b.expectDown()
		})
		cacheBubble(t, "amid the refusals of a close, by "+name, cache.Config{}, func(t *testing.T, b *cacheBench) {
			b.leased("/a")
			b.cache.Send(failingRefusal{newCall(b.System, "/b"), only(fault)})
			waiting := b.call("/c")
			waiting.pending(t)
			b.cache.Send(messages.Close{})
			b.expectDown()
			assert.Equal(t, messages.KindInternal, messages.KindOf(waiting.err(t)), "out of the queue, and not forgotten")
		})
	}
}

func (b *cacheBench) expectDown() {
	b.t.Helper()
	down := actortest.Find[messages.Down](b.t, b.Parent)
	assert.Equal(b.t, b.cache.Ref(), down.From)
	assert.Equal(b.t, messages.KindInternal, messages.KindOf(down.Reason))
	assert.Equal(b.t, down, actortest.Find[messages.Down](b.t, b.Supervisor))
}

// expectChildrenPassedOn checks that the Supervisor, who ends what is below a failed
// Cache, hears of the Entries' ends in its place.
func (b *cacheBench) expectChildrenPassedOn() {
	b.t.Helper()
	ended := messages.EntryClosed{From: b.entry("/a").Ref()}
	b.cache.Send(ended)
	assert.Equal(b.t, ended, actortest.Find[messages.EntryClosed](b.t, b.Supervisor))
}

func TestFailingEntryAnswersEverythingItHolds(t *testing.T) {
	for name, fault := range faults {
		entryBubble(t, "creating, by "+name, func(t *testing.T, b *entryBench) {
			kept := b.lease()
			b.lease(failing(fault))
			assert.Equal(t, messages.KindInternal, messages.KindOf(kept.err(t)), "it was never begun")
			b.expectDown()
		})
		entryBubble(t, "resident, by "+name, func(t *testing.T, b *entryBench) {
			b.resident()
			forwarded := b.forwarded()
			b.lease(failing(fault))
			assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(forwarded.err(t)))
			b.expectDown()
		})
		entryBubble(t, "closing, by "+name, func(t *testing.T, b *entryBench) {
			b.resident()
			forwarded := b.forwarded()
			b.entry.Send(messages.Abort{})
			b.lease(failing(fault))
			assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(forwarded.err(t)))
			b.expectDown()
		})
		entryBubble(t, "closed, by "+name, func(t *testing.T, b *entryBench) {
			b.closing()
			b.entry.Send(messages.Closed{From: b.child.Ref()})
			b.lease(failing(fault))
			b.expectDown()
		})
	}
}

func (b *entryBench) expectDown() {
	b.t.Helper()
	down := actortest.Find[messages.Down](b.t, b.Parent)
	assert.Equal(b.t, b.entry.Ref(), down.From)
	assert.Equal(b.t, down, actortest.Find[messages.Down](b.t, b.Supervisor))
}

func TestEntryThatFailsKeepsItsSlotAndItsCallersHearAtOnce(t *testing.T) {
	for name, fault := range faults {
		sharedBubble(t, name, cache.Config{}, func(t *testing.T, w *world) {
			answered := w.call("/a")
			w.settle()
			assert.NoError(t, answered.err(t))
			w.callTakes = hour
			running := w.call("/a")
			w.settle()
			w.call("/a", failing(after(1, fault))) // past the Cache, in the Entry
			assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(running.err(t)))
			w.callTakes = 0
			waiting := w.call("/b")
			waiting.pending(t)
			assert.Equal(t, 1, w.living(), "the slot is kept while the tree is there")
			w.clearAway(actortest.Find[messages.Down](t, w.Supervisor).From)
			w.settle()
			assert.NoError(t, waiting.err(t))
		})
	}
}

func TestResourceThatCannotBeMadeIsAnError(t *testing.T) {
	for name, fault := range faults {
		var gate chan struct{} // a fault before the Entry has its call would make that wait for the next creation
		cfg := cache.Config{NewResource: func(messages.Key) func(*actors.Self) actors.Behaviour {
			return func(*actors.Self) actors.Behaviour { <-gate; fault(); return nil }
		}}
		sharedBubble(t, name, cfg, func(t *testing.T, w *world) {
			failed := func() messages.Kind {
				gate = make(chan struct{})
				call := w.call("/a")
				call.pending(t)
				close(gate)
				return messages.KindOf(call.err(t))
			}
			assert.Equal(t, messages.KindInternal, failed())
			w.clearAway(actortest.Find[messages.Down](t, w.Supervisor).From)
			assert.Equal(t, messages.KindInternal, failed(), "the slot was freed, and the next fails anew")
		})
	}
}

// only lets a fault happen the first time.
func only(fault func()) func() {
	failed := false
	return func() {
		if !failed {
			failed = true
			fault()
		}
	}
}

// after lets a fault happen once the first n calls have passed.
func after(n int, fault func()) func() {
	return func() {
		if n--; n < 0 {
			fault()
		}
	}
}
