package repl_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors/repl"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
)

var errStart = errors.New("no module named Mathlib")

func TestStartingPoolOpensWithItsFirstWarmWorker(t *testing.T) {
	poolBubble(t, "first", nil, func(b *poolBench) {
		workers := b.started(2)
		b.ready(workers[1])
		b.Parent.ExpectExactly(b.t, messages.Ready{From: b.pool.Ref()})
		assert.Equal(b.t, 1, b.expect("open").Warm)
	})
	poolBubble(t, "what it warms up is asked once", func(cfg *repl.PoolConfig) {
		asked := 0
		cfg.Warm = func() []string { asked++; assert.Equal(t, 1, asked); return nil }
	}, func(b *poolBench) { b.started(2) })
	poolBubble(t, "one of two fails", nil, func(b *poolBench) {
		workers := b.started(2)
		b.startFailed(workers[0], errStart)
		b.closed(workers[0])
		b.Parent.ExpectNothing(b.t)
		b.ready(workers[1])
		b.Parent.ExpectExactly(b.t, messages.Ready{From: b.pool.Ref()})
		b.started(2) // a program that fails is not tried again for nobody
	})
}

func TestPoolOfWhichNoWorkerComesToBeReportsTheReason(t *testing.T) {
	poolBubble(t, "the last fails", nil, func(b *poolBench) {
		workers := b.started(2)
		b.startFailed(workers[0], errors.New("another"))
		b.startFailed(workers[1], errStart)
		b.Parent.ExpectExactly(b.t, messages.StartFailed{From: b.pool.Ref(), Err: errStart})
		assert.Equal(b.t, errStart.Error(), b.expect("closing").Reason)
		b.closed(workers[0])
		b.Parent.ExpectNothing(b.t)
		b.closed(workers[1])
		b.expectClosed()
	})
	poolBubble(t, "the last is down", single, func(b *poolBench) {
		w := b.started(1)[0]
		b.downed(w)
		assert.Equal(b.t, messages.KindInternal, messages.KindOf(actortest.Next[messages.StartFailed](b.t, b.Parent).Err))
		b.treesGone(w)
		b.expectClosed()
	})
	for name, fault := range faults {
		poolBubble(t, "preparing fails by "+name, func(cfg *repl.PoolConfig) {
			cfg.Warm = func() []string { fault(); return nil }
		}, func(b *poolBench) {
			b.started(0)
			assert.Equal(b.t, messages.KindInternal, messages.KindOf(actortest.Next[messages.StartFailed](b.t, b.Parent).Err))
			b.expectClosed()
		})
	}
}

func TestCallsAreHandedToWarmWorkersInTheirOrder(t *testing.T) {
	poolBubble(t, "order", nil, func(b *poolBench) {
		workers := b.open().started(2)
		b.handed(workers[0])
		second := b.handed(workers[1])
		third, fourth := b.call("x"), b.call("x")
		snapshot := b.expect("open")
		assert.Equal(b.t, [3]int{2, 2, 0}, [3]int{snapshot.Active, snapshot.Waiting, snapshot.Warm})
		b.answers(workers[1], second, messages.Broken, nil)
		b.closed(workers[1])
		third.pending(b.t)
		b.ready(b.started(3)[2])
		b.expectHanded(b.workers[2], third)
		fourth.pending(b.t)
	})
}

func TestCallerWhoHasItsAnswerSeesItInStatus(t *testing.T) {
	poolBubble(t, "published first", nil, func(b *poolBench) {
		w := b.open().started(2)[0]
		c := b.handed(w)
		assert.Equal(b.t, 1, b.expect("open").Active)
		b.pool.Send(repl.Answer(w.Ref(), c.ID, messages.RunReport{Result: "42"}, nil))
		snapshot := b.expect("open")
		assert.Zero(b.t, snapshot.Active)
		assert.Equal(b.t, time.Now(), snapshot.LastUsed)
		assert.Equal(b.t, "42", (<-c.Reply.Answer()).Value.Result)
		b.expectSettled(c, messages.Healthy)
	})
}

