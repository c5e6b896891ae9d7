package lsp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f6977891/hearth/messages"
)

// shortNames are those of the requests that people ask for by hand.
var shortNames = map[string]string{
	"actions":           "textDocument/codeAction",
	"callees":           "callHierarchy/outgoingCalls",
	"callers":           "callHierarchy/incomingCalls",
	"completion":        "textDocument/completion",
	"declaration":       "textDocument/declaration",
	"definition":        "textDocument/definition",
	"format":            "textDocument/formatting",
	"goal":              "$/lean/plainGoal",
	"implementation":    "textDocument/implementation",
	"references":        "textDocument/references",
	"rename":            "textDocument/rename",
	"signature":         "textDocument/signatureHelp",
	"subtypes":          "typeHierarchy/subtypes",
	"supertypes":        "typeHierarchy/supertypes",
	"symbols":           "textDocument/documentSymbol",
	"term-goal":         "$/lean/plainTermGoal",
	"type-definition":   "textDocument/typeDefinition",
	"workspace-symbols": "workspace/symbol",
}

// ShortNames are the requests that Method knows, in order.
func ShortNames() []string { return slices.Sorted(maps.Keys(shortNames)) }

// Method is the LSP method that a short name, or the method itself, means. LSP's own
// names without a slash are no requests that a caller may make.
func Method(name string) (string, error) {
	if method, known := shortNames[name]; known {
		return method, nil
	}
	if !strings.Contains(name, "/") {
		return "", messages.Invalidf("no request is named %q; want an LSP method such as textDocument/definition, or one of %s",
			name, strings.Join(ShortNames(), ", "))
	}
	return name, nil
}

// prepared are the requests that are about an item which another request gives.
var prepared = map[string]string{
	"callHierarchy/incomingCalls": "textDocument/prepareCallHierarchy",
	"callHierarchy/outgoingCalls": "textDocument/prepareCallHierarchy",
	"typeHierarchy/subtypes":      "textDocument/prepareTypeHierarchy",
	"typeHierarchy/supertypes":    "textDocument/prepareTypeHierarchy",
}

// Query makes a caller's request: op's params joined with the document and the
// position, which win, and with what the method can't do without, where the caller
// left it out.
func (c *Client) Query(ctx context.Context, doc Source, op messages.Query) (json.RawMessage, error) {
	params, err := parseParams(op)
	if err != nil {
		return nil, err
	}
	if doc.Path != "" {
		params["textDocument"] = map[string]string{"uri": PathToURI(doc.Path)}
		if op.Position != nil {
			params["position"] = toServer(doc.Text, *op.Position, c.caps.encoding)
		}
	}
	if first, composed := prepared[op.Method]; composed && params["item"] == nil && op.Position != nil {
		return c.ofItems(ctx, first, op.Method, params)
	}
	if !c.Offers(op.Method) {
		return nil, &NotOfferedError{Method: op.Method, Server: c.Server()}
	}
	if err := c.complete(ctx, doc, op.Method, params); err != nil {
		return nil, err
	}
	return c.try(ctx, op.Method, params)
}

// parseParams takes a caller's members as they are: among them may be a server's own
// data, which has to come back to it digit by digit. null is what a nil map is as JSON.
func parseParams(op messages.Query) (map[string]any, error) {
	var given map[string]json.RawMessage
	if len(op.Params) > 0 {
		if err := json.Unmarshal(op.Params, &given); err != nil {
			return nil, messages.Invalidf("params of %s must be a JSON object: %w", op.Method, err)
		}
	}
	params := make(map[string]any)
	for name, value := range given {
		params[name] = nil
		if string(value) != "null" {
			params[name] = value
		}
	}
	return params, nil
}

// ofItems asks the first request for items and then method about each of them.
func (c *Client) ofItems(ctx context.Context, first, method string, params map[string]any) (json.RawMessage, error) {
	result, err := c.Request(ctx, first, params)
	if err != nil {
		return nil, err
	}
	items, err := parseArray(first, result)
	if err != nil {
		return nil, err
	}
	all := []json.RawMessage{}
	for _, item := range items {
		result, err := c.try(ctx, method, map[string]any{"item": item})
		if err != nil {
			return nil, err
		}
		found, err := parseArray(method, result)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return json.Marshal(all)
}

func parseArray(method string, result json.RawMessage) (list []json.RawMessage, err error) {
	if json.Unmarshal(result, &list) != nil {
		return nil, &MalformedError{Method: "result of " + method, Want: "an array or null"}
	}
	return list, nil
}

// complete adds the members that LSP demands of a request and that have a plain
// meaning where the caller said nothing.
func (c *Client) complete(ctx context.Context, doc Source, method string, params map[string]any) error {
	add := func(name string, value any) {
		if params[name] == nil {
			params[name] = value
		}
	}
	switch method {
	case "textDocument/references":
		add("context", map[string]bool{"includeDeclaration": true})
	case "textDocument/formatting":
		add("options", map[string]any{"tabSize": 4, "insertSpaces": true})
	case "workspace/symbol":
		add("query", "")
	case "textDocument/codeAction":
		return c.completeActions(ctx, doc, add, params)
	}
	return nil
}

// completeActions asks for the actions at the position, or else of the whole text, and
// hands the server its own diagnostics there: most of its fixes belong to one of them.
func (c *Client) completeActions(ctx context.Context, doc Source, add func(string, any), params map[string]any) error {
	span := Range{End: toServer(doc.Text, endOf(doc.Text), c.caps.encoding)}
	if at, given := params["position"].(Position); given {
		span = Range{Start: at, End: at}
		delete(params, "position")
	}
	add("range", span)
	if params["context"] != nil {
		return nil
	}
	found, err := c.Diagnostics(ctx, doc)
	if err != nil {
		return err
	}
	params["context"] = map[string]any{"diagnostics": found.touching(params["range"])}
	return nil
}

// touching are the diagnostics that have a place in common with a range, as the server
// wrote them.
func (f Findings) touching(where any) []json.RawMessage {
	touching := []json.RawMessage{}
	var span Range
	raw, err := json.Marshal(where)
	if err != nil || json.Unmarshal(raw, &span) != nil {
		return touching // the server refuses the range itself
	}
	var list []json.RawMessage
	_ = json.Unmarshal(f.raw, &list) // it was parsed before
	for _, item := range list {
		var at struct{ Range Range }
		if json.Unmarshal(item, &at) == nil && !before(at.Range.End, span.Start) && !before(span.End, at.Range.Start) {
			touching = append(touching, item)
		}
	}
	return touching
}

func before(a, b Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Character < b.Character
}
