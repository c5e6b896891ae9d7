package lsp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCapabilitiesAreReadInEveryForm(t *testing.T) {
	for result, want := range map[string]capabilities{
		`{}`: {encoding: UTF16},
		`{"capabilities":{"textDocumentSync":0}}`:                                         {encoding: UTF16, resync: true},
		`{"capabilities":{"textDocumentSync":2}}`:                                         {encoding: UTF16},
		`{"capabilities":{"textDocumentSync":null}}`:                                      {encoding: UTF16},
		`{"capabilities":{"textDocumentSync":{"openClose":true,"change":2,"save":true}}}`: {encoding: UTF16, save: true},
		`{"capabilities":{"textDocumentSync":{"change":0,"save":{"includeText":true}}}}`:  {encoding: UTF16, resync: true, save: true, saveText: true},
		`{"capabilities":{"textDocumentSync":{"save":false}}}`:                            {encoding: UTF16},
		`{"capabilities":{"positionEncoding":"utf-8"},"serverInfo":{"name":"n"}}`:         {encoding: UTF8, server: "n"},
		`{"capabilities":{},"offsetEncoding":"utf-32"}`:                                   {encoding: UTF32},
		`{"capabilities":{"positionEncoding":"utf-16"},"offsetEncoding":"utf-32"}`:        {encoding: UTF16},
		`{"capabilities":{"positionEncoding":"ebcdic"}}`:                                  {encoding: UTF16},
		`{"capabilities":{},"serverInfo":{"name":"pylsp"}}`:                               {encoding: UTF32, server: "pylsp"},
	} {
		got, err := parseCapabilities(json.RawMessage(result))
		require.NoError(t, err, result)
		got.providers = nil
		assert.Equal(t, want, got, result)
	}
}

func TestARequestThatTheServerLacksIsNotSent(t *testing.T) {
	c, w := newClient(t, Profile{Name: "x-server"}, `{"capabilities":{"hoverProvider":true,"definitionProvider":false,"referencesProvider":{}}}`)
	for _, answered := range []string{"textDocument/references", "textDocument/rename", "$/own"} {
		w.answer(answered, true)
	}
	_, err := c.Request(t.Context(), "textDocument/definition", nil)
	assert.Equal(t, &NotOfferedError{Method: "textDocument/definition", Server: "x-server"}, err)
	assert.EqualError(t, err, "textDocument/definition is not offered by x-server")
	assert.Empty(t, w.take())
	for _, method := range []string{"textDocument/references", "$/own"} {
		_, err = c.Request(t.Context(), method, nil)
		assert.NoError(t, err, method)
	}
	_, err = c.Request(t.Context(), "textDocument/rename", nil)
	require.Error(t, err)
	w.tell(Registered{ID: "1", Method: "textDocument/rename"})
	_, err = c.Request(t.Context(), "textDocument/rename", nil)
	assert.NoError(t, err, "it came with a registration")
}

func TestARequestThatWasRefusedAsUnknownIsNotSentAgain(t *testing.T) {
	c, w := newClient(t, Profile{}, `{"capabilities":{}}`)
	var missing *NotOfferedError
	_, err := c.Request(t.Context(), "textDocument/definition", nil)
	assert.ErrorAs(t, err, &missing)
	assert.Equal(t, []string{"textDocument/definition"}, w.methods(), "a server that declares nothing is tried")
	_, err = c.Request(t.Context(), "textDocument/definition", nil)
	assert.ErrorAs(t, err, &missing)
	assert.Empty(t, w.methods())
}
