package lsp

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/seed-f6977891/hearth/messages"
)

// parseDiagnostics reads a list of diagnostics strictly: a server that sends something
// else has not said that there are none.
func parseDiagnostics(method string, raw json.RawMessage) ([]Diagnostic, error) {
	var items []struct {
		Range    *wireRange      `json:"range"`
		Severity int             `json:"severity"`
		Message  json.RawMessage `json:"message"`
		Source   string          `json:"source"`
		Code     json.RawMessage `json:"code"`
	}
	malformed := &MalformedError{Method: method, Want: "an array of diagnostics"}
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) || json.Unmarshal(raw, &items) != nil {
		return nil, malformed
	}
	list := make([]Diagnostic, len(items))
	for i, item := range items {
		message, ok := parseMessage(item.Message)
		if !ok || !item.Range.valid() {
			return nil, malformed
		}
		code, ok := parseCode(item.Code)
		if !ok || item.Severity < 0 || item.Severity > 4 {
			return nil, malformed
		}
		list[i] = Diagnostic{
			Range: item.Range.value(), Severity: messages.Severity(item.Severity),
			Message: message, Source: item.Source, Code: code,
		}
	}
	return list, nil
}

// wireRange tells a missing position from a zero one.
type wireRange struct {
	Start *wirePosition `json:"start"`
	End   *wirePosition `json:"end"`
}

type wirePosition struct {
	Line      *uint32 `json:"line"`
	Character *uint32 `json:"character"`
}

func (r *wireRange) valid() bool { return r != nil && r.Start.valid() && r.End.valid() }

func (p *wirePosition) valid() bool { return p != nil && p.Line != nil && p.Character != nil }

func (r *wireRange) value() Range { return Range{Start: r.Start.value(), End: r.End.value()} }

func (p *wirePosition) value() Position {
	return Position{Line: int(*p.Line), Character: int(*p.Character)}
}

// parseMessage takes text, or LSP 3.18's MarkupContent.
func parseMessage(raw json.RawMessage) (string, bool) {
	var text *string
	if json.Unmarshal(raw, &text) == nil && text != nil {
		return *text, true
	}
	var markup struct {
		Value *string `json:"value"`
	}
	if json.Unmarshal(raw, &markup) != nil || markup.Value == nil {
		return "", false
	}
	return *markup.Value, true
}

// parseCode takes a number or text; absent and null are empty.
func parseCode(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", true
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text, true
	}
	var number float64
	if json.Unmarshal(raw, &number) != nil {
		return "", false
	}
	return strconv.FormatFloat(number, 'f', -1, 64), true
}
