package lsp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
)

func TestShortNamesMeanMethodsAndOthersMeanThemselves(t *testing.T) {
	for _, name := range ShortNames() {
		method, err := Method(name)
		require.NoError(t, err)
		assert.Contains(t, method, "/", name)
		same, err := Method(method)
		require.NoError(t, err)
		assert.Equal(t, method, same)
	}
	for _, bad := range []string{"", "shutdown", "defintion"} {
		_, err := Method(bad)
		assert.Equal(t, messages.KindInvalid, messages.KindOf(err), bad)
		assert.ErrorContains(t, err, "definition")
	}
}

const offeringAll = `{"capabilities":{"referencesProvider":true,"documentFormattingProvider":true,"codeActionProvider":true,
	"typeHierarchyProvider":true,"workspaceSymbolProvider":true,"diagnosticProvider":{}}}`

// queried asks about an open document and gives what was sent for it.
func queried(t *testing.T, op messages.Query, answers map[string]string) (sent []string, result string) {
	ask(t, CompleteQuiet, offeringAll, func(a *asking) {
		for method, answer := range answers {
			a.w.answer(method, json.RawMessage(answer))
		}
		a.w.take()
		raw, err := a.Query(a.Context(), Source{Path: aPath, Text: []byte("one\ntwo\n")}, op)
		require.NoError(a, err)
		result = string(raw)
		for _, s := range a.w.take() {
			sent = append(sent, s.method+" "+s.params)
		}
	})
	return sent, result
}

const ofA = `"textDocument":{"uri":"file:///p/a"}`

func TestQueryAddsWhatLSPDemandsAndTheCallerLeftOut(t *testing.T) {
	at := &Position{Line: 1, Character: 2}
	for _, row := range []struct{ method, params, want string }{
		{"textDocument/references", `{}`, `{"context":{"includeDeclaration":true},"position":{"line":1,"character":2},` + ofA + `}`},
		{"textDocument/references", `{"context":{"includeDeclaration":false}}`,
			`{"context":{"includeDeclaration":false},"position":{"line":1,"character":2},` + ofA + `}`},
		{"textDocument/formatting", `{}`, `{"options":{"insertSpaces":true,"tabSize":4},"position":{"line":1,"character":2},` + ofA + `}`},
		{"textDocument/references", `null`, `{"context":{"includeDeclaration":true},"position":{"line":1,"character":2},` + ofA + `}`},
		{"workspace/symbol", `{"query":"x","data":{"b":9007199254740993,"a":null}}`,
			`{"data":{"b":9007199254740993,"a":null},"position":{"line":1,"character":2},"query":"x",` + ofA + `}`},
		{"workspace/symbol", `{"query":null,"more":null}`, `{"more":null,"position":{"line":1,"character":2},"query":"",` + ofA + `}`},
		{"workspace/symbol", `{"query":"x"}`, `{"position":{"line":1,"character":2},"query":"x",` + ofA + `}`},
	} {
		sent, _ := queried(t, messages.Query{Method: row.method, Position: at, Params: json.RawMessage(row.params)},
			map[string]string{row.method: `null`})
		assert.Equal(t, []string{row.method + " " + row.want}, sent)
	}
}

func TestCodeActionsAreAskedForWithTheServersOwnDiagnosticsThere(t *testing.T) {
	const first = `{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"message":"a","data":{"own":1}}`
	const second = `{"range":{"start":{"line":1,"character":0},"end":{"line":1,"character":3}},"message":"b"}`
	answers := map[string]string{"textDocument/codeAction": `[]`, pullMethod: `{"kind":"full","items":[` + first + `,` + second + `]}`}
	for _, row := range []struct {
		name   string
		at     *Position
		params string
		want   string
	}{
		{"at a place", &Position{Line: 1, Character: 3}, ``,
			`{"context":{"diagnostics":[` + second + `]},"range":{"start":{"line":1,"character":3},"end":{"line":1,"character":3}},` + ofA + `}`},
		{"of all", nil, ``,
			`{"context":{"diagnostics":[` + first + `,` + second + `]},"range":{"start":{"line":0,"character":0},"end":{"line":2,"character":0}},` + ofA + `}`},
		{"of a range", nil, `{"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":2}}}`,
			`{"context":{"diagnostics":[` + first + `]},"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":2}},` + ofA + `}`},
	} {
		sent, _ := queried(t, messages.Query{Method: "textDocument/codeAction", Position: row.at, Params: json.RawMessage(row.params)}, answers)
		require.Len(t, sent, 2, row.name)
		assert.Equal(t, "textDocument/codeAction "+row.want, sent[1], row.name)
	}
	sent, _ := queried(t, messages.Query{Method: "textDocument/codeAction", Params: json.RawMessage(`{"context":{"diagnostics":[]}}`)}, answers)
	assert.Len(t, sent, 1, "the caller's own context is taken")
}

func TestHierarchyIsAskedOfEachItemAtThePlace(t *testing.T) {
	const prepare, supertypes = "textDocument/prepareTypeHierarchy", "typeHierarchy/supertypes"
	op := messages.Query{Method: supertypes, Position: &Position{}}
	sent, result := queried(t, op, map[string]string{prepare: `[{"name":"a"},{"name":"b"}]`, supertypes: `[{"name":"c"}]`})
	assert.Equal(t, []string{prepare + ` {"position":{"line":0,"character":0},` + ofA + `}`,
		supertypes + ` {"item":{"name":"a"}}`, supertypes + ` {"item":{"name":"b"}}`}, sent)
	assert.JSONEq(t, `[{"name":"c"},{"name":"c"}]`, result)
	_, result = queried(t, op, map[string]string{prepare: `null`})
	assert.JSONEq(t, `[]`, result)
	sent, _ = queried(t, messages.Query{Method: supertypes, Params: json.RawMessage(`{"item":{"name":"a"}}`)}, map[string]string{supertypes: `null`})
	assert.Equal(t, []string{supertypes + ` {"item":{"name":"a"},` + ofA + `}`}, sent)
}
