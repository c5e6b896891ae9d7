package lsp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryRequestOfTheServerIsAnswered(t *testing.T) {
	p := started(t, Answers{
		Settings: map[string]any{"a": map[string]any{"b": 1, "c": map[string]any{"d": "x"}}},
		Folders:  []Folder{{URI: "file:///p", Name: "p"}},
	})
	for _, c := range []struct{ id, method, params, want string }{
		{`"r-1"`, "client/registerCapability", `{"registrations":[]}`, `"result":null`},
		{`0`, "client/unregisterCapability", `{"unregisterations":[]}`, `"result":null`},
		{`"ts1"`, "window/workDoneProgress/create", `{"token":"t"}`, `"result":null`},
		{`7`, "window/showMessageRequest", `{"message":"?","actions":[{"title":"yes"}]}`, `"result":null`},
		{`8`, "workspace/diagnostic/refresh", ``, `"result":null`},
		{`9`, "workspace/semanticTokens/refresh", `null`, `"result":null`},
		{`10`, "workspace/applyEdit", `{"edit":{}}`, `"result":{"applied":false,"failureReason":"edits are returned to the caller, not applied"}`},
		{`11`, "window/showDocument", `{"uri":"x"}`, `"result":{"success":false}`},
		{`12`, "workspace/workspaceFolders", ``, `"result":[{"uri":"file:///p","name":"p"}]`},
		{`13`, "workspace/configuration", `{"items":[{},{"section":"a"},{"section":"a.c"},{"section":"a.c.d"},{"section":"z"},{"section":"a.b.c"}]}`,
			`"result":[{"a":{"b":1,"c":{"d":"x"}}},{"b":1,"c":{"d":"x"}},{"d":"x"},"x",{},{}]`},
		{`14`, "workspace/configuration", `{"items":[]}`, `"result":[]`},
		{`"u"`, "no/such", `{}`, `"error":{"code":-32601,"message":"method \"no/such\" is not known to this client"}`},
	} {
		params := ""
		if c.params != "" {
			params = `,"params":` + c.params
		}
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q%s}`, c.id, c.method, params))
		_, raw := p.receive()
		assert.Equal(t, `{"jsonrpc":"2.0","id":`+c.id+`,`+c.want+`}`, raw, c.method)
	}
}

func TestConfigurationWithoutSettingsIsAnEmptyObjectEach(t *testing.T) {
	p := started(t, Answers{})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"workspace/configuration","params":{"items":[{},{"section":"css"}]}}`)
	_, raw := p.receive()
	assert.Equal(t, `{"jsonrpc":"2.0","id":1,"result":[{},{}]}`, raw)
}

func TestABatchIsAnsweredMemberByMember(t *testing.T) {
	p := started(t, Answers{})
	p.send(`[{"jsonrpc":"2.0","id":1,"method":"workspace/diagnostic/refresh"},{"jsonrpc":"2.0","method":"n"}]`)
	body, _, err := p.frames.ReadFrame(t.Context())
	require.NoError(t, err)
	assert.Equal(t, `[{"jsonrpc":"2.0","id":1,"result":null}]`, string(body))
}

func TestWhatTheServerTellsBecomesEventsInOrder(t *testing.T) {
	p := started(t, Answers{})
	version := int32(3)
	for _, c := range []struct {
		method, params string
		want           Event
	}{
		{"textDocument/publishDiagnostics", `{"uri":"file:///a","version":3,"diagnostics":[1]}`,
			Publication{URI: "file:///a", Version: &version, Diagnostics: []byte(`[1]`)}},
		{"textDocument/publishDiagnostics", `{"uri":"file:///b","diagnostics":null}`,
			Publication{URI: "file:///b", Diagnostics: []byte(`null`)}},
		{"$/progress", `{"token":"x","value":{"kind":"begin","title":"Loading"}}`,
			Progress{Token: `"x"`, Title: "Loading"}},
		{"$/progress", `{"token":1,"value":{"kind":"report","message":"half","percentage":50}}`,
			Progress{Token: "1", Text: "50 % half"}},
		{"$/progress", `{"token":1,"value":{"kind":"end"}}`, Progress{Token: "1", Done: true}},
		{"$/lean/fileProgress", `{"textDocument":{"uri":"file:///a","version":1},"processing":[{"range":{"start":{"line":3,"character":0},"end":{"line":40,"character":0}},"kind":1}]}`,
			Progress{URI: "file:///a", Title: "elaborating", Text: "from line 4 of 41"}},
		{"$/lean/fileProgress", `{"textDocument":{"uri":"file:///a"},"processing":[{"range":{"start":{"line":0,"character":0},"end":{"line":4,"character":0}},"kind":2}]}`,
			Progress{URI: "file:///a", Title: "elaborating", Text: "given up at line 1", GaveUp: true}},
		{"$/lean/fileProgress", `{"textDocument":{"uri":"file:///a"},"processing":[]}`,
			Progress{URI: "file:///a", Title: "elaborating", Done: true}},
	} {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, c.method, c.params))
		// The frame's buffer is used again for the next one: what was kept must be a copy.
		p.send(`{"jsonrpc":"2.0","method":"` + strings.Repeat("z", 200) + `"}`)
		assert.Equal(t, c.want, p.event(), c.params)
	}
}

func TestRegistrationsAreToldBeforeTheyAreAnswered(t *testing.T) {
	p := started(t, Answers{})
	p.send(`{"jsonrpc":"2.0","id":"r","method":"client/registerCapability","params":{"registrations":[{"id":"1","method":"a","registerOptions":{"x":1}},{"id":"2","method":"b"}]}}`)
	p.receive()
	assert.Equal(t, Registered{ID: "1", Method: "a", Options: []byte(`{"x":1}`)}, p.event())
	assert.Equal(t, Registered{ID: "2", Method: "b"}, p.event())
	p.send(`{"jsonrpc":"2.0","id":"r","method":"client/unregisterCapability","params":{"unregisterations":[{"id":"1","method":"a"}]}}`)
	p.receive()
	assert.Equal(t, Unregistered{ID: "1", Method: "a"}, p.event())
}

func TestAPublicationForNoFileEndsTheWire(t *testing.T) {
	for _, params := range []string{`{"diagnostics":[]}`, `{"uri":1,"diagnostics":[]}`, `{"uri":"file:///a","version":"1","diagnostics":[]}`, `[]`} {
		p := started(t, Answers{})
		p.send(`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":` + params + `}`)
		down, ok := p.event().(Down)
		require.True(t, ok)
		var malformed *MalformedError
		assert.ErrorAs(t, down.Err, &malformed)
		_, err := p.Call(t.Context(), "m", nil)
		assert.Equal(t, down.Err, err)
	}
}

func TestWhatIsUnreadableInProgressIsLeftOut(t *testing.T) {
	p := started(t, Answers{})
	p.send(`{"jsonrpc":"2.0","method":"$/progress","params":{"token":"x","value":7}}`)
	p.send(`{"jsonrpc":"2.0","method":"$/lean/fileProgress","params":[]}`)
	p.send(`{"jsonrpc":"2.0","method":"$/progress","params":{"token":"x","value":{"kind":"end"}}}`)
	assert.Equal(t, Progress{Token: `"x"`, Done: true}, p.event())
}
