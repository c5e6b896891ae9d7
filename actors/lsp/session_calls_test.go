package lsp_test

import (
	"encoding/json"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/fakes"
)

// finding is a list of one diagnostic.
func finding(message string) string {
	return `[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"severity":1,"message":"` + message + `"}]`
}

// findsTheText makes the server find the text itself.
func findsTheText(after time.Duration) func(string) (string, time.Duration) {
	return func(text string) (string, time.Duration) { return finding(text), after }
}

func found(report messages.DiagnosticsReport) (texts []string) {
	for _, d := range report.Diagnostics {
		texts = append(texts, d.Message)
	}
	return texts
}

func TestCallIsAnsweredSettledAndShownInStatus(t *testing.T) {
	bubble(t, "hover", func(t *testing.T, b *bench) {
		b.ready()
		release := b.wire.Hold("textDocument/hover", said("here"))
		path := b.write("a.go", "x")
		call := b.hover(path)
		running := b.shown()
		assert.Equal(t, 1, running.Active)
		assert.Zero(t, running.LastUsed)
		time.Sleep(time.Second - lsp.PublishDelay)
		release()
		report := call.ok(t)
		assert.Equal(t, messages.HoverReport{Text: "here", Markdown: true, Duration: time.Second}, report)
		b.Parent.ExpectExactly(t, b.settled(call.id, messages.Healthy, nil))
		done := b.snapshot()
		assert.Zero(t, done.Active)
		assert.Equal(t, time.Now(), done.LastUsed)
		assert.Equal(t, 1, done.Documents)
		assert.Equal(t, []string{"textDocument/didOpen", "textDocument/hover"}, b.methods())
	})
	bubble(t, "diagnostics", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.Finds(findsTheText(time.Second))
		path := b.write("a.go", "x")
		call := b.diagnose(path)
		call.pending(t)
		time.Sleep(time.Second)
		report := call.ok(t)
		assert.Equal(t, []string{"x"}, found(report))
		assert.Equal(t, path, report.File)
		assert.Equal(t, 1, report.Version)
		assert.Equal(t, "fake", report.Server)
		assert.Equal(t, time.Second, report.Duration)
		b.Parent.ExpectExactly(t, b.settled(call.id, messages.Healthy, nil))
	})
	bubble(t, "nothing found is an empty list", func(t *testing.T, b *bench) {
		b.ready()
		assert.NotNil(t, b.diagnose(b.write("a.go", "x")).ok(t).Diagnostics)
	})
}

func TestQueryJoinsTheCallersMembersWithDocumentAndPosition(t *testing.T) {
	bubble(t, "query", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.On("workspace/symbol", fakes.Answer{Result: json.RawMessage(`["a"]`)})
		report := b.query(messages.Query{Method: "workspace/symbol", Params: json.RawMessage(`{"query":"a"}`)}).ok(t)
		assert.JSONEq(t, `["a"]`, string(report.Result))
		sent := b.wire.Take()
		require.Len(t, sent, 1, "it is about no document")
		assert.JSONEq(t, `{"query":"a"}`, sent[0].JSON())

		b.wire.On("textDocument/references", fakes.Answer{})
		path := b.write("a.go", "x")
		b.query(messages.Query{Target: messages.Target{Path: path, LanguageID: "go"}, Method: "textDocument/references",
			Position: &messages.Position{Line: 1, Character: 2}, Params: json.RawMessage(`{"context":{},"position":"mine"}`)}).ok(t)
		sent = b.wire.Take()
		assert.JSONEq(t, `{"context":{},"position":{"line":1,"character":2},"textDocument":{"uri":"`+lsp.PathToURI(path)+`"}}`,
			sent[len(sent)-1].JSON())

		bad := b.query(messages.Query{Method: "workspace/symbol", Params: json.RawMessage(`[]`)})
		assert.Equal(t, messages.KindInvalid, messages.KindOf(bad.err(t)))
	})
}

func TestSameBytesSendNothingAndOthersTheWholeTextAgain(t *testing.T) {
	bubble(t, "bytes", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.Finds(findsTheText(0))
		path := b.write("a.go", "one")
		before, err := os.Stat(path)
		require.NoError(t, err)
		b.hover(path).ok(t)
		assert.Equal(t, []string{"one"}, found(b.diagnose(path).ok(t)))
		b.hover(path).ok(t)
		assert.Equal(t, []string{"textDocument/didOpen", "textDocument/hover", "textDocument/hover"}, b.methods())
		b.write("a.go", "two") // of the same size, and as old
		require.NoError(t, os.Chtimes(path, before.ModTime(), before.ModTime()))
		report := b.diagnose(path).ok(t)
		assert.Equal(t, []string{"two"}, found(report))
		assert.Equal(t, 2, report.Version)
		sent := b.wire.Take()
		require.Len(t, sent, 1)
		assert.Equal(t, "textDocument/didChange", sent[0].Method)
		assert.JSONEq(t, `{"textDocument":{"uri":"`+lsp.PathToURI(path)+`","version":2},"contentChanges":[{"text":"two"}]}`, sent[0].JSON())
	})
}

func TestServerThatTakesNoChangesGetsADocumentAnew(t *testing.T) {
	bubble(t, "reopened", func(t *testing.T, b *bench) {
		b.wire.On("initialize", fakes.Answer{Result: json.RawMessage(`{"capabilities":{"textDocumentSync":0,"hoverProvider":true}}`)})
		b.ready()
		path := b.write("a.go", "one")
		b.hover(path).ok(t)
		b.write("a.go", "two")
		b.hover(path).ok(t)
		assert.Equal(t, []string{"textDocument/didOpen", "textDocument/hover",
			"textDocument/didClose", "textDocument/didOpen", "textDocument/hover"}, b.methods())
	})
}

