package main_test

import (
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/lsptext"
	"github.com/seed-f6977891/hearth/test/standins/lspwire"
)

func TestTheHandshakeIsLeans(t *testing.T) {
	e := edit(t)
	answer := e.Initialize(t, struct{}{})
	require.Contains(t, answer.Body, `{"capabilities":{"textDocumentSync":{"openClose":true,"change":2,"willSave":false,`)
	require.Contains(t, answer.Body, `"serverInfo":{"name":"Lean 4 Server","version":"0.3.0"}}`)
	asked := e.AwaitMethod(t, "client/registerCapability")
	require.Equal(t, `"register_lean_watcher"`, string(asked.ID))
	require.Contains(t, asked.Body, `"watchers":[{"globPattern":"**/*.lean"},{"globPattern":"**/*.ilean"}]`)
}

func TestRefreshesAreAskedForWhereTheKnobSaysSo(t *testing.T) {
	e := edit(t, standins.At("server", "refresh"))
	e.Initialize(t, struct{}{})
	require.Equal(t, `"refresh_tokens"`, string(e.AwaitMethod(t, "workspace/semanticTokens/refresh").ID))
	require.Equal(t, "1", string(e.AwaitMethod(t, "workspace/inlayHint/refresh").ID))
}

func TestAnOpenReportsInLeansOrder(t *testing.T) {
	e := edit(t)
	e.open(t, "A.lean", "def f := 1\n\ntheorem t : 1 = 2 := rfl\n\ndef g : Nat := sorry\n", "")
	require.JSONEq(t, "{}", string(e.waitForDiagnostics(t, "A.lean", 1).Message.Result))
	// All of it is in work; setup is over: an empty list; below the first line in work, one message; and so on; the end.
	require.Equal(t, "P0P1P2.2", e.trace("A.lean"))
	published := e.publications(t, "A.lean")
	last := published[len(published)-1]
	require.Equal(t, 1, *last.Version)
	require.Equal(t, []string{
		"Tactic `rfl` failed: The left-hand side\n  1\nis not definitionally equal to the right-hand side\n  2\n\n⊢ 1 = 2",
		"declaration uses `sorry`",
	}, last.messages())
	require.Equal(t, "Lean 4", last.Diagnostics[0].Source)
	require.Equal(t, 1, last.Diagnostics[0].Severity)
	require.Equal(t, 2, last.Diagnostics[1].Severity)
	require.Equal(t, lsptext.Position{Line: 4, Character: 4}, last.Diagnostics[1].Range.Start)

	first := e.AwaitMethod(t, "$/lean/fileProgress")
	require.JSONEq(t, `{"textDocument":{"uri":"`+e.uri("A.lean")+`","version":1},"processing":[{"kind":1,
		"range":{"start":{"line":0,"character":0},"end":{"line":5,"character":0}}}]}`, string(first.Params))
}

func TestPlacesAreInUTF16Units(t *testing.T) {
	e := edit(t)
	e.open(t, "A.lean", "def 𝓤 := sorry\n", "")
	e.waitForDiagnostics(t, "A.lean", 1)
	published := e.publications(t, "A.lean")
	require.Equal(t, lsptext.Range{Start: lsptext.Position{Character: 4}, End: lsptext.Position{Character: 6}},
		published[len(published)-1].Diagnostics[0].Range)
}

func TestSetupReportsItsProgressAndThenAnEmptyList(t *testing.T) {
	e := edit(t)
	standins.WriteFile(t, filepath.Join(e.project, "Base.lean"), "def base := 1\n")
	e.open(t, "A.lean", "import Base\n#check base\n", "")
	e.waitForDiagnostics(t, "A.lean", 1)
	published := e.publications(t, "A.lean")
	require.Equal(t, []string{"✔ [1/1] Built Base\n"}, published[0].messages())
	require.Equal(t, 3, published[0].Diagnostics[0].Severity)
	require.Empty(t, published[1].messages())
	require.Contains(t, e.trace("A.lean"), "P10")
	require.Equal(t, []string{"base : Nat"}, published[len(published)-1].messages())
	require.FileExists(t, filepath.Join(e.project, ".lake/build/lib/lean/Base.olean"))
}

