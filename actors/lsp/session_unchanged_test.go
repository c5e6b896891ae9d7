package lsp_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// TestDocumentThatTheServerHas: a call about one is begun on what is expected of its
// file, and that may turn out to be wrong.
func TestDocumentThatTheServerHas(t *testing.T) {
	known := func(b *bench) string {
		b.ready()
		path := b.write("a.go", "one")
		b.hover(path).ok(b.t)
		b.wire.Take()
		b.Parent.Take()
		return path
	}
	bubble(t, "calls about it are with the server at once", func(t *testing.T, b *bench) {
		path := known(b)
		release := b.wire.Hold("textDocument/hover", said("here"))
		first, second := b.hover(path), b.hover(path)
		assert.Equal(t, []string{"textDocument/hover", "textDocument/hover"}, b.methods())
		assert.Equal(t, 2, b.shown().Active)
		release()
		first.ok(t)
		second.ok(t)
	})
	bubble(t, "other bytes are sent first", func(t *testing.T, b *bench) {
		path := known(b)
		b.write("a.go", "two")
		b.hover(path).ok(t)
		assert.Equal(t, []string{"textDocument/didChange", "textDocument/hover"}, b.methods())
	})
	bubble(t, "its file is gone", func(t *testing.T, b *bench) {
		path := known(b)
		require.NoError(t, os.Remove(path))
		assert.ErrorContains(t, b.hover(path).err(t), "cannot read file")
		assert.Empty(t, b.methods())
		b.write("a.go", "one")
		b.hover(path).ok(t)
		assert.Equal(t, []string{"textDocument/hover"}, b.methods(), "it was open all the time")
	})
	bubble(t, "the server goes before other bytes were sent", func(t *testing.T, b *bench) {
		path := known(b)
		b.write("a.go", "two")
		release := b.holdRead(path)
		call := b.hover(path)
		b.wire.Hangup()
		b.Parent.ExpectNothing(t)
		release()
		time.Sleep(lsp.ExitWait)
		hungUp := &messages.ProtocolError{Message: "connection to the language server: the server closed its output: EOF"}
		b.Parent.ExpectExactly(t, messages.Ending{From: b.session.Ref(), Err: hungUp}, b.settled(call.id, messages.Returned, hungUp))
		call.pending(t)
	})
	bubble(t, "the caller leaves while it is read", func(t *testing.T, b *bench) {
		path := known(b)
		release := b.holdRead(path)
		ctx, cancel := context.WithCancel(t.Context())
		call := b.hover(path, under(ctx))
		cancel()
		release()
		assert.Equal(t, messages.KindCancelled, messages.KindOf(call.err(t)))
		b.hover(path).ok(t)
	})
	bubble(t, "the server ends while it is read", func(t *testing.T, b *bench) {
		path := known(b)
		release := b.holdRead(path)
		call := b.hover(path)
		b.leaderDown(1)
		exited := &messages.ExitError{Identity: leader, Status: procscan.Status{Code: 1}.String()}
		b.Parent.ExpectExactly(t, messages.Ending{From: b.session.Ref(), Err: exited}, b.settled(call.id, messages.Returned, exited))
		release()
		call.pending(t)
	})
	bubble(t, "reading it takes all of the call's time", func(t *testing.T, b *bench) {
		path := known(b)
		release := b.holdRead(path)
		b.wire.Silence(true)
		call := b.hover(path)
		time.Sleep(timeout + lsp.WorkerGrace)
		assert.Equal(t, messages.KindTimeout, messages.KindOf(call.err(t)))
		release()
		b.Parent.ExpectExactly(t, b.settled(call.id, messages.Healthy, nil))
		assert.Zero(t, b.wire.Count(probe), "the server was never asked")
	})
	bubble(t, "a file that could not be read is not owed by the server", func(t *testing.T, b *bench) {
		path := known(b)
		release := b.wire.Hold("textDocument/hover", said("here"))
		heard := b.hover(path)
		time.Sleep(time.Second)
		release()
		heard.ok(t)
		time.Sleep(time.Second)
		require.NoError(t, os.Remove(path))
		assert.Error(t, b.hover(path).err(t))
		time.Sleep(time.Hour)
		b.write("a.go", "one")
		b.settledNow()
		b.wire.Silence(true)
		ctx, cancel := context.WithCancel(t.Context())
		call := b.hover(path, under(ctx))
		time.Sleep(time.Second)
		cancel()
		assert.Error(t, call.err(t))
		b.Parent.ExpectExactly(t, b.settled(call.id, messages.Healthy, nil))
		assert.Zero(t, b.wire.Count(probe))
	})
}
