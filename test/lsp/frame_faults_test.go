package lsp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/play"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

const mebibyte = 1 << 20

// TestReportedFault09ServersRequestsAreAnswered: the server asked its client something
// and waited for ever.
func TestReportedFault09ServersRequestsAreAnswered(t *testing.T) {
	s := startScripted(t, script.LSP{Rules: []script.Rule{
		script.When("initialized",
			script.AskAndWait("r-1", "client/registerCapability", map[string]any{"registrations": []any{}}),
			script.AskAndWait(7, "workspace/configuration", map[string]any{"items": []any{map[string]string{"section": "a"}, map[string]string{}}}),
			script.AskAndWait("w", "window/workDoneProgress/create", map[string]string{"token": "t"}),
			script.AskAndWait("s", "workspace/semanticTokens/refresh", nil),
			script.AskAndWait(0, "unknown/thing", nil),
			script.AskAndWait("r-2", "client/unregisterCapability", map[string]any{"unregisterations": []any{}})),
		script.When("textDocument/didOpen", script.AwaitAnswer("r-2"), script.Default()),
	}}, byVersion)
	assert.Empty(t, s.texts("A.lean"), "it has what it waited for")
	answers := map[string]string{}
	for _, e := range s.Select(t, func(e standins.Event) bool { return e.Event == journal.Received && e.Detail == "" }) {
		var answer struct{ ID json.RawMessage }
		require.NoError(t, json.Unmarshal(e.Data, &answer))
		answers[string(answer.ID)] = string(e.Data)
	}
	for id, result := range map[string]string{`"r-1"`: "null", "7": "[{},{}]", `"w"`: "null", `"s"`: "null", `"r-2"`: "null"} {
		assert.Equal(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result), answers[id])
	}
	assert.Contains(t, answers["0"], `{"jsonrpc":"2.0","id":0,"error":{"code":-32601,`)
}

// TestReportedFault15StderrThatNobodyReadsBlocksNoServer: after 64 KiB of it the server
// answered nothing any more.
func TestReportedFault15StderrThatNobodyReadsBlocksNoServer(t *testing.T) {
	for form, rule := range map[string]script.Rule{
		"before initialize": script.When("initialize", script.Stderr(mebibyte, play.Lines), script.Default()),
		"before it reads":   script.When(script.OnStart, script.Stderr(mebibyte, play.Lines)),
		"between two calls": script.When("textDocument/hover", script.Default(), script.Stderr(mebibyte, play.Lines)),
		"one long line":     script.When("textDocument/hover", script.Stderr(300<<10, play.OneLine), script.Default()),
		"no text":           script.When("textDocument/hover", script.Stderr(mebibyte, play.Invalid), script.Default()),
	} {
		t.Run(form, func(t *testing.T) {
			s := startScripted(t, script.LSP{Rules: []script.Rule{rule}})
			for range 3 {
				assert.Equal(t, "alpha", s.hovered("A.lean"))
			}
			assert.Len(t, s.starts(), 1)
		})
	}
	t.Run("the last of it is in the error", func(t *testing.T) {
		s := startScripted(t, script.LSP{Rules: []script.Rule{
			script.When("textDocument/hover", script.Stderr(mebibyte, play.Lines), script.StderrText("E-17"), script.Exit(3))}})
		_, err := s.hover("A.lean")
		var exit *messages.ExitError
		require.ErrorAs(t, err, &exit)
		assert.Equal(t, "exit status 3", exit.Status)
		assert.Contains(t, err.Error(), "E-17")
		assert.NotContains(t, err.Error(), "\n")
	})
}

// TestReportedFault19PlainTextInTheProtocolStreamIsSkipped: a library printed to standard
// output, and every caller waited for its whole time.
func TestReportedFault19PlainTextInTheProtocolStreamIsSkipped(t *testing.T) {
	for name, noise := range map[string]string{
		"without a colon": "hello\n", "with a colon": "warning: hello\n", "empty lines": "\n\n", "no end of line": "hello ",
		"much": strings.Repeat("a long line of a progress bar\n", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			s := startScripted(t, script.LSP{Rules: []script.Rule{
				script.When(script.OnStart, script.Raw(noise)),
				script.When("textDocument/hover", script.Raw(noise), script.Default(), script.Raw(noise)),
			}})
			for range 2 {
				assert.Equal(t, "alpha", s.hovered("A.lean"))
			}
			assert.Len(t, s.starts(), 1)
		})
	}
	t.Run("what is no frame at all is an error at once", func(t *testing.T) {
		s := startScripted(t, script.LSP{Rules: []script.Rule{
			{When: "textDocument/hover", Generation: 1, Do: []script.Action{script.Raw("Content-Length: 5\r\n\r\nhello")}}}})
		_, err := s.hover("A.lean")
		assert.Equal(t, messages.KindProtocol, messages.KindOf(err), "%v", err)
		assert.Equal(t, "alpha", s.hovered("A.lean"))
	})
}

