package lsp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHoverContentsAreReadInEveryForm(t *testing.T) {
	span := &Range{Start: Position{Line: 1, Character: 2}, End: Position{Line: 3, Character: 4}}
	for result, want := range map[string]Hover{
		`null`:                {},
		`{"contents":null}`:   {},
		`{"contents":[]}`:     {Markdown: true},
		`{"contents":""}`:     {Markdown: true},
		`{"contents":"text"}`: {Text: "text", Markdown: true},
		`{"contents":{"kind":"plaintext","value":"p"}}`:                                        {Text: "p"},
		`{"contents":{"kind":"markdown","value":"**m**"},` + somewhere + `}`:                   {Text: "**m**", Markdown: true, Range: span},
		`{"contents":{"language":"go","value":"var x"}}`:                                       {Text: "```go\nvar x\n```", Markdown: true},
		`{"contents":["doc",{"language":"c","value":"int x"},"",{"language":"c","value":""}]}`: {Text: "doc\n\n```c\nint x\n```", Markdown: true},
	} {
		c, w := newClient(t, Profile{}, pushing)
		w.answer("textDocument/hover", json.RawMessage(result))
		got, err := c.Hover(t.Context(), Source{Path: aPath}, Position{Line: 1, Character: 2})
		require.NoError(t, err, result)
		assert.Equal(t, want, got, result)
		assert.Equal(t, []sent{{"textDocument/hover", `{"position":{"line":1,"character":2},"textDocument":{"uri":"file:///p/a"}}`}}, w.take())
	}
	for _, bad := range []string{`7`, `[]`, `{"contents":7}`, `{"contents":{}}`, `{"contents":[7]}`, `{"contents":"x","range":{}}`} {
		c, w := newClient(t, Profile{}, pushing)
		w.answer("textDocument/hover", json.RawMessage(bad))
		_, err := c.Hover(t.Context(), Source{Path: aPath}, Position{})
		var malformed *MalformedError
		assert.ErrorAs(t, err, &malformed, bad)
	}
}

func TestHoverIsTriedWhereNothingWasDeclared(t *testing.T) {
	c, w := newClient(t, Profile{}, `{"capabilities":{"textDocumentSync":1}}`)
	w.answer("textDocument/hover", json.RawMessage(`{"contents":"x"}`))
	h, err := c.Hover(t.Context(), Source{Path: aPath}, Position{})
	require.NoError(t, err)
	assert.Equal(t, "x", h.Text)
	c, _ = newClient(t, Profile{}, `{"capabilities":{"definitionProvider":true}}`)
	_, err = c.Hover(t.Context(), Source{Path: aPath}, Position{})
	var missing *NotOfferedError
	assert.ErrorAs(t, err, &missing, "no answer would say that there is nothing at the place")
}

func TestPositionsGoOutInWhatTheServerCounts(t *testing.T) {
	c, w := newClient(t, Profile{}, `{"capabilities":{"positionEncoding":"utf-8"}}`)
	w.answer("textDocument/hover", json.RawMessage(`{"contents":"x","range":{"start":{"line":0,"character":4},"end":{"line":0,"character":6}}}`))
	h, err := c.Hover(t.Context(), Source{Path: aPath, Text: []byte("𝕏é")}, Position{Character: 2})
	require.NoError(t, err)
	assert.Contains(t, w.take()[0].params, `"position":{"line":0,"character":4}`)
	assert.Equal(t, &Range{Start: Position{Character: 2}, End: Position{Character: 3}}, h.Range)
}