func TestFileThatCannotBeReadIsToldWithoutAskingTheServer(t *testing.T) {
	bubble(t, "missing", func(t *testing.T, b *bench) {
		b.ready()
		path := b.cfg.Key.Root + "/none.go"
		report := b.diagnose(path).ok(t)
		require.Len(t, report.Diagnostics, 1)
		assert.Equal(t, messages.SeverityError, report.Diagnostics[0].Severity)
		assert.Contains(t, report.Diagnostics[0].Message, "Cannot read file: stat "+path)
		err := b.hover(path).err(t)
		assert.Equal(t, messages.KindInvalid, messages.KindOf(err))
		assert.Contains(t, err.Error(), "cannot read file: stat "+path)
		assert.Empty(t, b.methods())
		assert.Len(t, b.settledNow(), 2)
		assert.Zero(t, b.snapshot().Active)
		b.write("none.go", "x")
		b.hover(path).ok(t)
	})
	bubble(t, "nothing that can be read at once", func(t *testing.T, b *bench) {
		b.ready()
		path := b.cfg.Key.Root + "/pipe.go"
		require.NoError(t, syscall.Mkfifo(path, 0o600))
		assert.EqualError(t, b.hover(path).err(t), "cannot read file: "+path+" is not a regular file")
		assert.Empty(t, b.methods())
	})
	bubble(t, "more than any server is sent", func(t *testing.T, b *bench) {
		b.ready()
		path := b.write("a.go", "")
		require.NoError(t, os.Truncate(path, lsp.MaxText+1))
		assert.ErrorContains(t, b.hover(path).err(t), "a language server is sent at most")
		assert.Empty(t, b.methods())
	})
}

func TestServersOwnErrorIsThatCallsAlone(t *testing.T) {
	bubble(t, "error", func(t *testing.T, b *bench) {
		b.ready()
		path := b.write("a.go", "x")
		b.wire.On("textDocument/hover", fakes.Answer{Err: &lsp.ResponseError{Method: "textDocument/hover", Code: -32603, Message: "no\nidea"}})
		call := b.hover(path)
		err := call.err(t)
		assert.Equal(t, &messages.ProtocolError{Method: "textDocument/hover", Code: -32603, Message: "no\nidea"}, err)
		assert.EqualError(t, err, "textDocument/hover failed [-32603]: no | idea")
		b.Parent.ExpectExactly(t, b.settled(call.id, messages.Healthy, nil))
		b.wire.On("textDocument/hover", said("now"))
		assert.Equal(t, "now", b.hover(path).ok(t).Text)
	})
	bubble(t, "not offered", func(t *testing.T, b *bench) {
		b.ready()
		err := b.query(messages.Query{Method: "workspace/none"}).err(t)
		assert.Equal(t, messages.KindProtocol, messages.KindOf(err))
		assert.ErrorContains(t, err, "not offered by fake")
	})
	bubble(t, "at its last moment", func(t *testing.T, b *bench) {
		b.ready()
		ends := time.Now().Add(timeout + 1)
		b.wire.On("textDocument/hover", fakes.Answer{Do: func(fakes.Sent) (any, error) {
			time.Sleep(time.Until(ends)) // it was on its way when the time ended
			return nil, &lsp.ResponseError{Method: "textDocument/hover", Code: -1, Message: "no"}
		}})
		call := b.hover(b.write("a.go", "x"))
		time.Sleep(timeout + 1)
		assert.Equal(t, messages.KindProtocol, messages.KindOf(call.err(t)))
		b.Parent.ExpectExactly(t, b.settled(call.id, messages.Healthy, nil))
	})
}

func TestSlotsAreGivenInTheOrderOfArrival(t *testing.T) {
	bubble(t, "limit", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.On("textDocument/hover", fakes.Answer{After: time.Second, Result: json.RawMessage("null")})
		var calls []asked[messages.HoverReport]
		for _, name := range []string{"a.go", "b.go", "c.go", "d.go", "e.go"} {
			calls = append(calls, b.hover(b.write(name, "x")))
		}
		snapshot := b.shown()
		assert.Equal(t, 2, snapshot.Active)
		assert.Equal(t, 3, snapshot.Waiting)
		for _, together := range [][]asked[messages.HoverReport]{calls[:2], calls[2:4], calls[4:]} {
			assert.Len(t, b.settledNow(), 0)
			time.Sleep(time.Second)
			var want []messages.OperationID
			for _, call := range together {
				call.ok(t)
				want = append(want, call.id)
			}
			assert.ElementsMatch(t, want, b.settledNow())
		}
	})
	bubble(t, "another document passes one that is busy", func(t *testing.T, b *bench) {
		b.ready()
		first, other := b.write("a.go", "x"), b.write("b.go", "x")
		release := b.holdRead(first)
		one, two := b.hover(first), b.hover(first)
		three := b.hover(other)
		three.ok(t)
		one.pending(t)
		two.pending(t)
		assert.Equal(t, 1, b.shown().Waiting)
		release()
		one.ok(t)
		two.ok(t)
		assert.Equal(t, 2, b.wire.Count("textDocument/didOpen"))
	})
}
