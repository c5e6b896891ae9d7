package cache_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
)

func TestCreatingEntryKeepsLeasesUntilItsChildIsReady(t *testing.T) {
	entryBubble(t, "keep and forward", func(t *testing.T, b *entryBench) {
		first, second := b.lease(within(time.Minute)), b.lease()
		b.child.ExpectNothing(t)
		kept := b.snapshot()
		assert.Equal(t, 2, kept.Kept)
		assert.False(t, kept.Warm)
		b.resident()
		b.child.ExpectExactly(t, first, second)
		forwarded := b.snapshot()
		assert.True(t, forwarded.Warm)
		assert.Zero(t, forwarded.Kept)
		time.Sleep(2 * time.Hour)
		first.pending(t)
		b.Parent.ExpectNothing(t)
	})
	entryBubble(t, "its time to wait", func(t *testing.T, b *entryBench) {
		late, other := b.lease(within(time.Minute)), b.lease()
		time.Sleep(time.Minute)
		isBusy(t, late.err(t), messages.CreationBudget, time.Minute)
		b.Parent.ExpectExactly(t, b.released(late, messages.Healthy, nil))
		assert.Equal(t, 1, b.snapshot().Kept)
		b.resident()
		b.child.ExpectExactly(t, other)
	})
	entryBubble(t, "the caller left", func(t *testing.T, b *entryBench) {
		ctx, cancel := context.WithCancel(t.Context())
		left := b.lease(under(ctx))
		cancel()
		assert.Equal(t, messages.KindCancelled, messages.KindOf(left.err(t)))
		b.Parent.ExpectExactly(t, b.released(left, messages.Healthy, nil))
		b.child.ExpectNothing(t) // the creation goes on for the next caller
	})
	entryBubble(t, "start failed", func(t *testing.T, b *entryBench) {
		first, second := b.lease(), b.lease()
		b.entry.Send(messages.StartFailed{From: b.child.Ref(), Err: errBroken})
		assert.ErrorIs(t, first.err(t), errBroken)
		assert.ErrorIs(t, second.err(t), errBroken)
		b.Parent.ExpectExactly(t, b.released(first, messages.Broken, errBroken), b.released(second, messages.Broken, errBroken))
		assert.True(t, b.snapshot().Ending)
		b.entry.Send(messages.Closed{From: b.child.Ref()})
		b.expectEnded(errBroken)
	})
	entryBubble(t, "child down", func(t *testing.T, b *entryBench) {
		first := b.lease()
		reason := &messages.PanicError{Actor: "session", Value: "boom"}
		b.entry.Send(messages.Down{From: b.child.Ref(), Reason: reason})
		assert.Equal(t, error(reason), first.err(t), "what never reached it is no unknown outcome")
		b.Parent.ExpectExactly(t, b.released(first, messages.Broken, reason))
		b.entry.Send(messages.TreesGone{From: b.child.Ref()})
		b.expectEnded(reason)
	})
	for name, command := range map[string]any{"close": messages.Close{}, "abort": messages.Abort{}} {
		entryBubble(t, name, func(t *testing.T, b *entryBench) {
			first := b.lease()
			b.entry.Send(command)
			b.child.ExpectExactly(t, command)
			reason := map[string]error{"close": messages.ErrClosing, "abort": messages.ErrAborted}[name]
			assert.Equal(t, reason, first.err(t))
			b.Parent.ExpectExactly(t, b.released(first, messages.Broken, reason))
			assert.True(t, b.snapshot().Ending)
		})
	}
	entryBubble(t, "closed unasked", func(t *testing.T, b *entryBench) {
		first := b.lease()
		b.entry.Send(messages.Closed{From: b.child.Ref()})
		assert.ErrorIs(t, first.err(t), messages.ErrClosing)
		b.expectEnded(nil)
	})
}

