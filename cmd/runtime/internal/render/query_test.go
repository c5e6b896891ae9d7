package render

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/supervisor"
)

// rendered gives the text of a result about a.go, in which $A stands for the file's URI
// and $R for a range in its second line.
func rendered(t *testing.T, method, result string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.go")
	require.NoError(t, os.WriteFile(file, []byte("package a\n\tvar 𝕏é = call(1)\n"), 0o600))
	result = strings.NewReplacer("$A", "file://"+file, "$D", "file://"+dir,
		"$R", `{"start":{"line":1,"character":7},"end":{"line":1,"character":8}}`).Replace(result)
	return Query(supervisor.Document{Project: dir, File: "a.go"},
		supervisor.QueryReport{Method: method, Result: json.RawMessage(result), Encoding: "utf-16"})
}

func TestResultsReadAsALineForEachThing(t *testing.T) {
	const definition, symbols = "textDocument/definition", "textDocument/documentSymbol"
	for _, row := range []struct{ method, result, want string }{
		{definition, `null`, "nothing found\n"},
		{definition, `[]`, "nothing found\n"},
		{"textDocument/formatting", `[]`, "nothing to change\n"},
		{definition, `{"uri":"$A","range":$R}`, "a.go:2:7: var 𝕏é = call(1)\n"},
		{definition, `[{"targetUri":"$A","targetRange":$R,"targetSelectionRange":$R}]`, "a.go:2:7: var 𝕏é = call(1)\n"},
		{definition, `[{"uri":"file:///elsewhere/b.go","range":$R}]`, "/elsewhere/b.go:2:8: \n"},
		{"textDocument/documentHighlight", `[{"range":$R,"kind":1}]`, "a.go:2:7: var 𝕏é = call(1)\n"},
		{symbols, `[{"name":"T","kind":23,"range":$R,"selectionRange":$R,"children":[{"name":"m","detail":"func()\n{}","kind":6,"range":$R,"selectionRange":$R}]}]`,
			"a.go:2:7: struct T\na.go:2:7:   method m func()\n"},
		{symbols, `[{"name":"f","kind":99,"containerName":"m","location":{"uri":"$D/b.go","range":$R}}]`, "b.go:2:8: symbol f in m\n"},
		{"workspace/symbol", `[{"name":"f","kind":12,"location":{"uri":"$A","range":$R}}]`, "a.go:2:7: function f\n"},
		{"textDocument/completion", `[{"label":" call","kind":3,"detail":"func(int)"},{"label":"x"}]`, "function call func(int)\nsymbol x\n"},
		{"textDocument/completion", `{"isIncomplete":false,"items":[{"label":"a","kind":14}]}`, "keyword a\n"},
		{"textDocument/signatureHelp", `{"signatures":[{"label":"call(int)","documentation":{"kind":"markdown","value":"Calls\nit."}}]}`,
			"  call(int)\n    Calls\n    it.\n"},
		{"textDocument/signatureHelp", `{"signatures":[{"label":"a"},{"label":"b","documentation":"of b"}],"activeSignature":1}`, "  a\n> b\n    of b\n"},
		{"textDocument/codeAction", `[{"title":"Fix","kind":"quickfix","edit":{"changes":{"$A":[{"range":$R,"newText":"x"}]}}},{"title":"No","disabled":{"reason":"why"}}]`,
			"Fix [quickfix]\n    a.go:2:7-2:8: replace by \"x\"\nNo (not here: why)\n"},
		{"textDocument/rename", `{"documentChanges":[{"textDocument":{"uri":"$A"},"edits":[{"range":$R,"newText":"ü\n"}]},
			{"kind":"rename","oldUri":"$A","newUri":"$D/b.go"},{"kind":"create","uri":"$D/c.go"}],"changes":{"$A":[]}}`,
			"a.go:2:7-2:8: replace by \"ü\\n\"\nrename the file a.go to b.go\ncreate the file c.go\n"},
		{"textDocument/formatting", `[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"newText":"x"},{"range":$R,"newText":""}]`,
			"a.go:1:1: insert \"x\"\na.go:2:7-2:8: delete\n"},
		{"typeHierarchy/supertypes", `[{"name":"T","kind":11,"uri":"$A","range":$R,"selectionRange":$R}]`, "a.go:2:7: interface T\n"},
		{"callHierarchy/incomingCalls", `[{"from":{"name":"f","kind":12,"uri":"$A","range":$R,"selectionRange":$R},"fromRanges":[$R]}]`,
			"a.go:2:7: function f\n  called at a.go:2:7: var 𝕏é = call(1)\n"},
		{"callHierarchy/outgoingCalls", `[{"to":{"name":"g","kind":12,"uri":"$A","range":$R,"selectionRange":$R},"fromRanges":[$R]}]`, "a.go:2:7: function g\n"},
		{"$/lean/plainGoal", `{"rendered":"x","goals":["a : Nat\n⊢ a = a","⊢ True"]}`, "a : Nat\n⊢ a = a\n\n⊢ True\n"},
		{"$/lean/plainGoal", `{"rendered":"no goals","goals":[]}`, "no goals\n"},
		{"$/lean/plainTermGoal", `{"goal":"⊢ Nat","range":$R}`, "⊢ Nat\n"},
		{"x/other", `{"a":1}`, "{\n  \"a\": 1\n}\n"},
		{definition, `7`, "7\n"},
		{"textDocument/rename", `[]`, "[]\n"},
	} {
		assert.Equal(t, row.want, rendered(t, row.method, row.result), "%s %s", row.method, row.result)
	}
}

func TestLongListOfCompletionsIsCut(t *testing.T) {
	text := rendered(t, "textDocument/completion", "["+strings.Repeat(`{"label":"a"},`, 60)+`{"label":"a"}]`)
	assert.Equal(t, 51, strings.Count(text, "\n"))
	assert.True(t, strings.HasSuffix(text, "... and 11 more\n"))
}

func TestPlacesOfAServerThatCountsCharactersStayAsTheyAre(t *testing.T) {
	text := Query(supervisor.Document{Project: "/p", File: "a.py"}, supervisor.QueryReport{Method: "textDocument/definition",
		Result: json.RawMessage(`{"uri":"file:///p/a.py","range":{"start":{"line":0,"character":4},"end":{"line":0,"character":5}}}`), Encoding: "utf-32"})
	assert.Equal(t, "a.py:1:5: \n", text)
}
