package repl_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors/repl"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
)

func TestPoolThatIsToldToEndRefusesItsQueueAndTellsItsWorkers(t *testing.T) {
	for name, c := range map[string]struct {
		command any
		reason  error
	}{"close": {messages.Close{}, messages.ErrClosing}, "abort": {messages.Abort{}, messages.ErrAborted}} {
		poolBubble(t, name, single, func(b *poolBench) {
			w := b.open().started(1)[0]
			held, waiting := b.handed(w), b.call("y")
			b.pool.Send(c.command)
			assert.Equal(b.t, c.reason, waiting.err(b.t))
			b.expectSettled(waiting, messages.Broken)
			w.ExpectExactly(b.t, c.command)
			held.pending(b.t) // its worker answers
			b.answers(w, held, messages.Broken, nil)
			b.expectSettled(held, messages.Broken)
			b.closed(w)
			b.expectClosed()
			b.started(1)
		})
		poolBubble(t, name+" while starting", nil, func(b *poolBench) {
			for _, w := range b.started(2) {
				w.Take()
			}
			b.pool.Send(c.command)
			for _, w := range b.workers {
				w.ExpectExactly(b.t, c.command)
			}
			b.ready(b.workers[0]) // it crossed
			b.startFailed(b.workers[1], errStart)
			b.Parent.ExpectNothing(b.t)
			b.closed(b.workers[0])
			b.Parent.ExpectNothing(b.t)
			b.closed(b.workers[1])
			b.expectClosed()
		})
	}
	poolBubble(t, "abort after close", nil, func(b *poolBench) {
		b.closing().pool.Send(messages.Close{}) // it joins
		b.workers[0].ExpectNothing(b.t)
		b.pool.Send(messages.Abort{})
		b.workers[0].ExpectExactly(b.t, messages.Abort{})
	})
}

func TestPoolEndsOnlyWhenWhatPreparesItIsIn(t *testing.T) {
	var release chan struct{}
	poolBubble(t, "preparing", func(cfg *repl.PoolConfig) {
		release = make(chan struct{})
		gate := release
		cfg.Warm = func() []string { <-gate; return nil }
	}, func(b *poolBench) {
		b.pool.Send(messages.Close{})
		b.Parent.ExpectNothing(b.t)
		close(release)
		b.expectClosed()
		b.started(0)
	})
}

func TestEndingPoolGivesBackWhatItsWorkersNeverSent(t *testing.T) {
	for name, comeBack := range map[string]func(*poolBench, *actortest.Probe, poolCall){
		"returned":                 (*poolBench).returns,
		"crossed the worker's end": func(b *poolBench, w *actortest.Probe, _ poolCall) { b.closed(w) },
	} {
		poolBubble(t, name, nil, func(b *poolBench) {
			w := b.open().started(2)[0]
			c := b.handed(w)
			b.pool.Send(messages.Close{})
			comeBack(b, w, c)
			b.expectSettled(c, messages.Returned)
			c.pending(b.t)
		})
	}
	poolBubble(t, "of one that failed", single, func(b *poolBench) {
		w := b.open().started(1)[0]
		c := b.handed(w)
		b.pool.Send(messages.Close{})
		b.downed(w)
		assert.Equal(b.t, messages.KindOutcomeUnknown, messages.KindOf(c.err(b.t)))
		b.expectSettled(c, messages.Broken)
		b.treesGone(w)
		b.expectClosed()
	})
}

func TestFailingPoolAnswersEverythingItHolds(t *testing.T) {
	for name, fault := range faults {
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
			poolBubble(t, state+" by "+name, nil, func(b *poolBench) {
				reach(b)
				b.fail(fault)
			})
		}
		poolBubble(t, "open by "+name, single, func(b *poolBench) {
			held, waiting := b.handed(b.open().started(1)[0]), b.call("y")
			b.fail(fault)
			assert.Equal(b.t, messages.KindOutcomeUnknown, messages.KindOf(held.err(b.t)))
			assert.Equal(b.t, messages.KindInternal, messages.KindOf(waiting.err(b.t)), "it was never begun")
		})
	}
}

// fail makes the Pool fail at a message.
func (b *poolBench) fail(fault func()) {
	b.t.Helper()
	b.pool.Send(faulty{fault: fault})
	down := actortest.Find[messages.Down](b.t, b.Parent)
	assert.Equal(b.t, b.pool.Ref(), down.From)
	assert.Equal(b.t, down, actortest.Find[messages.Down](b.t, b.Supervisor))
	assert.ErrorIs(b.t, b.call("z").err(b.t), messages.ErrClosing)
}