func TestResidentEntryForwardsWithACopy(t *testing.T) {
	entryBubble(t, "healthy", func(t *testing.T, b *entryBench) {
		b.resident()
		b.snapshot()
		first := b.forwarded()
		b.settle(first, messages.Healthy, nil)
		b.Parent.ExpectExactly(t, b.released(first, messages.Healthy, nil))
		b.settle(first, messages.Healthy, nil)
		b.Parent.ExpectNothing(t)
		b.Observer.ExpectNothing(t) // a call on a warm key is its resource's to publish
	})
	for _, verdict := range []messages.Verdict{messages.Broken, messages.Returned} {
		entryBubble(t, verdict.String(), func(t *testing.T, b *entryBench) {
			b.resident()
			first, second := b.forwarded(), b.forwarded()
			b.settle(first, verdict, errBroken)
			b.Parent.ExpectExactly(t, b.released(first, verdict, errBroken))
			b.child.ExpectExactly(t, messages.Close{})
			assert.True(t, b.snapshot().Ending)
			b.settle(second, messages.Broken, nil)
			b.Parent.ExpectExactly(t, b.released(second, messages.Broken, nil))
			b.entry.Send(messages.Closed{From: b.child.Ref()})
			b.expectEnded(errBroken)
		})
	}
	entryBubble(t, "ending", func(t *testing.T, b *entryBench) {
		b.resident()
		first := b.forwarded()
		b.entry.Send(messages.Ending{From: b.child.Ref(), Err: errBroken})
		b.Parent.ExpectNothing(t)
		first.pending(t)
		late := b.lease()
		b.child.ExpectNothing(t)
		b.Parent.ExpectExactly(t, b.released(late, messages.Returned, errBroken))
		b.settle(first, messages.Broken, errBroken)
		b.Parent.ExpectExactly(t, b.released(first, messages.Broken, errBroken))
	})
	entryBubble(t, "child down", func(t *testing.T, b *entryBench) {
		b.resident()
		first := b.forwarded()
		b.entry.Send(messages.Down{From: b.child.Ref(), Reason: errBroken})
		err := first.err(t)
		assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(err))
		assert.ErrorIs(t, err, errBroken)
		assert.Equal(t, messages.Broken, actortest.Next[messages.LeaseReleased](t, b.Parent).Verdict)
		b.settle(first, messages.Healthy, nil)
		b.entry.Send(messages.TreesGone{From: b.child.Ref()})
		b.expectEnded(errBroken)
	})
	entryBubble(t, "abort", func(t *testing.T, b *entryBench) {
		b.resident()
		first := b.forwarded()
		b.entry.Send(messages.Abort{})
		b.child.ExpectExactly(t, messages.Abort{})
		first.pending(t) // its child has it, and answers
		b.settle(first, messages.Broken, messages.ErrAborted)
		b.Parent.ExpectExactly(t, b.released(first, messages.Broken, messages.ErrAborted))
		b.entry.Send(messages.Closed{From: b.child.Ref()})
		b.expectEnded(nil)
	})
	entryBubble(t, "close", func(t *testing.T, b *entryBench) {
		b.resident()
		b.closing()
		assert.True(t, b.snapshot().Ending)
	})
	entryBubble(t, "closed with something unsettled", func(t *testing.T, b *entryBench) {
		b.resident()
		first := b.forwarded()
		b.entry.Send(messages.Closed{From: b.child.Ref()})
		first.pending(t)
		b.Parent.ExpectExactly(t, b.released(first, messages.Returned, messages.ErrClosing), messages.EntryClosed{From: b.entry.Ref()})
	})
	entryBubble(t, "trees gone with something unsettled", func(t *testing.T, b *entryBench) {
		b.resident()
		first := b.forwarded()
		b.entry.Send(messages.TreesGone{From: b.child.Ref()})
		assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(first.err(t)))
		b.expectEnded(nil)
	})
}

func TestClosingEntryGivesLeasesBackAndWaitsForItsChild(t *testing.T) {
	entryBubble(t, "lease", func(t *testing.T, b *entryBench) {
		b.closing()
		late := b.lease()
		late.pending(t)
		b.Parent.ExpectExactly(t, b.released(late, messages.Returned, messages.ErrClosing))
	})
	entryBubble(t, "abort, and what joins", func(t *testing.T, b *entryBench) {
		b.closing()
		b.entry.Send(messages.Abort{})
		b.child.ExpectExactly(t, messages.Abort{})
		child := b.child.Ref()
		for _, joins := range []any{
			messages.Close{}, messages.Ready{From: child}, messages.StartFailed{From: child, Err: errBroken},
			messages.Ending{From: child, Err: errBroken},
		} {
			b.entry.Send(joins)
		}
		b.child.ExpectNothing(t)
		b.Parent.ExpectNothing(t)
	})
	entryBubble(t, "child down", func(t *testing.T, b *entryBench) {
		b.resident()
		first := b.forwarded()
		b.entry.Send(messages.Abort{})
		b.entry.Send(messages.Down{From: b.child.Ref(), Reason: errBroken})
		assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(first.err(t)))
		b.Parent.Take()
		b.entry.Send(messages.TreesGone{From: b.child.Ref()})
		b.expectEnded(errBroken)
	})
	entryBubble(t, "child down while it ends by itself", func(t *testing.T, b *entryBench) {
		b.resident()
		b.entry.Send(messages.Ending{From: b.child.Ref(), Err: errBroken})
		b.entry.Send(messages.Down{From: b.child.Ref(), Reason: messages.ErrAborted})
		b.entry.Send(messages.TreesGone{From: b.child.Ref()})
		b.expectEnded(errBroken)
	})
	entryBubble(t, "closed, and then a lease", func(t *testing.T, b *entryBench) {
		b.closing()
		b.entry.Send(messages.Closed{From: b.child.Ref()})
		b.expectEnded(nil)
		late := b.lease()
		late.pending(t)
		b.Parent.ExpectExactly(t, b.released(late, messages.Returned, messages.ErrClosing))
		b.entry.Send(messages.Republish{})
		b.entry.Send(messages.Abort{})
		b.Observer.ExpectNothing(t)
	})
}

func TestEntryHearsNobodyButItsChild(t *testing.T) {
	entryBubble(t, "strangers", func(t *testing.T, b *entryBench) {
		b.resident()
		first := b.forwarded()
		stranger := b.Supervisor.Handle.Ref()
		for _, msg := range []any{
			messages.Settled{From: stranger, ID: first.ID, Verdict: messages.Healthy},
			messages.Ending{From: stranger, Err: errBroken}, messages.Down{From: stranger, Reason: errBroken},
			messages.Closed{From: stranger}, messages.TreesGone{From: stranger},
		} {
			b.entry.Send(msg)
		}
		b.Parent.ExpectNothing(t)
		first.pending(t)
	})
	entryBubble(t, "strangers while it is created", func(t *testing.T, b *entryBench) {
		stranger := b.Supervisor.Handle.Ref()
		b.entry.Send(messages.Ready{From: stranger})
		b.entry.Send(messages.StartFailed{From: stranger, Err: errBroken})
		b.Parent.ExpectNothing(t)
		b.Observer.ExpectNothing(t)
	})
}

func TestOutdatedEntryShowsIt(t *testing.T) {
	entryBubble(t, "outdated", func(t *testing.T, b *entryBench) {
		b.entry.Send(messages.Outdated{})
		assert.True(t, b.snapshot().Stale)
		b.entry.Send(messages.Republish{})
		assert.True(t, b.snapshot().Stale)
	})
}