func TestHeaderThatIsRefusedTouchesNoWorker(t *testing.T) {
	header := func(cfg *repl.PoolConfig) {
		cfg.Header = &repl.HeaderConfig{Allowed: []string{"Good"}}
		cfg.Header.Spec.Argv = []string{"lean"}
	}
	poolBubble(t, "disallowed", header, func(b *poolBench) {
		b.open()
		c := b.call("import Evil")
		var refused *messages.ImportError
		require.ErrorAs(b.t, c.err(b.t), &refused)
		assert.Equal(b.t, []string{"Evil"}, refused.Disallowed)
		b.expectSettled(c, messages.Healthy)
		for _, w := range b.workers {
			w.ExpectNothing(b.t)
		}
	})
	poolBubble(t, "what was learned of a header is asked once", header, func(b *poolBench) {
		w := b.open().started(2)[0]
		const code = "import Good\nx"
		c := b.call(code)
		_, decision := actortest.Next[repl.Assignment](b.t, w).Parts()
		assert.True(b.t, decision.Check)
		b.pool.Send(repl.Learn(code, repl.HeaderOutput{Stdout: []byte(goodHeader)}))
		b.answers(w, c, messages.Healthy, nil)
		b.call(code)
		_, decision = actortest.Next[repl.Assignment](b.t, b.workers[1]).Parts()
		assert.Equal(b.t, &repl.Request{Code: code, Header: messages.Header{Imports: []string{"Good"}}}, decision.Run)
	})
}

func TestWorkerIsGoodForAnotherCallOnlyWhereItSaysSo(t *testing.T) {
	both := func(cfg *repl.PoolConfig) { single(cfg); resident(cfg) }
	poolBubble(t, "resident", both, func(b *poolBench) {
		w := b.open().started(1)[0]
		first := b.handed(w)
		second := b.call("y")
		b.answers(w, first, messages.Healthy, nil)
		b.expectHanded(w, second)
		b.expectSettled(first, messages.Healthy)
	})
	poolBubble(t, "fresh, of which the child saw nothing", single, func(b *poolBench) {
		w := b.open().started(1)[0]
		first := b.handed(w)
		second := b.call("y")
		b.answers(w, first, messages.Healthy, nil)
		b.expectHanded(w, second)
	})
	for name, c := range map[string]struct {
		change   func(*repl.PoolConfig)
		cause    error
		restarts int
	}{
		"fresh":         {single, nil, 0},
		"over a limit":  {both, errors.New("replaced at 190 MiB of memory"), 1},
		"fresh, failed": {single, errors.New("process 7 ended"), 1},
	} {
		poolBubble(t, "spent: "+name, c.change, func(b *poolBench) {
			w := b.open().started(1)[0]
			first := b.handed(w)
			second := b.call("y")
			b.answers(w, first, messages.Broken, c.cause)
			b.expectSettled(first, messages.Healthy)
			w.ExpectNothing(b.t)
			assert.Equal(b.t, c.restarts, b.expect("open").Restarts)
			b.started(1) // its slot waits for its tree
			b.closed(w)
			b.ready(b.started(2)[1])
			b.expectHanded(b.workers[1], second)
			assert.Nil(b.t, b.System.Roster().Lookup(w.Ref()), "its actor has ended")
		})
	}
}

func TestCallThatItsChildNeverSawGoesBackToItsPlace(t *testing.T) {
	for name, comeBack := range map[string]func(*poolBench, *actortest.Probe, poolCall){
		"returned":                 func(b *poolBench, w *actortest.Probe, c poolCall) { b.returns(w, c); b.closed(w) },
		"crossed the worker's end": func(b *poolBench, w *actortest.Probe, _ poolCall) { b.closed(w) },
		"crossed its ending": func(b *poolBench, w *actortest.Probe, c poolCall) {
			b.pool.Send(messages.Ending{From: w.Ref(), Err: errStart})
			b.returns(w, c)
			b.closed(w)
		},
	} {
		poolBubble(t, name, single, func(b *poolBench) {
			w := b.open().started(1)[0]
			first := b.handed(w)
			second := b.call("y")
			comeBack(b, w, first)
			first.pending(b.t)
			b.ready(b.started(2)[1])
			b.expectHanded(b.workers[1], first)
			second.pending(b.t)
			b.returns(w, first) // a late word of the worker that is gone
			first.pending(b.t)
		})
	}
	poolBubble(t, "and is refused where its time is over by then", single, func(b *poolBench) {
		w := b.open().started(1)[0]
		c := b.handed(w)
		pass(timeout)
		c.pending(b.t) // its worker has it
		b.returns(w, c)
		assert.Equal(b.t, messages.KindBusy, messages.KindOf(c.err(b.t)))
		b.expectSettled(c, messages.Healthy)
	})
}
