package lsp_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/fakes"
)

func TestCloseAsksForShutdownThenExitAndWaitsForTheEnd(t *testing.T) {
	bubble(t, "orderly", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.Heard("exit", func() { b.session.Send(messages.LeaderDown{Tree: b.tree}) })
		b.session.Send(messages.Close{})
		assert.Equal(t, []string{"shutdown", "exit"}, b.methods())
		b.expectSweep()
		b.reaped()
	})
	bubble(t, "shutdown is never answered, and exit ignored", func(t *testing.T, b *bench) {
		b.shuttingDown()
		assert.Equal(t, "asking it to shut down", b.snapshot().Step)
		time.Sleep(exit)
		assert.Equal(t, []string{"shutdown", "$/cancelRequest", "exit"}, b.methods())
		assert.Equal(t, "waiting for its exit", b.snapshot().Step)
		b.Supervisor.ExpectNothing(t)
		time.Sleep(exit)
		b.expectSweep()
		b.reaped()
	})
	bubble(t, "shutdown is refused", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.On("shutdown", fakes.Answer{Err: &lsp.ResponseError{Method: "shutdown", Code: -1, Message: "no"}})
		b.session.Send(messages.Close{})
		assert.Equal(t, []string{"shutdown", "exit"}, b.methods())
		time.Sleep(exit)
		b.expectSweep()
		b.reaped()
	})
	bubble(t, "it dies of shutdown", func(t *testing.T, b *bench) {
		b.shuttingDown()
		b.wire.Hangup()
		b.leaderDown(1)
		b.expectSweep()
		b.Parent.ExpectNothing(t)
		b.reaped()
	})
	bubble(t, "a fault of this side", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.On("shutdown", fakes.Answer{Do: func(fakes.Sent) (any, error) { panic("boom") }})
		b.session.Send(messages.Close{})
		time.Sleep(exit)
		b.expectSweep()
		b.reaped()
	})
	bubble(t, "abort", func(t *testing.T, b *bench) {
		b.shuttingDown()
		b.session.Send(messages.Close{})
		b.Supervisor.ExpectNothing(t)
		b.session.Send(messages.Abort{})
		b.expectSweep()
		b.reaped()
	})
	bubble(t, "reaped by somebody else", func(t *testing.T, b *bench) {
		b.shuttingDown()
		b.reaped()
	})
	bubble(t, "operation", func(t *testing.T, b *bench) {
		b.shuttingDown()
		late := b.hover(b.write("a.go", "x"))
		late.pending(t)
		b.Parent.ExpectExactly(t, b.settled(late.id, messages.Returned, nil))
	})
	bubble(t, "with a call that should not be there", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.Hold("textDocument/hover", fakes.Answer{})
		path := b.write("b.go", "x")
		b.holdRead(path)
		sent, unsent := b.hover(b.write("a.go", "x")), b.hover(path)
		b.session.Send(messages.Close{})
		b.Parent.ExpectExactly(t, b.settled(sent.id, messages.Broken, messages.ErrClosing),
			b.settled(unsent.id, messages.Returned, messages.ErrClosing))
		assert.ErrorIs(t, sent.err(t), messages.ErrClosing)
		unsent.pending(t)
	})
}

func TestSweepingSessionShowsWhatRemainsAndWaitsForItsTree(t *testing.T) {
	bubble(t, "sweeping", func(t *testing.T, b *bench) {
		b.sweeping()
		failed := &messages.SweepError{Attempt: 1, Remaining: []procscan.Identity{{PID: 7}}, Err: assert.AnError}
		b.session.Send(messages.SweepFailed{Tree: b.tree, Cause: failed})
		assert.Equal(t, failed.Error(), b.snapshot().Step)
		for _, joins := range []any{messages.Close{}, messages.Abort{}, b.launched(), messages.LeaderDown{Tree: b.tree}} {
			b.session.Send(joins)
		}
		b.Parent.ExpectNothing(t)
		b.Supervisor.ExpectNothing(t)
		late := b.hover(b.write("a.go", "x"))
		late.pending(t)
		b.Parent.ExpectExactly(t, b.settled(late.id, messages.Returned, messages.ErrAborted))
		b.reaped()
	})
	bubble(t, "closed", func(t *testing.T, b *bench) {
		b.sweeping()
		b.session.Send(messages.LeaderReaped{Tree: b.tree})
		b.Parent.ExpectExactly(t, b.closed())
		b.Observer.Take()
		for _, joins := range []any{messages.Close{}, messages.Abort{}, messages.LeaderReaped{Tree: b.tree},
			messages.Republish{}, messages.SweepFailed{Tree: b.tree, Cause: &messages.SweepError{Err: assert.AnError}}} {
			b.session.Send(joins)
		}
		b.Parent.ExpectNothing(t)
		b.Supervisor.ExpectNothing(t)
		b.Observer.ExpectNothing(t) // what was retracted stays so
		late := b.hover(b.write("a.go", "x"))
		late.pending(t)
		b.Parent.ExpectExactly(t, b.settled(late.id, messages.Returned, messages.ErrAborted))
	})
	bubble(t, "republish", func(t *testing.T, b *bench) {
		b.ready()
		b.session.Send(messages.Republish{})
		assert.Equal(t, "ready", b.snapshot().State)
	})
	bubble(t, "a storm of progress", func(t *testing.T, b *bench) {
		b.ready()
		for i := range 1000 {
			b.wire.Tell(lsp.Progress{Token: "1", Title: "indexing", Text: fmt.Sprint(i)})
			synctest.Wait()
		}
		b.Observer.ExpectNothing(t)
		time.Sleep(lsp.PublishDelay)
		published := b.snapshots()
		require.Len(t, published, 1)
		assert.Equal(t, "indexing 999", published[0].Progress)
	})
}
