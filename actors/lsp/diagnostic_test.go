package lsp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const somewhere = `"range":{"start":{"line":1,"character":2},"end":{"line":3,"character":4}}`

func TestDiagnosticsAreReadInEveryFormLSPAllows(t *testing.T) {
	list, err := parseDiagnostics("m", json.RawMessage(`[
		{`+somewhere+`,"severity":1,"message":"a","source":"s","code":"c"},
		{`+somewhere+`,"message":{"kind":"markdown","value":"b"},"code":7,"severity":null},
		{`+somewhere+`,"message":"","code":null,"source":null,"tags":[1],"unknown":{}}]`))
	require.NoError(t, err)
	span := Range{Start: Position{Line: 1, Character: 2}, End: Position{Line: 3, Character: 4}}
	assert.Equal(t, []Diagnostic{
		{Range: span, Severity: 1, Message: "a", Source: "s", Code: "c"},
		{Range: span, Message: "b", Code: "7"},
		{Range: span},
	}, list)
	list, err = parseDiagnostics("m", json.RawMessage(` [ ] `))
	require.NoError(t, err)
	assert.NotNil(t, list, "an empty list is an answer")
	assert.Empty(t, list)
}

func TestAnythingElseThanDiagnosticsIsNoAnswer(t *testing.T) {
	for _, bad := range []string{
		``, `null`, `{}`, `"x"`, `1`, `[1]`, `[null]`, `[{}]`,
		`[{"message":"no range"}]`, `[{` + somewhere + `}]`,
		`[{` + somewhere + `,"message":1}]`,
		`[{` + somewhere + `,"message":"x","severity":"error"}]`,
		`[{` + somewhere + `,"message":"x","severity":9}]`,
		`[{` + somewhere + `,"message":"x","code":{}}]`,
		`[{` + somewhere + `,"message":"x","source":1}]`,
		`[{"range":{"start":{"line":-1,"character":0},"end":{"line":0,"character":0}},"message":"x"}]`,
		`[{"range":{"start":{"line":0},"end":{"line":0,"character":0}},"message":"x"}]`,
		`[{"range":{"start":{"line":1.5,"character":0},"end":{"line":0,"character":0}},"message":"x"}]`,
	} {
		list, err := parseDiagnostics("textDocument/publishDiagnostics", json.RawMessage(bad))
		var malformed *MalformedError
		assert.ErrorAs(t, err, &malformed, bad)
		assert.Nil(t, list, bad)
	}
}
