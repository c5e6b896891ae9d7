package render

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
)

// queries render the results that people ask for; of all others they get the JSON.
var queries = map[string]func(*page, json.RawMessage) error{
	"textDocument/definition":        (*page).locations,
	"textDocument/declaration":       (*page).locations,
	"textDocument/typeDefinition":    (*page).locations,
	"textDocument/implementation":    (*page).locations,
	"textDocument/references":        (*page).locations,
	"textDocument/documentHighlight": (*page).locations,
	"textDocument/documentSymbol":    (*page).symbols,
	"workspace/symbol":               (*page).symbols,
	"textDocument/completion":        (*page).completions,
	"textDocument/signatureHelp":     (*page).signatures,
	"textDocument/codeAction":        (*page).actions,
	"textDocument/rename":            (*page).workspaceEdit,
	"textDocument/formatting":        (*page).formatting,
	"typeHierarchy/supertypes":       (*page).hierarchy,
	"typeHierarchy/subtypes":         (*page).hierarchy,
	"callHierarchy/incomingCalls":    (*page).hierarchy,
	"callHierarchy/outgoingCalls":    (*page).hierarchy,
	"$/lean/plainGoal":               (*page).goals,
	"$/lean/plainTermGoal":           (*page).goals,
}

// Query gives the result of a request about doc: a line for each thing, with its place
// as compilers print it, from the project's directory on and counted from 1 in
// characters. Results of other shapes than LSP has for the method are given as they are.
func Query(doc supervisor.Document, report supervisor.QueryReport) string {
	p := &page{doc: doc, encoding: report.Encoding, texts: map[string][]byte{}}
	render, known := queries[report.Method]
	switch {
	case isNull(report.Result):
	case !known || render(p, report.Result) != nil:
		return indentedJSON(report.Result)
	case p.out.Len() > 0:
		return p.out.String()
	}
	if report.Method == "textDocument/formatting" {
		return "nothing to change\n"
	}
	return "nothing found\n"
}

func isNull(raw json.RawMessage) bool {
	text := strings.TrimSpace(string(raw))
	return text == "" || text == "null"
}

func indentedJSON(raw json.RawMessage) string {
	text, err := json.MarshalIndent(raw, "", "  ")
	if err != nil {
		return string(raw) + "\n"
	}
	return string(text) + "\n"
}

// page is one text in the making.
type page struct {
	doc      supervisor.Document
	encoding string
	texts    map[string][]byte // by path, as they are on disk
	out      strings.Builder
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.out, format, args...) }

type location struct {
	URI       string          `json:"uri"`
	Range     messages.Range  `json:"range"`
	Target    string          `json:"targetUri"` // of a LocationLink
	Selection *messages.Range `json:"targetSelectionRange"`
}

// locations takes one or many, in either of LSP's forms. A highlight has no file: it is
// in the document.
func (p *page) locations(raw json.RawMessage) error {
	list, err := oneOrMany[location](raw)
	for _, l := range list {
		if l.Selection != nil {
			l.URI, l.Range = l.Target, *l.Selection
		}
		path := p.path(l.URI)
		p.printf("%s: %s\n", p.place(path, l.Range.Start), p.line(path, l.Range.Start.Line))
	}
	return err
}

func oneOrMany[T any](raw json.RawMessage) (list []T, err error) {
	if strings.HasPrefix(strings.TrimSpace(string(raw)), "[") {
		return list, json.Unmarshal(raw, &list)
	}
	var one T
	if err := json.Unmarshal(raw, &one); err != nil {
		return nil, err
	}
	return []T{one}, nil
}

// path is the file that a URI names; of a result without one, the document.
func (p *page) path(uri string) string {
	if uri == "" {
		if filepath.IsAbs(p.doc.File) {
			return p.doc.File
		}
		return filepath.Join(p.doc.Project, p.doc.File)
	}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return uri
	}
	return u.Path
}

// place is FILE:LINE:COLUMN.
func (p *page) place(path string, at supervisor.Position) string {
	line, column := p.at(path, at)
	return fmt.Sprintf("%s:%d:%d", p.name(path), line, column)
}

func (p *page) at(path string, at supervisor.Position) (line, column int) {
	if p.encoding == "utf-32" {
		return at.Line + 1, at.Character + 1
	}
	return supervisor.PositionCharacter(p.text(path), at)
}

// name is a path from the project's directory on, where it is in that.
func (p *page) name(path string) string {
	rel, err := filepath.Rel(p.doc.Project, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return path
	}
	return rel
}

// text is a file's; one that can't be read has none, and places in it stay as they are.
func (p *page) text(path string) []byte {
	text, known := p.texts[path]
	if !known && filepath.IsAbs(path) {
		text, _ = os.ReadFile(path)
		p.texts[path] = text
	}
	return text
}

// line is a line of a file without what is around it.
func (p *page) line(path string, n int) string {
	for line := range strings.Lines(string(p.text(path))) {
		if n == 0 {
			return strings.TrimSpace(line)
		}
		n--
	}
	return ""
}
