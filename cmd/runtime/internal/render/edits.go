package render

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/seed-f6977891/hearth/messages"
)

type textEdit struct {
	Range   messages.Range `json:"range"`
	NewText string         `json:"newText"`
}

// workspaceEdit is LSP's in both of its forms, with the files that it makes, moves and
// deletes.
type workspaceEdit struct {
	Changes   map[string][]textEdit `json:"changes"`
	Documents []struct {
		TextDocument struct {
			URI string `json:"uri"`
		} `json:"textDocument"`
		Edits []textEdit `json:"edits"`
		Kind  string     `json:"kind"`
		URI   string     `json:"uri"`
		Old   string     `json:"oldUri"`
		New   string     `json:"newUri"`
	} `json:"documentChanges"`
}

func (p *page) workspaceEdit(raw json.RawMessage) error {
	var edit workspaceEdit
	err := json.Unmarshal(raw, &edit)
	if err == nil {
		p.edit(edit, "")
	}
	return err
}

func (p *page) edit(edit workspaceEdit, indent string) {
	if len(edit.Documents) == 0 { // a server that gives both means the same
		for _, uri := range slices.Sorted(maps.Keys(edit.Changes)) {
			p.edits(p.path(uri), edit.Changes[uri], indent)
		}
	}
	for _, change := range edit.Documents {
		switch change.Kind {
		case "":
			p.edits(p.path(change.TextDocument.URI), change.Edits, indent)
		case "rename":
			p.printf("%srename the file %s to %s\n", indent, p.name(p.path(change.Old)), p.name(p.path(change.New)))
		default:
			p.printf("%s%s the file %s\n", indent, change.Kind, p.name(p.path(change.URI)))
		}
	}
}

// edits prints each as the place that it begins at, the one that it ends before, and
// what is to stand there.
func (p *page) edits(path string, list []textEdit, indent string) {
	for _, e := range list {
		line, column := p.at(path, e.Range.End)
		switch {
		case e.Range.Start == e.Range.End:
			p.printf("%s%s: insert %q\n", indent, p.place(path, e.Range.Start), e.NewText)
		case e.NewText == "":
			p.printf("%s%s-%d:%d: delete\n", indent, p.place(path, e.Range.Start), line, column)
		default:
			p.printf("%s%s-%d:%d: replace by %q\n", indent, p.place(path, e.Range.Start), line, column, e.NewText)
		}
	}
}

func (p *page) formatting(raw json.RawMessage) error {
	var list []textEdit
	err := json.Unmarshal(raw, &list)
	p.edits(p.path(""), list, "")
	return err
}

// actions prints each with what it would change. Many servers say that only when they
// are told to do it.
func (p *page) actions(raw json.RawMessage) error {
	var list []struct {
		Title    string         `json:"title"`
		Kind     string         `json:"kind"`
		Edit     *workspaceEdit `json:"edit"`
		Disabled *struct {
			Reason string `json:"reason"`
		} `json:"disabled"`
	}
	err := json.Unmarshal(raw, &list)
	for _, a := range list {
		p.printf("%s", a.Title)
		if a.Kind != "" {
			p.printf(" [%s]", a.Kind)
		}
		if a.Disabled != nil {
			p.printf(" (not here: %s)", a.Disabled.Reason)
		}
		p.printf("\n")
		if a.Edit != nil {
			p.edit(*a.Edit, "    ")
		}
	}
	return err
}