func TestAnImportThatDoesNotBuildIsAnErrorWithItsText(t *testing.T) {
	e := edit(t)
	e.open(t, "A.lean", "import Broken\n", "")
	e.waitForDiagnostics(t, "A.lean", 1)
	published := e.publications(t, "A.lean")
	last := published[len(published)-1].messages()
	require.Len(t, last, 1)
	require.Contains(t, last[0], "Type mismatch")
	require.Contains(t, last[0], "setup-file")
}

func TestStaleImportsWithoutBuildingAreOneError(t *testing.T) {
	e := edit(t)
	e.open(t, "A.lean", "import Main\ndef f : Nat := sorry\n", "never")
	e.waitForDiagnostics(t, "A.lean", 1)
	advice := []string{"Imports are out of date and must be rebuilt; use the \"Restart File\" command in your editor."}
	require.Equal(t, "P.1", e.trace("A.lean"))
	require.Equal(t, advice, e.publications(t, "A.lean")[0].messages())

	// "once" builds them.
	e.Notify(t, "textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": e.uri("A.lean")}})
	e.open(t, "A.lean", "import Main\ndef f : Nat := sorry\n", "once")
	e.waitForDiagnostics(t, "A.lean", 1)
	published := e.publications(t, "A.lean")
	require.Equal(t, []string{"declaration uses `sorry`"}, published[len(published)-1].messages())
}

func TestOnceBecomesNeverWithTheNextWorker(t *testing.T) {
	e := edit(t)
	e.open(t, "A.lean", "import Main\n-- fake: crash\n", "once")
	e.Await(t, func(m standins.Incoming) bool { return strings.Contains(m.Body, `"kind":2`) })
	standins.WriteFile(t, filepath.Join(e.project, "Main.lean"), "def answer : Nat := 43\n")
	e.change(t, "A.lean", 2, "import Main\n")
	e.waitForDiagnostics(t, "A.lean", 2)
	published := e.publications(t, "A.lean")
	require.Contains(t, published[len(published)-1].messages()[0], "must be rebuilt")
}

func TestAChangedDependencyIsAStickyInformation(t *testing.T) {
	e := edit(t)
	e.open(t, "A.lean", "import Main\n", "")
	e.waitForDiagnostics(t, "A.lean", 1)
	e.open(t, "Main.lean", "def answer : Nat := 1\n", "")
	e.change(t, "Main.lean", 2, "def answer : Nat := 2\n")
	note := e.Await(t, func(m standins.Incoming) bool { return strings.Contains(m.Body, "should be rebuilt") })
	require.Contains(t, note.Body, e.uri("A.lean"))
	require.Contains(t, note.Body, `"severity":3`)
}

func TestAChangeIsElaboratedAnewAndOlderVersionsAreNotReported(t *testing.T) {
	e := edit(t)
	e.open(t, "A.lean", "-- fake: sleep 5m\ndef f : Nat := sorry\n", "")
	wait := e.Send(t, "textDocument/waitForDiagnostics", map[string]any{"uri": e.uri("A.lean"), "version": 2})
	hover := e.Send(t, "textDocument/hover", e.at("A.lean", 1, 5))
	e.await(t, "worker", journal.Received, "textDocument/hover")
	e.change(t, "A.lean", 2, "def f : Nat := 1\n")
	require.JSONEq(t, "{}", string(e.Answer(t, wait).Message.Result))
	require.Equal(t, lspwire.ContentModified, e.Answer(t, hover).Error.Code)
	for _, p := range e.publications(t, "A.lean") {
		require.Empty(t, p.messages())
	}
	require.Len(t, standins.Select(t, e.journal, standins.Is("worker", journal.Start, "")), 1)
}

func TestAnotherHeaderNeedsAnotherWorker(t *testing.T) {
	e := edit(t)
	e.open(t, "A.lean", "def f := 1\n", "")
	e.waitForDiagnostics(t, "A.lean", 1)
	e.change(t, "A.lean", 2, "import Main\n#check answer\n")
	first := e.await(t, "worker", journal.Exit, "2")
	workers := standins.AwaitEvents(t, e.journal, standins.Is("worker", journal.Start, ""), 2, standins.Bound)
	require.NotEqual(t, first.PID, workers[1].PID)
	e.waitForDiagnostics(t, "A.lean", 2)
}

