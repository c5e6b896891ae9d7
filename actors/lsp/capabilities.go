package lsp

import (
	"bytes"
	"encoding/json"
	"strings"
)

// declared is what this client can do. A server changes its behaviour by it: without
// publishDiagnostics one publishes nothing, without contentFormat hovers lose their
// markup, and other encodings than UTF-16, offered, change what one counts in.
func declared() map[string]any {
	dynamic := map[string]any{"dynamicRegistration": true}
	formats := []string{"markdown", "plaintext"}
	return map[string]any{
		"general": map[string]any{"positionEncodings": []Encoding{UTF16}},
		"window":  map[string]any{"workDoneProgress": true},
		"workspace": map[string]any{
			"configuration":         true,
			"workspaceFolders":      true,
			"applyEdit":             false,
			"didChangeWatchedFiles": map[string]any{"dynamicRegistration": true, "relativePatternSupport": true},
			"diagnostics":           map[string]any{"refreshSupport": true},
			"symbol":                map[string]any{},
		},
		"textDocument": map[string]any{
			"synchronization":    map[string]any{"didSave": true},
			"publishDiagnostics": map[string]any{"versionSupport": true},
			"diagnostic":         dynamic,
			"hover":              map[string]any{"contentFormat": formats},
			"definition":         map[string]any{"linkSupport": false},
			"references":         map[string]any{},
			"documentSymbol":     map[string]any{"hierarchicalDocumentSymbolSupport": true},
			"completion":         map[string]any{"completionItem": map[string]any{"documentationFormat": formats}},
			"signatureHelp":      map[string]any{"signatureInformation": map[string]any{"documentationFormat": formats}},
			"codeAction": map[string]any{"codeActionLiteralSupport": map[string]any{
				"codeActionKind": map[string]any{"valueSet": []string{"", "quickfix", "refactor", "source"}}}},
			"rename":        map[string]any{"prepareSupport": false},
			"formatting":    map[string]any{},
			"typeHierarchy": map[string]any{},
			"callHierarchy": map[string]any{},
		},
	}
}

// capabilities is the server's side, as far as anything depends on it.
type capabilities struct {
	server    string // its name; empty: it has not said
	encoding  Encoding
	providers map[string]json.RawMessage // members of the capabilities object
	save      bool                       // wants didSave
	saveText  bool                       // with the text
	resync    bool                       // takes no changes: a new text must be opened anew
}

// silentEncodings are what servers count in that count neither in UTF-16 nor say so.
var silentEncodings = map[string]Encoding{"pylsp": UTF32}

// providerOf names the capability of each request that has one. Requests that aren't
// here are a server's own business and are always tried.
var providerOf = map[string]string{
	"textDocument/codeAction":           "codeActionProvider",
	"textDocument/completion":           "completionProvider",
	"textDocument/declaration":          "declarationProvider",
	"textDocument/definition":           "definitionProvider",
	"textDocument/diagnostic":           "diagnosticProvider",
	"textDocument/documentHighlight":    "documentHighlightProvider",
	"textDocument/documentSymbol":       "documentSymbolProvider",
	"textDocument/formatting":           "documentFormattingProvider",
	"textDocument/hover":                "hoverProvider",
	"textDocument/implementation":       "implementationProvider",
	"textDocument/prepareCallHierarchy": "callHierarchyProvider",
	"textDocument/prepareTypeHierarchy": "typeHierarchyProvider",
	"textDocument/references":           "referencesProvider",
	"textDocument/rename":               "renameProvider",
	"textDocument/signatureHelp":        "signatureHelpProvider",
	"textDocument/typeDefinition":       "typeDefinitionProvider",
	"workspace/symbol":                  "workspaceSymbolProvider",
}

// parseCapabilities reads the result of initialize, which must be an object. Some
// servers put their encoding beside the capabilities.
func parseCapabilities(result json.RawMessage) (capabilities, error) {
	var r struct {
		Capabilities   map[string]json.RawMessage `json:"capabilities"`
		OffsetEncoding Encoding                   `json:"offsetEncoding"`
		ServerInfo     struct {
			Name string `json:"name"`
		} `json:"serverInfo"`
	}
	if err := json.Unmarshal(result, &r); err != nil || !bytes.HasPrefix(bytes.TrimSpace(result), []byte("{")) {
		return capabilities{}, &MalformedError{Method: "result of initialize", Want: "an object with capabilities"}
	}
	c := capabilities{server: r.ServerInfo.Name, encoding: UTF16, providers: r.Capabilities}
	if silent, known := silentEncodings[c.server]; known {
		c.encoding = silent
	}
	if r.OffsetEncoding.known() {
		c.encoding = r.OffsetEncoding
	}
	var encoding Encoding
	if json.Unmarshal(r.Capabilities["positionEncoding"], &encoding) == nil && encoding.known() {
		c.encoding = encoding
	}
	c.parseSync(r.Capabilities["textDocumentSync"])
	return c, nil
}

// parseSync reads textDocumentSync in either form: a number, or an object.
func (c *capabilities) parseSync(raw json.RawMessage) {
	var kind *int
	if json.Unmarshal(raw, &kind) == nil && kind != nil {
		c.resync = *kind == 0
		return
	}
	var sync struct {
		Change *int            `json:"change"`
		Save   json.RawMessage `json:"save"`
	}
	if json.Unmarshal(raw, &sync) != nil {
		return
	}
	c.resync = sync.Change != nil && *sync.Change == 0
	c.save = offered(sync.Save)
	var options struct {
		IncludeText bool `json:"includeText"`
	}
	c.saveText = json.Unmarshal(sync.Save, &options) == nil && options.IncludeText
}

// declares reports whether the server named a capability. One that named no provider at
// all says nothing about what it can do.
func (c *capabilities) declares(method string) bool {
	provider, known := providerOf[method]
	return !known || offered(c.providers[provider]) || !c.declaresAny()
}

func (c *capabilities) declaresAny() bool {
	for name := range c.providers {
		if strings.HasSuffix(name, "Provider") {
			return true
		}
	}
	return false
}

// offered reads a provider: true, or any options.
func offered(raw json.RawMessage) bool {
	text := string(bytes.TrimSpace(raw))
	return text != "" && text != "null" && text != "false"
}
