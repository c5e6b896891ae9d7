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
}
