package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/seed-f6977891/hearth/test/standins/lsptext"
	"github.com/seed-f6977891/hearth/test/standins/lspwire"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

var defaultCapabilities = json.RawMessage(`{"textDocumentSync":{"openClose":true,"change":2},"hoverProvider":true,` +
	`"definitionProvider":true,"referencesProvider":true,"documentSymbolProvider":true}`)

// byDefault does what a plain, well-behaved server does.
func (s *server) byDefault(trigger string, e event) {
	id := e.message.ID
	switch trigger {
	case script.OnStart:
	case script.OnEOF, "exit":
		s.end()
	case "initialize":
		capabilities := s.script.Capabilities
		if capabilities == nil {
			capabilities = defaultCapabilities
		}
		s.reply(id, map[string]any{"capabilities": capabilities, "serverInfo": map[string]string{"name": "fakelsp"}})
	case "shutdown":
		s.mu.Lock()
		s.shutdown = true
		s.mu.Unlock()
		s.reply(id, nil)
	case "textDocument/didOpen", "textDocument/didChange":
		if s.script.Diagnostics != script.None {
			s.publish(e.document, s.diagnose(e.document))
		}
	default:
		if id != nil {
			s.answerByDefault(trigger, e)
		}
	}
}

func (s *server) answerByDefault(method string, e event) {
	id := e.message.ID
	switch method {
	case "textDocument/hover":
		s.reply(id, s.hover(e))
	case "textDocument/diagnostic":
		s.reply(id, map[string]any{"kind": "full", "items": s.diagnose(e.document)})
	case "textDocument/definition":
		s.reply(id, locations(e, 1))
	case "textDocument/references":
		s.reply(id, locations(e, -1))
	case "textDocument/documentSymbol":
		s.reply(id, symbols(e.document))
	default:
		_ = s.out.ReplyError(id, lspwire.MethodNotFound, "no method "+method)
	}
}

// end ends the process: with 0 after shutdown, else with 1, as the protocol wants it.
func (s *server) end() {
	s.mu.Lock()
	asked := s.shutdown
	s.mu.Unlock()
	if asked {
		s.process.Exit(0)
	}
	s.process.Exit(1)
}

func (s *server) diagnose(d document) []any {
	if s.script.Diagnostics == script.Hash {
		return []any{diagnostic(lsptext.Range{}, 3, s.identify(d))}
	}
	found := []any{}
	for n, line := range strings.Split(d.text, "\n") {
		if strings.Contains(line, "ERROR") {
			r := lsptext.Range{
				Start: lsptext.Position{Line: n},
				End:   lsptext.Position{Line: n, Character: lsptext.Width(line)},
			}
			found = append(found, diagnostic(r, 1, strings.TrimSpace(line)))
		}
	}
	return found
}

func diagnostic(r lsptext.Range, severity int, message string) any {
	return map[string]any{"range": r, "severity": severity, "source": "fakelsp", "message": message}
}

// identify says which text this process holds, and which process it is.
func (s *server) identify(d document) string {
	return fmt.Sprintf("sha256 %s generation %d pid %d", digest(d.text), s.generation, os.Getpid())
}

func (s *server) hover(e event) any {
	value := word(e)
	if s.script.Hover == script.Hash {
		value = s.identify(e.document)
	}
	if value == "" {
		return nil
	}
	return map[string]any{"contents": map[string]string{"kind": "markdown", "value": value}}
}

// locations returns up to n places (all for a negative n) of the word that e points at.
func locations(e event, n int) []any {
	found := []any{}
	w := word(e)
	for _, at := range lsptext.Words(e.document.text, w) {
		if n >= 0 && len(found) == n {
			break
		}
		r := lsptext.RangeOf(e.document.text, at, at+len(w))
		found = append(found, map[string]any{"uri": e.document.uri, "range": r})
	}
	return found
}

// symbols lists the first word of each line.
func symbols(d document) []any {
	found := []any{}
	offset := 0
	for _, line := range strings.SplitAfter(d.text, "\n") {
		if start, end := lsptext.WordAt(d.text, offset); end > offset {
			r := lsptext.RangeOf(d.text, start, end)
			found = append(found, map[string]any{"name": d.text[start:end], "kind": 12, "range": r, "selectionRange": r})
		}
		offset += len(line)
	}
	return found
}
