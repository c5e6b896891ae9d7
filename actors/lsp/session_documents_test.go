package lsp_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/messages"
)

func TestDiagnosticsOfOtherBytesWaitForThoseInFlightAndAHoverDoesNot(t *testing.T) {
	three := func(cfg *lsp.SessionConfig) { cfg.Parallel = 3 }
	bubble(t, "diagnostics", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.Finds(findsTheText(time.Second))
		path := b.write("a.go", "one")
		first := b.diagnose(path)
		same := b.diagnose(path)
		b.write("a.go", "two")
		second := b.diagnose(path)
		assert.Equal(t, 1, b.shown().Waiting)
		third := b.diagnose(path)
		time.Sleep(time.Second)
		assert.Equal(t, []string{"one"}, found(first.ok(t)))
		assert.Equal(t, []string{"one"}, found(same.ok(t)), "calls that found the same bytes run side by side")
		second.pending(t)
		time.Sleep(time.Second)
		assert.Equal(t, []string{"two"}, found(second.ok(t)))
		assert.Equal(t, []string{"two"}, found(third.ok(t)))
		assert.Equal(t, []string{"textDocument/didOpen", "textDocument/didChange"}, b.methods())
	}, three)
	bubble(t, "in the order of arrival", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.Finds(findsTheText(time.Second))
		path, other := b.write("a.go", "one"), b.write("b.go", "x")
		first := b.diagnose(path)
		b.write("a.go", "two")
		release := b.holdRead(path)
		second, third := b.diagnose(path), b.diagnose(path)
		release() // the second finds other bytes, and goes back to its place
		b.wire.Hold("textDocument/hover", said("here"))
		b.hover(other).pending(t)
		time.Sleep(time.Second)
		first.ok(t)
		b.settledNow()
		b.wire.Finds(func(string) (string, time.Duration) { return "", 0 })
		assert.Equal(t, 1, b.shown().Waiting)
		time.Sleep(time.Second)
		second.ok(t)
		third.ok(t)
		assert.Equal(t, []messages.OperationID{second.id, third.id}, b.settledNow())
	})
	bubble(t, "hover", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.Finds(findsTheText(time.Second))
		path := b.write("a.go", "one")
		first := b.diagnose(path)
		assert.Equal(t, "here", b.hover(path).ok(t).Text)
		b.write("a.go", "two")
		second := b.diagnose(path)
		assert.Equal(t, "here", b.hover(path).ok(t).Text, "it asks about the bytes on disk")
		time.Sleep(time.Second)
		assert.Equal(t, []string{"two"}, found(first.ok(t)), "its text is gone: it answers for the newer one")
		assert.Equal(t, []string{"two"}, found(second.ok(t)))
	}, three)
}

func TestDocumentsAreClosedWhenTheyAreIdleOrTooMany(t *testing.T) {
	bubble(t, "five minutes at most", func(t *testing.T, b *bench) {
		b.ready()
		b.hover(b.write("a.go", "x")).ok(t)
		time.Sleep(lsp.DocumentIdle / 2)
		b.hover(b.write("b.go", "x")).ok(t)
		b.methods()
		time.Sleep(lsp.DocumentIdle/2 - 1)
		assert.Empty(t, b.methods())
		time.Sleep(time.Nanosecond)
		assert.Equal(t, []string{"textDocument/didClose"}, b.methods())
		assert.Equal(t, 1, b.shown().Documents)
		time.Sleep(lsp.DocumentIdle / 2)
		assert.Equal(t, []string{"textDocument/didClose"}, b.methods())
		assert.Zero(t, b.shown().Documents)
		time.Sleep(time.Hour)
		assert.Empty(t, b.methods())
		b.hover(b.cfg.Key.Root + "/a.go").ok(t)
		assert.Equal(t, []string{"textDocument/didOpen", "textDocument/hover"}, b.methods())
	})
	bubble(t, "least recently used first", func(t *testing.T, b *bench) {
		b.ready()
		for _, name := range []string{"a.go", "b.go", "a.go", "c.go"} {
			time.Sleep(time.Second)
			b.hover(b.write(name, "x")).ok(t)
		}
		var closed []string
		for _, sent := range b.wire.Take() {
			if sent.Method == "textDocument/didClose" {
				closed = append(closed, sent.JSON())
			}
		}
		require.Len(t, closed, 1)
		assert.Contains(t, closed[0], "b.go")
		synctest.Wait()
		assert.Equal(t, 2, b.shown().Documents)
	}, func(cfg *lsp.SessionConfig) { cfg.OpenDocuments = 2 })
	bubble(t, "none", func(t *testing.T, b *bench) {
		b.ready()
		path := b.write("a.go", "x")
		b.hover(path).ok(t)
		b.hover(path).ok(t)
		assert.Equal(t, []string{"textDocument/didOpen", "textDocument/hover", "textDocument/didClose",
			"textDocument/didOpen", "textDocument/hover", "textDocument/didClose"}, b.methods())
	}, func(cfg *lsp.SessionConfig) { cfg.OpenDocuments = 0 })
}
