package lsp

import (
	"context"
	"encoding/json"
	"errors"
)

// typescript-language-server wraps TypeScript's own server and lets clients ask that
// by a command. What it publishes can't be waited for: the first list lacks what takes
// longest to find, nothing says which list is the last, and a big file is checked for
// longer than any quiet time.
const (
	executeCommand  = "workspace/executeCommand"
	tsserverRequest = "typescript.tsserverRequest"
)

// tsserverChecks find together what would be published.
var tsserverChecks = []string{"syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync"}

// runsTSServer tells whether the server has that command.
func (c *capabilities) runsTSServer() bool {
	var options struct{ Commands []string }
	_ = json.Unmarshal(c.providers["executeCommandProvider"], &options) // of another shape: it has none
	for _, command := range options.Commands {
		if command == tsserverRequest {
			return true
		}
	}
	return false
}

// askTSServer asks for all diagnostics of t.
func (q *question) askTSServer(ctx context.Context, t text) (Findings, error) {
	list := []json.RawMessage{}
	for _, check := range tsserverChecks {
		result, err := q.try(ctx, executeCommand, map[string]any{
			"command": tsserverRequest, "arguments": []any{check, map[string]string{"file": t.uri}},
		})
		if refused := (*NotOfferedError)(nil); errors.As(err, &refused) {
			return Findings{}, errOtherWay
		}
		if err != nil {
			return Findings{}, err
		}
		found, err := parseTSServer(result)
		if err != nil {
			return Findings{}, err
		}
		if found == nil {
			return Findings{}, q.again(ctx)
		}
		list = append(list, found...)
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return Findings{}, err
	}
	parsed, err := q.parse("result of "+tsserverRequest, raw)
	return Findings{Version: t.version, Diagnostics: parsed, raw: raw}, err
}

// tsserverFinding is a diagnostic as TypeScript's server has it: lines and offsets
// count from 1, in UTF-16 code units.
type tsserverFinding struct {
	Start    tsserverPlace `json:"start"`
	End      tsserverPlace `json:"end"`
	Text     string        `json:"text"`
	Code     int           `json:"code"`
	Category string        `json:"category"`
	Source   string        `json:"source"`
}

type tsserverPlace struct {
	Line   int `json:"line"`
	Offset int `json:"offset"`
}

func (p tsserverPlace) position() Position {
	return Position{Line: p.Line - 1, Character: p.Offset - 1}
}

var tsserverSeverities = map[string]int{"error": 1, "warning": 2, "message": 3, "suggestion": 4}

// parseTSServer gives the diagnostics of one check in LSP's form; nil where the check
// was called off, or TypeScript's server isn't there just now.
func parseTSServer(result json.RawMessage) ([]json.RawMessage, error) {
	var response struct {
		Type string             `json:"type"`
		Body *[]tsserverFinding `json:"body"`
	}
	if json.Unmarshal(result, &response) != nil || response.Type == "response" && response.Body == nil {
		return nil, &MalformedError{Method: "result of " + tsserverRequest, Want: "a response with diagnostics"}
	}
	if response.Body == nil {
		return nil, nil
	}
	list := []json.RawMessage{}
	for _, f := range *response.Body {
		source := f.Source
		if source == "" {
			source = "typescript"
		}
		item, err := json.Marshal(map[string]any{
			"range":   Range{Start: f.Start.position(), End: f.End.position()},
			"message": f.Text, "code": f.Code, "source": source, "severity": max(tsserverSeverities[f.Category], 1),
		})
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}
