package lsp_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/fakes"
)

const (
	staleImports    = `[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"message":"Imports are out of date and must be rebuilt; use the \"Restart File\" command in your editor."}]`
	contentModified = -32801
)

func leans(cfg *lsp.SessionConfig) {
	cfg.Profile.Complete, cfg.Profile.DependencyBuildMode = lsp.CompleteLean, "once"
}

// becomesLean lets the server show that it is Lean's.
func (b *bench) becomesLean() {
	b.wire.On("textDocument/waitForDiagnostics", fakes.Answer{Result: map[string]any{}})
	b.wire.Tell(lsp.Progress{URI: "file:///p/x.lean", Title: "elaborating"})
}

func TestStaleImportsRestartTheFilesWorkerOnceForAllCallersOfIt(t *testing.T) {
	bubble(t, "until built", func(t *testing.T, b *bench) {
		b.ready()
		b.becomesLean()
		opened := 0
		b.wire.Finds(func(string) (string, time.Duration) {
			if opened++; opened == 1 {
				return staleImports, 0
			}
			return "[]", 0
		})
		path := b.write("a.lean", "import B")
		first, second := b.diagnose(path), b.diagnose(path)
		assert.Empty(t, first.ok(t).Diagnostics)
		assert.Empty(t, second.ok(t).Diagnostics)
		assert.Equal(t, 2, b.wire.Count("textDocument/didOpen"))
		assert.Equal(t, 1, b.wire.Count("textDocument/didClose"))
		assert.ElementsMatch(t, []messages.OperationID{first.id, second.id}, b.settledNow())
	}, leans)
	bubble(t, "that stay so are told", func(t *testing.T, b *bench) {
		b.ready()
		b.becomesLean()
		b.wire.Finds(func(string) (string, time.Duration) { return staleImports, 0 })
		report := b.diagnose(b.write("a.lean", "import B")).ok(t)
		assert.Contains(t, found(report)[0], "Imports are out of date")
		assert.Equal(t, 2, b.wire.Count("textDocument/didOpen"), "once for a call")
	}, leans)
}

func TestFileWhoseWorkerLeanHasLostIsOpenedAnewForTheNextCall(t *testing.T) {
	expectAnew := func(b *bench, path string) {
		b.t.Helper()
		b.methods()
		b.hover(path).ok(b.t)
		b.hover(path).ok(b.t)
		assert.Equal(b.t, []string{"textDocument/didClose", "textDocument/didOpen", "textDocument/hover", "textDocument/hover"}, b.methods())
	}
	for name, code := range map[string]int{"it exited": -32901, "it crashed": -32902} {
		bubble(t, name, func(t *testing.T, b *bench) {
			b.ready()
			path := b.write("a.lean", "x")
			b.wire.On("textDocument/hover", fakes.Answer{Err: &lsp.ResponseError{Method: "textDocument/hover", Code: code, Message: "crashed"}})
			assert.ErrorContains(t, b.hover(path).err(t), "crashed", "its own is told so")
			b.wire.On("textDocument/hover", said("here"))
			expectAnew(b, path)
		}, leans)
	}
	bubble(t, "while nobody asked", func(t *testing.T, b *bench) {
		b.ready()
		path := b.write("a.lean", "x")
		b.hover(path).ok(t)
		b.wire.Tell(lsp.Progress{URI: lsp.PathToURI(path), Title: "elaborating", Text: "given up at line 1", GaveUp: true})
		release := b.wire.Hold("textDocument/hover", said("here")) // Lean keeps it for the next worker
		b.timedOut(path)
		release()
		expectAnew(b, path)
	}, leans)
	bubble(t, "it is slow, and there", func(t *testing.T, b *bench) {
		b.ready()
		path := b.write("a.lean", "x")
		b.hover(path).ok(t)
		b.wire.Tell(lsp.Progress{URI: lsp.PathToURI(path), Title: "elaborating", Text: "from line 1 of 2"})
		release := b.wire.Hold("textDocument/hover", said("here"))
		b.timedOut(path)
		release()
		b.methods()
		b.hover(path).ok(t)
		assert.Equal(t, []string{"textDocument/hover"}, b.methods())
	}, leans)
}

func TestRequestThatAnotherCallersTextEndedIsMadeAgain(t *testing.T) {
	refused := func(times int) fakes.Answer {
		return fakes.Answer{Do: func(fakes.Sent) (any, error) {
			if times--; times >= 0 {
				return nil, &lsp.ResponseError{Method: "textDocument/hover", Code: contentModified, Message: "file changed"}
			}
			return said("here").Result, nil
		}}
	}
	bubble(t, "until it is answered", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.On("textDocument/hover", refused(3))
		call := b.hover(b.write("a.go", "x"))
		assert.Equal(t, "here", call.ok(t).Text)
		assert.Equal(t, []messages.OperationID{call.id}, b.settledNow())
		assert.Equal(t, 4, b.wire.Count("textDocument/hover"))
	})
	bubble(t, "a few times", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.On("textDocument/hover", refused(1000))
		call := b.hover(b.write("a.go", "x"))
		assert.Equal(t, messages.KindProtocol, messages.KindOf(call.err(t)))
		assert.Equal(t, []messages.OperationID{call.id}, b.settledNow())
		assert.Equal(t, 6, b.wire.Count("textDocument/hover"))
	})
}

func TestServerThatForgetsChecksIsAskedOnlyAfterItsCheck(t *testing.T) {
	bubble(t, "serial", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.Finds(func(string) (string, time.Duration) { return "[]", time.Second })
		path := b.write("a.go", "x")
		call := b.hover(path)
		call.pending(t)
		assert.Equal(t, []string{"textDocument/didOpen"}, b.methods())
		time.Sleep(time.Second)
		call.ok(t)
		b.hover(path).ok(t) // nothing was sent for it
	}, func(cfg *lsp.SessionConfig) { cfg.Profile.Serial = true })
}
