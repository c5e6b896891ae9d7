package repl_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/repl"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
)

// poolBench is one Pool whose Workers are probes; the harness's Parent plays its Entry.
type poolBench struct {
	*actortest.Harness
	t       *testing.T
	pool    *actors.Handle
	workers []*actortest.Probe // as far as started has looked, in the order of their starts

	mu    sync.Mutex
	spawn []*actortest.Probe // all of them; the Pool adds to it at times of its own
}

// poolBubble runs a test on a pool of two workers.
func poolBubble(t *testing.T, name string, change func(*repl.PoolConfig), test func(*poolBench)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := &poolBench{Harness: actortest.New(t), t: t}
			cfg := repl.PoolConfig{Key: key, Workers: 2}
			if change != nil {
				change(&cfg)
			}
			b.pool = b.Spawn("pool", "0", repl.NewPoolWith(cfg, b.newWorker))
			b.Observer.Take()
			test(b)
		})
	})
}

func resident(cfg *repl.PoolConfig) { cfg.Resident = true }

func single(cfg *repl.PoolConfig) { cfg.Workers = 1 }

func (b *poolBench) newWorker() func(*actors.Self) actors.Behaviour {
	probe, create := actortest.Child("worker")
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spawn = append(b.spawn, probe)
	return create
}

// look takes note of the workers that were started so far.
func (b *poolBench) look() []*actortest.Probe {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.workers = slices.Clone(b.spawn)
	return b.workers
}

// started gives the workers that were started so far, which must be n.
func (b *poolBench) started(n int) []*actortest.Probe {
	b.t.Helper()
	require.Len(b.t, b.look(), n, "workers started")
	return b.workers
}

func (b *poolBench) ready(workers ...*actortest.Probe) {
	for _, w := range workers {
		b.pool.Send(messages.Ready{From: w.Ref()})
	}
}

func (b *poolBench) startFailed(w *actortest.Probe, err error) {
	b.pool.Send(messages.StartFailed{From: w.Ref(), Err: err})
}

func (b *poolBench) closed(w *actortest.Probe) { b.pool.Send(messages.Closed{From: w.Ref()}) }

// open brings the Pool to Open with all its workers warm.
func (b *poolBench) open() *poolBench {
	b.t.Helper()
	b.ready(b.look()...)
	b.Parent.ExpectExactly(b.t, messages.Ready{From: b.pool.Ref()})
	b.expect("open")
	return b
}

func (b *poolBench) closing() *poolBench {
	b.t.Helper()
	b.open().pool.Send(messages.Close{})
	for _, w := range b.workers {
		w.ExpectExactly(b.t, messages.Close{})
	}
	b.expect("closing")
	return b
}

// poolCall is one call with its caller's context.
type poolCall struct {
	messages.RunCode
	cancel context.CancelFunc
}

func (b *poolBench) call(code string) poolCall { return b.callWithin(timeout, code) }

func (b *poolBench) callWithin(limit time.Duration, code string) poolCall {
	ctx, cancel := context.WithCancel(context.Background())
	b.t.Cleanup(cancel)
	op := messages.RunCode{Head: messages.Head{ID: messages.OperationID(b.System.NextID()), Key: key, Ctx: ctx, Timeout: limit},
		Code: code, Reply: messages.NewReplyTo[messages.RunReport]()}
	b.pool.Send(op)
	return poolCall{op, cancel}
}

// handed makes a call that the worker gets.
func (b *poolBench) handed(w *actortest.Probe) poolCall {
	b.t.Helper()
	c := b.call("x")
	b.expectHanded(w, c)
	return c
}

func (b *poolBench) expectHanded(w *actortest.Probe, c poolCall) {
	b.t.Helper()
	op, _ := actortest.Next[repl.Assignment](b.t, w).Parts()
	assert.Equal(b.t, c.ID, op.ID)
}

// answers brings a worker's answer, and what its child is good for after it.
func (b *poolBench) answers(w *actortest.Probe, c poolCall, verdict messages.Verdict, cause error) {
	b.pool.Send(repl.Answer(w.Ref(), c.ID, messages.RunReport{Result: c.Code}, nil))
	b.pool.Send(messages.Settled{From: w.Ref(), Verdict: verdict, Cause: cause})
}

func (b *poolBench) returns(w *actortest.Probe, c poolCall) {
	b.pool.Send(messages.Settled{From: w.Ref(), ID: c.ID, Verdict: messages.Returned})
}

func (b *poolBench) downed(w *actortest.Probe) {
	b.pool.Send(messages.Down{From: w.Ref(), Reason: &messages.PanicError{Actor: "worker", Value: "boom"}})
}

func (b *poolBench) treesGone(w *actortest.Probe) { b.pool.Send(messages.TreesGone{From: w.Ref()}) }

// err is the refusal that a call has got by now.
func (c poolCall) err(t *testing.T) error {
	t.Helper()
	synctest.Wait()
	require.Len(t, c.Reply.Answer(), 1, "the call has no answer")
	return (<-c.Reply.Answer()).Err
}

func (c poolCall) pending(t *testing.T) {
	t.Helper()
	synctest.Wait()
	assert.Empty(t, c.Reply.Answer(), "the call has an answer")
}

// expectSettled takes the Entry's next message.
func (b *poolBench) expectSettled(c poolCall, verdict messages.Verdict) {
	b.t.Helper()
	settled := actortest.Next[messages.Settled](b.t, b.Parent)
	settled.Cause = nil
	assert.Equal(b.t, messages.Settled{From: b.pool.Ref(), ID: c.ID, Verdict: verdict}, settled)
}

func (b *poolBench) expectClosed() {
	b.t.Helper()
	b.Parent.ExpectExactly(b.t, messages.Closed{From: b.pool.Ref()})
}

// expect checks the state that the Pool last published, and gives the snapshot.
func (b *poolBench) expect(state string) messages.PoolSnapshot {
	b.t.Helper()
	for _, msg := range slices.Backward(b.Observer.Take()) {
		published, ok := msg.(messages.Publish)
		if ok && strings.HasPrefix(published.Key, "pool/") {
			snapshot := published.Snapshot.(messages.PoolSnapshot)
			assert.Equal(b.t, state, snapshot.State)
			return snapshot
		}
	}
	require.Fail(b.t, "nothing was published", "expected %s", state)
	return messages.PoolSnapshot{}
}

// pass lets the bubble's time pass.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
