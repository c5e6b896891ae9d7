package lsp_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/fakes"
)

func oneSlot(cfg *lsp.SessionConfig) { cfg.Parallel = 1 }

// occupied takes the only slot by a call that goes on until it is released.
func (b *bench) occupied() (release func()) {
	b.t.Helper()
	b.ready()
	release = b.wire.Hold("workspace/symbol", fakes.Answer{})
	b.query(messages.Query{Method: "workspace/symbol"}, within(24*time.Hour)).pending(b.t)
	return release
}

func TestQueuedCallIsAnsweredWhenItsTimeEnds(t *testing.T) {
	bubble(t, "its own", func(t *testing.T, b *bench) {
		release := b.occupied()
		call := b.hover(b.write("a.go", "x"), within(time.Minute))
		time.Sleep(time.Minute - 1)
		call.pending(t)
		time.Sleep(time.Nanosecond)
		err := call.err(t)
		assert.Equal(t, &messages.BusyError{Project: b.cfg.Key.Root, Waited: time.Minute, Reason: messages.SessionQueue}, err)
		b.Parent.ExpectExactly(t, b.settled(call.id, messages.Healthy, nil))
		assert.Zero(t, b.snapshot().Waiting)
		b.methods()
		release()
		assert.Empty(t, b.methods(), "it is not run after its answer")
	}, oneSlot)
	bubble(t, "its caller's deadline", func(t *testing.T, b *bench) {
		b.occupied()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		call := b.hover(b.write("a.go", "x"), under(ctx))
		time.Sleep(time.Second)
		assert.Equal(t, messages.KindBusy, messages.KindOf(call.err(t)))
	}, oneSlot)
	bubble(t, "each at its own", func(t *testing.T, b *bench) {
		b.occupied()
		path := b.write("a.go", "x")
		late, early := b.hover(path, within(3*time.Second)), b.hover(path, within(time.Second))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		middle := b.hover(path, under(ctx))
		for _, call := range []asked[messages.HoverReport]{early, middle, late} {
			call.pending(t)
			time.Sleep(time.Second)
			call.err(t)
		}
		assert.Equal(t, []messages.OperationID{early.id, middle.id, late.id}, b.settledNow())
	}, oneSlot)
	for name, cause := range map[string]error{"cancelled": nil, "cancelled for a reason": errors.New("the client hung up")} {
		bubble(t, name, func(t *testing.T, b *bench) {
			b.occupied()
			ctx, cancel := context.WithCancelCause(t.Context())
			call := b.hover(b.write("a.go", "x"), under(ctx))
			cancel(cause)
			err := call.err(t)
			assert.Equal(t, messages.KindCancelled, messages.KindOf(err))
			assert.ErrorIs(t, err, context.Cause(ctx))
			b.Parent.ExpectExactly(t, b.settled(call.id, messages.Healthy, nil))
		}, oneSlot)
	}
}

func TestRunningCallTimesOutWithTheLastProgressAndWhatWasPublished(t *testing.T) {
	progress := lsp.Progress{Token: "1", Title: "indexing", Text: "3 of 7"}
	quiet := func(cfg *lsp.SessionConfig) { cfg.Profile.Complete = lsp.CompleteQuiet }
	bubble(t, "diagnostics", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.Finds(findsTheText(2500 * time.Millisecond))
		path := b.write("a.go", "so far")
		call := b.diagnose(path, within(3*time.Second))
		b.wire.Tell(progress)
		time.Sleep(3 * time.Second)
		var late *messages.TimeoutError
		require.ErrorAs(t, call.err(t), &late)
		assert.EqualError(t, late, "timed out after 3s (last progress: indexing 3 of 7)")
		partial := late.Partial.(messages.DiagnosticsReport)
		assert.Equal(t, []string{"so far"}, found(partial))
		partial.Diagnostics = nil
		assert.Equal(t, messages.DiagnosticsReport{File: path, Version: 1, Server: "fake", Duration: 3 * time.Second}, partial)
	}, quiet)
	bubble(t, "nothing was published", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.Finds(func(string) (string, time.Duration) { return "", 0 })
		call := b.diagnose(b.write("a.go", "x"), within(3*time.Second))
		time.Sleep(3 * time.Second)
		assert.Equal(t, &messages.TimeoutError{After: 3 * time.Second}, call.err(t), "never clean")
	}, quiet)
	bubble(t, "the caller's deadline", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.Hold("textDocument/hover", fakes.Answer{})
		b.wire.Tell(progress)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		call := b.hover(b.write("a.go", "x"), under(ctx))
		time.Sleep(time.Second)
		assert.Equal(t, &messages.TimeoutError{After: time.Second, Progress: "indexing 3 of 7"}, call.err(t))
		assert.Contains(t, b.methods(), "$/cancelRequest")
	})
	bubble(t, "cancelled", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.Hold("textDocument/hover", fakes.Answer{})
		ctx, cancel := context.WithCancel(t.Context())
		call := b.hover(b.write("a.go", "x"), under(ctx))
		cancel()
		err := call.err(t)
		assert.Equal(t, messages.KindCancelled, messages.KindOf(err))
		b.Parent.ExpectExactly(t, b.settled(call.id, messages.Healthy, nil))
		assert.Zero(t, b.snapshot().Active)
	})
}