func TestACrashAnswersWhatIsPendingAndTheNextChangeStartsAnew(t *testing.T) {
	for deed, want := range map[string]struct {
		code int
		text string
	}{
		"crash":      {-32902, "crashed, likely due to a stack overflow or a bug."},
		"crash 139":  {-32902, "crashed, likely due to a stack overflow or a bug."},
		"crash kill": {-32902, "crashed, likely due to a stack overflow or a bug."},
		"crash 1":    {-32901, "crashed, see stderr for exception."},
	} {
		t.Run(deed, func(t *testing.T) {
			e := edit(t)
			e.open(t, "A.lean", "-- fake: sleep 5m\n", "")
			wait := e.Send(t, "textDocument/waitForDiagnostics", map[string]any{"uri": e.uri("A.lean"), "version": 2})
			e.await(t, "worker", journal.Received, "textDocument/waitForDiagnostics")
			e.change(t, "A.lean", 2, "def f := 1\n\n-- fake: "+deed+"\n")
			answer := e.Answer(t, wait)
			require.Equal(t, want.code, answer.Error.Code)
			require.Equal(t, "Server process for "+e.uri("A.lean")+" "+want.text, answer.Error.Message)
			e.Await(t, func(m standins.Incoming) bool { return strings.Contains(m.Body, `"kind":2`) })
			require.True(t, strings.HasSuffix(e.trace("A.lean"), "X"))
			require.Equal(t, -32902, e.Call(t, "textDocument/hover", e.at("A.lean", 0, 0)).Error.Code)
			e.change(t, "A.lean", 3, "def f := 1\n")
			require.Nil(t, e.waitForDiagnostics(t, "A.lean", 3).Error)
		})
	}
}

func TestACloseAnswersWhatIsPendingAndEmptiesTheList(t *testing.T) {
	e := edit(t)
	e.open(t, "A.lean", "theorem t : 1 = 2 := rfl\n\n-- fake: sleep 5m\n", "")
	wait := e.Send(t, "textDocument/waitForDiagnostics", map[string]any{"uri": e.uri("A.lean"), "version": 1})
	e.await(t, "worker", journal.Received, "textDocument/waitForDiagnostics")
	e.Notify(t, "textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": e.uri("A.lean")}})
	failed := e.Answer(t, wait).Error
	require.Equal(t, lspwire.ContentModified, failed.Code)
	require.Equal(t, "The file worker for "+e.uri("A.lean")+" has been terminated.", failed.Message)
	closed := e.Call(t, "textDocument/hover", e.at("A.lean", 0, 0)).Error
	require.Equal(t, lspwire.ContentModified, closed.Code)
	require.Equal(t, "Cannot process request to closed file '"+e.uri("A.lean")+"'", closed.Message)
	published := e.publications(t, "A.lean")
	require.Empty(t, published[len(published)-1].messages())
	require.Nil(t, published[len(published)-1].Version)
	e.await(t, "worker", journal.Exit, "0")
}

func TestCancelAnswersWithItsCode(t *testing.T) {
	e := edit(t)
	e.open(t, "A.lean", "-- fake: sleep 5m\n", "")
	id := e.Send(t, "textDocument/waitForDiagnostics", map[string]any{"uri": e.uri("A.lean"), "version": 1})
	e.Notify(t, "$/cancelRequest", map[string]int{"id": id})
	require.Equal(t, lspwire.RequestCancelled, e.Answer(t, id).Error.Code)
}

func TestFilesDoNotWaitForEachOther(t *testing.T) {
	e := edit(t)
	e.open(t, "A.lean", "-- fake: sleep 5m\n", "")
	e.open(t, "B.lean", "def g := 1\n", "")
	require.Nil(t, e.waitForDiagnostics(t, "B.lean", 1).Error)
	workers := standins.AwaitEvents(t, e.journal, standins.Is("worker", journal.Start, ""), 2, standins.Bound)
	require.Len(t, workers, 2)
	require.NotEqual(t, workers[0].SID, workers[1].SID)
}

