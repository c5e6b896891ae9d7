package repl_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors/repl"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
)

func TestFailedStartRefusesTheQueueOnlyWhenNothingElseWillServeIt(t *testing.T) {
	poolBubble(t, "another is warming", nil, func(b *poolBench) {
		workers := b.open().started(2)
		b.spend(workers[0])
		b.spend(workers[1])
		c := b.call("x")
		b.startFailed(b.started(4)[2], errStart)
		c.pending(b.t)
		b.ready(b.workers[3])
		b.expectHanded(b.workers[3], c)
	})
	poolBubble(t, "the last", nil, func(b *poolBench) {
		workers := b.open().started(2)
		b.spend(workers[0])
		b.spend(workers[1])
		c := b.call("x")
		b.startFailed(b.started(4)[2], errStart)
		b.startFailed(b.workers[3], errStart)
		assert.Equal(b.t, errStart, c.err(b.t))
		b.Parent.Take()
		assert.Equal(b.t, errStart.Error(), b.expect("open").Reason)
	})
}

// spend gives a worker a call, lets it be answered, and ends the worker.
func (b *poolBench) spend(w *actortest.Probe) {
	b.t.Helper()
	c := b.handed(w)
	b.answers(w, c, messages.Broken, nil)
	b.closed(w)
	require.NoError(b.t, c.err(b.t))
}

func TestStartThatFailedIsTriedAgainAfterItsBackoffAndForSomebody(t *testing.T) {
	poolBubble(t, "back-off", single, func(b *poolBench) {
		b.spend(b.open().started(1)[0])
		for n, backoff := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
			b.failLast(n + 2)
			c := b.callWithin(time.Minute, "x")
			pass(backoff*time.Second - 1)
			b.started(n + 2)
			pass(1)
			b.started(n + 3)
			c.pending(b.t)
		}
	})
	poolBubble(t, "not for nobody", single, func(b *poolBench) {
		b.spend(b.open().started(1)[0])
		b.failLast(2)
		pass(time.Hour)
		b.started(2)
		c := b.call("x")
		b.ready(b.started(3)[2])
		b.expectHanded(b.workers[2], c)
	})
}

// failLast fails the last start of n and clears it away.
func (b *poolBench) failLast(n int) {
	b.t.Helper()
	failed := b.started(n)[n-1]
	b.startFailed(failed, errStart)
	b.closed(failed)
}

func TestIdleWorkerThatEndsIsReplaced(t *testing.T) {
	ends := func(name string, lived time.Duration, end func(*poolBench, *actortest.Probe), atOnce bool) {
		poolBubble(t, name, single, func(b *poolBench) {
			w := b.open().started(1)[0]
			pass(lived)
			end(b, w)
			w.ExpectNothing(b.t)
			c := b.call("x")
			c.pending(b.t)
			assert.Equal(b.t, 1, b.expect("open").Restarts)
			b.closed(w)
			if !atOnce {
				b.started(1)
				pass(time.Second)
			}
			b.ready(b.started(2)[1])
			b.expectHanded(b.workers[1], c)
		})
	}
	ending := func(b *poolBench, w *actortest.Probe) { b.pool.Send(messages.Ending{From: w.Ref(), Err: errStart}) }
	ends("after long", time.Hour, ending, true)
	ends("at once, with a back-off", 0, ending, false)
	ends("by a failure of its actor", time.Hour, (*poolBench).downed, true)
	ends("by a failure of its actor, at once", 0, (*poolBench).downed, false)
}

func TestWorkerThatFailsMayHaveRunItsCall(t *testing.T) {
	poolBubble(t, "down", single, func(b *poolBench) {
		w := b.open().started(1)[0]
		c, waiting := b.handed(w), b.call("y")
		b.downed(w)
		var run *messages.RunError
		require.ErrorAs(b.t, c.err(b.t), &run)
		assert.True(b.t, run.Sent)
		b.expectSettled(c, messages.Healthy)
		b.closed(b.Parent) // not of a worker of ours
		b.started(1)       // the slot stays taken
		b.treesGone(w)
		b.ready(b.started(2)[1])
		b.expectHanded(b.workers[1], waiting)
		b.pool.Send(repl.Answer(w.Ref(), waiting.ID, messages.RunReport{}, nil)) // of the dead
		waiting.pending(b.t)
	})
	poolBubble(t, "down while warming", nil, func(b *poolBench) {
		workers := b.started(2)
		b.downed(workers[0])
		b.treesGone(workers[0])
		b.Parent.ExpectNothing(b.t)
		b.ready(workers[1])
		b.Parent.ExpectExactly(b.t, messages.Ready{From: b.pool.Ref()})
	})
	poolBubble(t, "trees gone, of which nothing was heard before", single, func(b *poolBench) {
		w := b.open().started(1)[0]
		c := b.handed(w)
		b.treesGone(w)
		assert.Equal(b.t, messages.KindOutcomeUnknown, messages.KindOf(c.err(b.t)))
		b.started(2)
	})
}

func TestWaitingCallIsRefusedWhenItsTimeIsOver(t *testing.T) {
	poolBubble(t, "its own", single, func(b *poolBench) {
		b.handed(b.open().started(1)[0])
		c := b.call("y")
		pass(timeout)
		var busy *messages.BusyError
		require.ErrorAs(b.t, c.err(b.t), &busy)
		assert.Equal(b.t, messages.BusyError{Project: key.Root, Waited: timeout, Reason: messages.WorkerQueue}, *busy)
		b.expectSettled(c, messages.Healthy)
		assert.Zero(b.t, b.expect("open").Waiting)
	})
	poolBubble(t, "its caller left", single, func(b *poolBench) {
		b.handed(b.open().started(1)[0])
		c := b.call("y")
		c.cancel()
		assert.Equal(b.t, messages.KindCancelled, messages.KindOf(c.err(b.t)))
		b.expectSettled(c, messages.Healthy)
	})
}

func TestPoolThatIsNotOpenGivesCallsBack(t *testing.T) {
	for state, reach := range map[string]func(*poolBench){
		"starting": func(b *poolBench) { b.started(2) },
		"closing":  func(b *poolBench) { b.closing() },
		"closed": func(b *poolBench) {
			b.closing()
			b.closed(b.workers[0])
			b.closed(b.workers[1])
			b.expectClosed()
		},
	} {
		poolBubble(t, state, nil, func(b *poolBench) {
			reach(b)
			c := b.call("x")
			b.expectSettled(c, messages.Returned)
			c.pending(b.t)
		})
	}
}
