package cache_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/cache"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
)

// entryBench is one Entry whose child is a probe; the harness's Parent is its Cache.
type entryBench struct {
	*actortest.Harness
	t     *testing.T
	entry *actors.Handle
	child *actortest.Probe
}

func entryBubble(t *testing.T, name string, test func(*testing.T, *entryBench)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := &entryBench{Harness: actortest.New(t), t: t}
			child, create := actortest.Child("child")
			b.child = child
			b.entry = b.Spawn("entry", "a", cache.NewEntry(keyOf("/b"), "session",
				func(messages.Key) func(*actors.Self) actors.Behaviour { return create }))
			b.Observer.Take()
			test(t, b)
		})
	})
}

func (b *entryBench) lease(with ...func(*call)) *call {
	c := newCall(b.System, "/b", with...)
	b.entry.Send(messages.Lease{Op: c})
	synctest.Wait()
	return c
}

// resident makes the child ready.
func (b *entryBench) resident() {
	b.t.Helper()
	b.entry.Send(messages.Ready{From: b.child.Ref()})
	b.Parent.ExpectExactly(b.t, messages.EntryReady{From: b.entry.Ref()})
}

// forwarded leases an operation to a resident Entry.
func (b *entryBench) forwarded() *call {
	b.t.Helper()
	c := b.lease()
	b.child.ExpectExactly(b.t, c)
	return c
}

// closing makes the Entry end: it is told to, and its child was told.
func (b *entryBench) closing() {
	b.t.Helper()
	b.entry.Send(messages.Close{})
	b.child.ExpectExactly(b.t, messages.Close{})
}

func (b *entryBench) settle(c *call, verdict messages.Verdict, cause error) {
	b.entry.Send(messages.Settled{From: b.child.Ref(), ID: c.ID, Verdict: verdict, Cause: cause})
	synctest.Wait()
}

func (b *entryBench) released(c *call, verdict messages.Verdict, cause error) messages.LeaseReleased {
	return messages.LeaseReleased{From: b.entry.Ref(), ID: c.ID, Verdict: verdict, Cause: cause}
}

// snapshot gives the last one that was published.
func (b *entryBench) snapshot() messages.EntrySnapshot {
	b.t.Helper()
	var last messages.EntrySnapshot
	for _, msg := range b.Observer.Take() {
		if published, ok := msg.(messages.Publish); ok {
			last = published.Snapshot.(messages.EntrySnapshot)
		}
	}
	return last
}

// expectEnded checks that the Entry has ended for its Cache, its child, and status.
func (b *entryBench) expectEnded(cause error) {
	b.t.Helper()
	assert.Equal(b.t, messages.EntryClosed{From: b.entry.Ref(), Cause: cause}, actortest.Find[messages.EntryClosed](b.t, b.Parent))
	assert.Nil(b.t, b.System.Roster().Lookup(b.child.Ref()), "the child was not stopped")
	told := b.Observer.Take()
	assert.Equal(b.t, messages.Retract{Key: b.entry.ID()}, told[len(told)-1])
}