func TestDirectivesInTheText(t *testing.T) {
	t.Run("messages at places", func(t *testing.T) {
		e := edit(t)
		e.open(t, "A.lean", "-- fake: error 3:1 bad thing\n-- fake: warning 1:0 hm\n-- fake: info 2:0 well\n", "")
		e.waitForDiagnostics(t, "A.lean", 1)
		published := e.publications(t, "A.lean")
		last := published[len(published)-1]
		require.Equal(t, []string{"bad thing", "hm", "well"}, last.messages())
		require.Equal(t, lsptext.Position{Line: 2, Character: 1}, last.Diagnostics[0].Range.Start)
	})
	t.Run("nothing published", func(t *testing.T) {
		e := edit(t)
		e.open(t, "A.lean", "-- fake: no-publish\ndef f : Nat := sorry\n", "")
		e.waitForDiagnostics(t, "A.lean", 1)
		require.Empty(t, e.publications(t, "A.lean"))
	})
	t.Run("noise on the stream", func(t *testing.T) {
		e := edit(t)
		e.open(t, "A.lean", "-- fake: garbage hello\n", "")
		require.ErrorContains(t, e.AwaitEnd(t), `header line "hello" has no colon`)
	})
	t.Run("half a frame and silence", func(t *testing.T) {
		e := edit(t)
		e.open(t, "A.lean", "-- fake: partial-frame\n", "")
		e.await(t, "server", journal.Sent, "raw")
		require.NoError(t, e.Cmd.Process.Kill())
		standins.Kill(t, e.await(t, "server", journal.Start, ""), unix.SIGKILL)
		require.ErrorIs(t, e.AwaitEnd(t), io.ErrUnexpectedEOF)
	})
}

func TestRequestsAreAnsweredFromTheText(t *testing.T) {
	e := edit(t)
	e.open(t, "A.lean", "import Main\ndef twice (n : Nat) : Nat := sorry\n\n"+
		"theorem t (h : 1 = 1) : twice 1 = 2 := by\n  sorry\n\n#check answer\n", "")
	result := func(method string, line, character int) string {
		m := e.Call(t, method, e.at("A.lean", line, character))
		require.Nil(t, m.Error, method)
		return string(m.Message.Result)
	}
	require.JSONEq(t, `{"contents":{"kind":"markdown",
		"value":"`+"```lean\\ntwice (n : Nat) : Nat\\n```\\n***\\nDeclared in this file."+`"},
		"range":{"start":{"line":3,"character":24},"end":{"line":3,"character":29}}}`, result("textDocument/hover", 3, 26))
	require.Equal(t, "null", result("textDocument/hover", 2, 0))
	goal := "h : 1 = 1\\n⊢ twice 1 = 2"
	require.JSONEq(t, `{"rendered":"`+"```lean\\n"+goal+"\\n```"+`","goals":["`+goal+`"]}`, result("$/lean/plainGoal", 4, 3))
	require.Equal(t, "null", result("$/lean/plainGoal", 1, 30))
	require.Contains(t, result("$/lean/plainTermGoal", 1, 30), `"goal":"n : Nat\n⊢ Nat"`)
	require.Equal(t, "null", result("$/lean/plainTermGoal", 6, 0))
	require.JSONEq(t, `[{"uri":"`+e.uri("A.lean")+`","range":{"start":{"line":1,"character":4},"end":{"line":1,"character":9}}}]`,
		result("textDocument/definition", 3, 26))
	require.JSONEq(t, `[{"uri":"`+e.uri("Main.lean")+`","range":{"start":{"line":0,"character":4},"end":{"line":0,"character":10}}}]`,
		result("textDocument/definition", 6, 9))
	require.Equal(t, 3, strings.Count(result("textDocument/references", 6, 9), `"uri"`))
	require.Equal(t, 2, strings.Count(result("textDocument/documentHighlight", 3, 26), `"range"`))
	require.Contains(t, result("textDocument/completion", 3, 26), `"label":"twice"`)
	var list []struct{ Name string }
	require.NoError(t, json.Unmarshal([]byte(result("textDocument/documentSymbol", 0, 0)), &list))
	require.Equal(t, []struct{ Name string }{{"twice"}, {"t"}}, list)
	require.Contains(t, string(e.Call(t, "workspace/symbol", map[string]string{"query": "answ"}).Message.Result), "Main.lean")
	at := e.at("A.lean", 3, 26)
	at["newName"] = "double"
	require.Equal(t, 2, strings.Count(e.Call(t, "textDocument/rename", at).Body, `"newText":"double"`))
	require.Equal(t, lspwire.MethodNotFound, e.Call(t, "textDocument/signatureHelp", at).Error.Code)
	require.Equal(t, -32900, e.Call(t, "$/lean/rpc/call", at).Error.Code)
}
