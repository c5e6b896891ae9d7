package lsp

import (
	"encoding/json"
	"fmt"

	"go.lsp.dev/jsonrpc2"
)

// notified turns a notification into an event. json.Unmarshal copies what it keeps of
// the borrowed params. Notifications without a meaning here (log messages, telemetry)
// were already told as a Frame.
func (w *wire) notified(method string, params []byte) {
	switch method {
	case "textDocument/publishDiagnostics":
		w.published(params)
	case "$/progress":
		w.progressed(params)
	case "$/lean/fileProgress":
		w.elaborated(params)
	}
}

func (w *wire) published(params []byte) {
	var p struct {
		URI         *string         `json:"uri"`
		Version     *int32          `json:"version"`
		Diagnostics json.RawMessage `json:"diagnostics"`
	}
	if err := json.Unmarshal(params, &p); err != nil || p.URI == nil {
		w.fail(&MalformedError{Method: "textDocument/publishDiagnostics", Want: "a uri, an integer version if any, and diagnostics"})
		return
	}
	w.tell(Publication{URI: *p.URI, Version: p.Version, Diagnostics: p.Diagnostics})
}

// progressed ignores what it can't read: progress is for people, and its values are
// open to any shape.
func (w *wire) progressed(params []byte) {
	var p struct {
		Token json.RawMessage `json:"token"`
		Value struct {
			Kind       string   `json:"kind"`
			Title      string   `json:"title"`
			Message    string   `json:"message"`
			Percentage *float64 `json:"percentage"`
		} `json:"value"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	text := p.Value.Message
	if p.Value.Percentage != nil {
		text = fmt.Sprintf("%.0f %% %s", *p.Value.Percentage, text)
	}
	w.tell(Progress{Token: string(p.Token), Title: p.Value.Title, Text: text, Done: p.Value.Kind == "end"})
}

// elaborated reads Lean's progress: the ranges that are still being processed, none
// when all is done.
func (w *wire) elaborated(params []byte) {
	var p struct {
		TextDocument struct {
			URI string `json:"uri"`
		} `json:"textDocument"`
		Processing []struct {
			Range Range `json:"range"`
			Kind  int   `json:"kind"`
		} `json:"processing"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	told := Progress{URI: p.TextDocument.URI, Title: "elaborating", Done: len(p.Processing) == 0}
	if !told.Done {
		first := p.Processing[0]
		told.Text = fmt.Sprintf("from line %d of %d", first.Range.Start.Line+1, first.Range.End.Line+1)
		if told.GaveUp = first.Kind == leanFatal; told.GaveUp {
			told.Text = fmt.Sprintf("given up at line %d", first.Range.Start.Line+1)
		}
	}
	w.tell(told)
}

// leanFatal is Lean's kind of a range that will not be processed any further.
const leanFatal = 2

func (w *wire) registered(params []byte) error {
	var p struct {
		Registrations []struct {
			ID      string          `json:"id"`
			Method  string          `json:"method"`
			Options json.RawMessage `json:"registerOptions"`
		} `json:"registrations"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return jsonrpc2.Errorf(jsonrpc2.InvalidParams, "registrations: %v", err)
	}
	for _, r := range p.Registrations {
		w.tell(Registered{ID: r.ID, Method: r.Method, Options: r.Options})
	}
	return nil
}

func (w *wire) unregistered(params []byte) error {
	var p struct {
		// LSP spells it so, and is bound to for compatibility.
		Unregisterations []struct {
			ID     string `json:"id"`
			Method string `json:"method"`
		} `json:"unregisterations"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return jsonrpc2.Errorf(jsonrpc2.InvalidParams, "unregisterations: %v", err)
	}
	for _, r := range p.Unregisterations {
		w.tell(Unregistered{ID: r.ID, Method: r.Method})
	}
	return nil
}