func TestCallWhoseWorkerIsLateIsAnsweredAndKeepsItsSlotUntilThatIsIn(t *testing.T) {
	bubble(t, "a disk that hangs", func(t *testing.T, b *bench) {
		b.ready()
		path := b.write("a.go", "x")
		release := b.holdRead(path)
		call, next := b.hover(path), b.hover(b.write("b.go", "x"), within(time.Hour))
		time.Sleep(timeout)
		call.pending(t)
		time.Sleep(lsp.WorkerGrace)
		assert.Equal(t, &messages.TimeoutError{After: timeout + lsp.WorkerGrace}, call.err(t))
		time.Sleep(time.Minute)
		b.Parent.ExpectNothing(t) // and no server is judged for a disk
		assert.Equal(t, 1, b.snapshot().Active)
		assert.Empty(t, b.methods())
		release()
		next.ok(t)
		assert.Equal(t, []messages.OperationID{call.id, next.id}, b.settledNow())
		assert.Equal(t, []string{"textDocument/didOpen", "textDocument/hover"}, b.methods(), "nothing is sent for a call that was answered")
	}, oneSlot)
	bubble(t, "its caller's deadline", func(t *testing.T, b *bench) {
		b.ready()
		path := b.write("a.go", "x")
		b.holdRead(path)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		call := b.hover(path, under(ctx))
		time.Sleep(time.Second + lsp.WorkerGrace)
		assert.Equal(t, &messages.TimeoutError{After: time.Second + lsp.WorkerGrace}, call.err(t))
	})
	bubble(t, "in the queue, to be asked anew", func(t *testing.T, b *bench) {
		b.ready()
		path := b.write("a.go", "x")
		release := b.wire.Hold("textDocument/hover", fakes.Answer{Err: &lsp.ResponseError{Code: -32801, Message: "content modified"}})
		call := b.hover(path)
		b.holdRead(path)
		b.hover(path, within(time.Hour)).pending(t)
		release()
		call.pending(t)
		assert.Equal(t, 1, b.shown().Waiting)
		time.Sleep(timeout)
		assert.Equal(t, messages.KindTimeout, messages.KindOf(call.err(t)), "it was not refused a turn")
	})
	bubble(t, "back in the queue meanwhile", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.Finds(findsTheText(time.Minute))
		path := b.write("a.go", "one")
		first := b.diagnose(path, within(time.Hour))
		b.write("a.go", "two")
		release := b.holdRead(path)
		second := b.diagnose(path)
		time.Sleep(timeout + lsp.WorkerGrace/2)
		second.pending(t)
		release()
		assert.Equal(t, messages.KindBusy, messages.KindOf(second.err(t)))
		b.Parent.ExpectExactly(t, b.settled(second.id, messages.Healthy, nil))
		assert.Zero(t, b.snapshot().Waiting)
		time.Sleep(time.Minute)
		first.ok(t)
		assert.Equal(t, []messages.OperationID{first.id}, b.settledNow())
		assert.Equal(t, 1, b.wire.Count("textDocument/didOpen"))
		assert.Zero(t, b.wire.Count("textDocument/didChange"))
	})
	bubble(t, "a Wire that takes its time", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.On("textDocument/hover", fakes.Answer{Do: func(fakes.Sent) (any, error) {
			time.Sleep(time.Hour)
			return nil, nil
		}})
		path := b.write("a.go", "x")
		call := b.hover(path)
		time.Sleep(timeout + lsp.WorkerGrace)
		assert.Equal(t, messages.KindTimeout, messages.KindOf(call.err(t)))
		b.Parent.ExpectNothing(t)
		time.Sleep(time.Hour)
		assert.Equal(t, []messages.OperationID{call.id}, b.settledNow())
		b.wire.On("textDocument/hover", said("now"))
		assert.Equal(t, "now", b.hover(path).ok(t).Text)
	})
}
