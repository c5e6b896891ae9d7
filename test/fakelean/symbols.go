package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f6977891/hearth/test/standins/lsptext"
)

// symbol is a DocumentSymbol.
type symbol struct {
	Name           string        `json:"name"`
	Kind           int           `json:"kind"`
	Range          lsptext.Range `json:"range"`
	SelectionRange lsptext.Range `json:"selectionRange"`
}

// Kinds of symbols in LSP.
const (
	kindFunction = 12
	kindStruct   = 23
)

// symbols lists the declarations of a text.
func symbols(text string) []symbol {
	found := []symbol{}
	code := codeOf(text)
	offset := 0
	for line := range strings.Lines(code) {
		if m := declares.FindStringSubmatchIndex(line); m != nil {
			d := parseDeclaration(line, m[2], m[3])
			kind := kindFunction
			if d.keyword == "structure" || d.keyword == "inductive" || d.keyword == "class" {
				kind = kindStruct
			}
			if d.name != "" {
				found = append(found, symbol{
					Name: d.name, Kind: kind,
					Range:          lsptext.RangeOf(code, offset, offset+len(strings.TrimRight(line, "\n"))),
					SelectionRange: lsptext.RangeOf(code, offset+d.start, offset+d.end),
				})
			}
		}
		offset += len(line)
	}
	return found
}

type location struct {
	URI   string        `json:"uri"`
	Range lsptext.Range `json:"range"`
}

// definition looks for the declaration of the word in this file, then in the files that it imports.
func definition(q query) any {
	name, _ := q.word()
	found := declared(q.uri, q.text, name)
	for _, i := range parseHeader(q.text).imports {
		path := filepath.Join(workDir(), source(i.Module))
		if text, err := os.ReadFile(path); err == nil && source(i.Module) != "" {
			found = append(found, declared(lsptext.URI(path), string(text), name)...)
		}
	}
	return found
}

func declared(uri, text, name string) []location {
	found := []location{}
	for _, s := range symbols(text) {
		if s.Name == name {
			found = append(found, location{uri, s.SelectionRange})
		}
	}
	return found
}

// occurrences returns the places of the word in the code of a text.
func occurrences(uri, text, name string) []location {
	found := []location{}
	for _, at := range lsptext.Words(codeOf(text), name) {
		found = append(found, location{uri, lsptext.RangeOf(text, at, at+len(name))})
	}
	return found
}

// references finds the word in this file and in the other files of the project's top directory.
func references(q query) any {
	name, _ := q.word()
	found := occurrences(q.uri, q.text, name)
	files, _ := filepath.Glob("*.lean")
	for _, file := range files {
		path := filepath.Join(workDir(), file)
		if path == lsptext.Path(q.uri) {
			continue
		}
		if text, err := os.ReadFile(path); err == nil {
			found = append(found, occurrences(lsptext.URI(path), string(text), name)...)
		}
	}
	return found
}

func highlights(q query) any {
	name, _ := q.word()
	found := []any{}
	for _, o := range occurrences(q.uri, q.text, name) {
		found = append(found, map[string]any{"range": o.Range, "kind": 1})
	}
	return found
}

func rename(q query) any {
	name, _ := q.word()
	edits := []any{}
	for _, o := range occurrences(q.uri, q.text, name) {
		edits = append(edits, map[string]any{"range": o.Range, "newText": q.newName})
	}
	return map[string]any{"changes": map[string]any{q.uri: edits}}
}

// completion offers the names that begin like the word before the position.
func completion(q query) any {
	offset := lsptext.Offset(q.text, q.position)
	start, _ := lsptext.WordAt(q.text, offset)
	prefix := q.text[min(start, offset):offset]
	names := []string{}
	for _, known := range []map[string]string{q.env.signatures, builtin} {
		for name := range known {
			if strings.HasPrefix(name, prefix) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	items := []any{}
	for _, name := range names {
		items = append(items, map[string]any{"label": name, "kind": kindFunction})
	}
	return map[string]any{"isIncomplete": false, "items": items}
}
