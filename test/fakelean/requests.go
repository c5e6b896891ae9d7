package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/seed-f6977891/hearth/test/standins/lsptext"
	"github.com/seed-f6977891/hearth/test/standins/lspwire"
)

// query is a request with the state of the file that it is answered from.
type query struct {
	position lsptext.Position
	newName  string
	version  int
	text     string
	steps    []step
	env      *environment
	uri      string
}

// answers maps a method to its answer; the state is that of a file elaborated down to the position.
var answers = map[string]func(query) any{
	"textDocument/hover":               hover,
	"$/lean/plainGoal":                 plainGoal,
	"$/lean/plainTermGoal":             plainTermGoal,
	"textDocument/definition":          definition,
	"textDocument/declaration":         definition,
	"textDocument/typeDefinition":      definition,
	"textDocument/references":          references,
	"textDocument/documentHighlight":   highlights,
	"textDocument/documentSymbol":      func(q query) any { return symbols(q.text) },
	"textDocument/completion":          completion,
	"textDocument/rename":              rename,
	"textDocument/foldingRange":        func(query) any { return []any{} },
	"textDocument/codeAction":          func(query) any { return []any{} },
	"textDocument/inlayHint":           func(query) any { return []any{} },
	"textDocument/semanticTokens/full": func(query) any { return map[string]any{"data": []int{}} },
	"$/lean/rpc/connect":               func(query) any { return map[string]string{"sessionId": "1"} },
}

// whole are methods that look at all of the file, and so wait for its end.
var whole = map[string]bool{
	"textDocument/documentSymbol": true, "textDocument/references": true, "textDocument/foldingRange": true,
	"textDocument/rename": true, "textDocument/semanticTokens/full": true,
}

// begin answers a request in its own time.
func (w *worker) begin(m *lspwire.Message) {
	ctx, cancel := context.WithCancel(context.Background())
	w.mu.Lock()
	w.requests[string(m.ID)] = cancel
	w.mu.Unlock()
	go func() {
		defer cancel()
		w.answer(ctx, m)
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.requests, string(m.ID))
	}()
}

func (w *worker) cancel(id json.RawMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if cancel := w.requests[string(id)]; cancel != nil {
		cancel()
		w.changed.Broadcast()
	}
}

func (w *worker) answer(ctx context.Context, m *lspwire.Message) {
	var p struct {
		Version  int              `json:"version"`
		Position lsptext.Position `json:"position"`
		NewName  string           `json:"newName"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		_ = w.out.ReplyError(m.ID, lspwire.InvalidParams, "Cannot parse request params: "+string(m.Params))
		return
	}
	reply, known := answers[m.Method]
	switch {
	case m.Method == "textDocument/waitForDiagnostics":
		w.waitForDiagnostics(ctx, m.ID, p.Version)
		return
	case m.Method == "$/lean/rpc/call":
		_ = w.out.ReplyError(m.ID, rpcNeedsReconnect, "Outdated RPC session")
		return
	case !known:
		_ = w.out.ReplyError(m.ID, lspwire.MethodNotFound, "No request handler found for '"+m.Method+"'")
		return
	}
	q, failed := w.awaitElaborated(ctx, p.Position.Line, whole[m.Method])
	if failed != nil {
		_ = w.out.ReplyError(m.ID, failed.Code, failed.Message)
		return
	}
	q.position, q.newName = p.Position, p.NewName
	_ = w.out.Reply(m.ID, reply(q))
}

var errCancelled = &lspwire.Error{Code: lspwire.RequestCancelled, Message: "Request cancelled."}

// waitForDiagnostics answers once all of that version or a later one is elaborated and reported.
func (w *worker) waitForDiagnostics(ctx context.Context, id json.RawMessage, version int) {
	w.mu.Lock()
	for ctx.Err() == nil && (!w.finished || w.version < version) {
		w.changed.Wait()
	}
	w.mu.Unlock()
	if ctx.Err() != nil {
		_ = w.out.ReplyError(id, errCancelled.Code, errCancelled.Message)
		return
	}
	_ = w.out.Reply(id, struct{}{})
}

// awaitElaborated waits until the line (or all) is elaborated. A change of the text meanwhile ends the wait by an error.
func (w *worker) awaitElaborated(ctx context.Context, line int, all bool) (query, *lspwire.Error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	version := w.version
	for ctx.Err() == nil && w.version == version && !w.finished && (all || w.done <= line) {
		w.changed.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return query{}, errCancelled
	case w.version != version:
		return query{}, &lspwire.Error{Code: lspwire.ContentModified, Message: "File changed."}
	}
	return query{version: version, text: w.text, steps: w.steps, env: w.env, uri: w.uri}, nil
}

// word returns the identifier at the position and its range.
func (q query) word() (string, lsptext.Range) {
	start, end := lsptext.WordAt(q.text, lsptext.Offset(q.text, q.position))
	return q.text[start:end], lsptext.RangeOf(q.text, start, end)
}

func hover(q query) any {
	name, r := q.word()
	signature, known := q.env.signature(name)
	if !known {
		return nil
	}
	doc := "Declared in this file."
	if builtin[name] != "" {
		doc = "A name that every Lean file knows."
	}
	value := "```lean\n" + name + signature + "\n```\n***\n" + doc
	return map[string]any{"contents": map[string]string{"kind": "markdown", "value": value}, "range": r}
}

// holeAt returns the hole at the position, or the first one below it in the same command.
func (q query) holeAt() (hole, bool) {
	for _, s := range q.steps {
		for _, h := range s.holes {
			above := s.line-1 <= q.position.Line
			if above && h.end.Line-1 >= q.position.Line {
				return h, true
			}
		}
	}
	return hole{}, false
}

func plainGoal(q query) any {
	h, found := q.holeAt()
	if !found || !strings.Contains(q.commandAt(), "by") {
		return nil
	}
	text := h.goal.String()
	return map[string]any{"rendered": "```lean\n" + text + "\n```", "goals": []string{text}}
}

func plainTermGoal(q query) any {
	h, found := q.holeAt()
	if !found {
		return nil
	}
	_, r := q.word()
	return map[string]any{"goal": h.goal.String(), "range": r}
}

// commandAt is the code of the command at the position.
func (q query) commandAt() string {
	code := ""
	for _, s := range q.steps {
		if s.line-1 <= q.position.Line {
			code = s.code
		}
	}
	return code
}