// TestReportedFault21LongMessagesAreIntactUpToTheLimit: a reader with a hidden limit cut
// what was longer, or stopped.
func TestReportedFault21LongMessagesAreIntactUpToTheLimit(t *testing.T) {
	text := script.Fill(9 * mebibyte)
	s := startScripted(t, script.LSP{Rules: []script.Rule{
		{When: "textDocument/hover", Nth: 2, Generation: 1, Do: []script.Action{script.Raw(fmt.Sprintf("Content-Length: %d\r\n\r\n{", 17*mebibyte))}},
		script.When("textDocument/hover", script.Reply(map[string]any{"contents": map[string]string{"kind": "markdown", "value": text}})),
	}})
	assert.True(t, s.hovered("A.lean") == text, "9 MiB are intact")
	_, err := s.hover("A.lean")
	assert.Equal(t, messages.KindProtocol, messages.KindOf(err))
	assert.ErrorContains(t, err, "16777216", "the limit is named")
	assert.True(t, s.hovered("A.lean") == text, "from a new server")
	assert.Len(t, s.starts(), 2)

	s.write("Big.lean", strings.Repeat("x", 17*mebibyte))
	_, err = s.hover("Big.lean")
	assert.Equal(t, messages.KindInvalid, messages.KindOf(err))
	assert.Regexp(t, `17825792 bytes.* at most \d+`, err.Error())
	assert.Len(t, s.starts(), 2, "and nothing was sent")
}

// TestReportedFault22ServerThatStoppedReadingHoldsUpNobodyForLonger: a write blocked, the
// lock was held for hours, and the callers' own times never began.
func TestReportedFault22ServerThatStoppedReadingHoldsUpNobodyForLonger(t *testing.T) {
	stop := script.When("initialized", script.StopSelf())
	stop.Generation = 1
	s := startScripted(t, script.LSP{Rules: []script.Rule{stop}})
	s.write("A.lean", script.Fill(4*mebibyte))
	s.write("B.lean", "beta\n")
	type outcome struct {
		name  string
		began time.Time
		err   error
	}
	answers := make(chan outcome, 2)
	call := func(name string) {
		began := time.Now()
		_, err := s.Diagnostics(s.bounded(), s.hurried(name))
		answers <- outcome{name, began, err}
	}
	go call("A.lean")
	s.Await(t, standins.Is("server", journal.Received, "initialized"))
	go call("B.lean")
	for range 2 {
		answer := <-answers
		if answer.name != "B.lean" || answer.err != nil { // a slow start ends the first one's time so early that the new server serves the second
			assert.Contains(t, []messages.Kind{messages.KindTimeout, messages.KindBusy, messages.KindProtocol}, messages.KindOf(answer.err), "%v", answer.err)
		}
		assert.Less(t, time.Since(answer.began), limit+20*time.Second)
	}
	assert.Equal(t, "beta", s.hovered("B.lean"), "a new server serves")
	starts := s.starts()
	require.Len(t, starts, 2)
	assert.True(t, standins.Gone(starts[0].PID, starts[0].StartTicks), "SIGKILL ends a stopped process too")
}

// The variant in which both sides write: who would only write before it reads waits for
// ever.
func TestReportedFault22ServerThatWritesBeforeItReadsIsReadFrom(t *testing.T) {
	flood := script.When("initialized", script.Repeat(128,
		script.Notify("window/logMessage", map[string]any{"type": 4, "message": strings.Repeat("x", 64<<10)})))
	flood.Inline = true
	s := startScripted(t, script.LSP{Rules: []script.Rule{flood}}, byVersion)
	s.write("A.lean", script.Fill(4*mebibyte))
	assert.Empty(t, s.texts("A.lean"))
	assert.Len(t, s.starts(), 1)
}
