package render

import (
	"encoding/json"
	"strings"

	"github.com/seed-f6977891/hearth/messages"
)

// mostCompletions are shown of a list; servers offer thousands.
const mostCompletions = 50

// symbolKinds and completionKinds are LSP's numbers, which count from 1.
var (
	symbolKinds = strings.Fields(`file module namespace package class method property field constructor enum interface function
		variable constant string number boolean array object key null enum-member struct event operator type-parameter`)
	completionKinds = strings.Fields(`text method function constructor field variable class interface module property unit value enum
		keyword snippet color file reference folder enum-member constant struct event operator type-parameter`)
)

func kindOf(kinds []string, n int) string {
	if n < 1 || n > len(kinds) {
		return "symbol"
	}
	return kinds[n-1]
}

// symbol is a DocumentSymbol, a SymbolInformation, a WorkspaceSymbol or an item of a
// hierarchy.
type symbol struct {
	Name      string          `json:"name"`
	Detail    string          `json:"detail"`
	Kind      int             `json:"kind"`
	URI       string          `json:"uri"`
	Container string          `json:"containerName"`
	Range     *messages.Range `json:"range"`
	Selection *messages.Range `json:"selectionRange"`
	Location  *location       `json:"location"`
	Children  []symbol        `json:"children"`
}

func (p *page) symbols(raw json.RawMessage) error {
	var list []symbol
	err := json.Unmarshal(raw, &list)
	for _, s := range list {
		p.symbol(s, "")
	}
	return err
}

func (p *page) symbol(s symbol, indent string) {
	path, at := p.path(s.URI), messages.Position{}
	switch {
	case s.Location != nil:
		path, at = p.path(s.Location.URI), s.Location.Range.Start
	case s.Selection != nil:
		at = s.Selection.Start
	case s.Range != nil:
		at = s.Range.Start
	}
	p.printf("%s: %s%s %s", p.place(path, at), indent, kindOf(symbolKinds, s.Kind), s.Name)
	if s.Detail != "" {
		p.printf(" %s", firstLine(s.Detail))
	}
	if s.Container != "" {
		p.printf(" in %s", s.Container)
	}
	p.printf("\n")
	for _, child := range s.Children {
		p.symbol(child, indent+"  ")
	}
}

// hierarchy takes types, or calls, of which each names who calls or is called, and
// where.
func (p *page) hierarchy(raw json.RawMessage) error {
	var list []struct {
		symbol
		From   *symbol          `json:"from"`
		To     *symbol          `json:"to"`
		Ranges []messages.Range `json:"fromRanges"`
	}
	err := json.Unmarshal(raw, &list)
	for _, item := range list {
		switch {
		case item.From != nil:
			p.symbol(*item.From, "")
			for _, r := range item.Ranges {
				path := p.path(item.From.URI)
				p.printf("  called at %s: %s\n", p.place(path, r.Start), p.line(path, r.Start.Line))
			}
		case item.To != nil:
			p.symbol(*item.To, "")
		default:
			p.symbol(item.symbol, "")
		}
	}
	return err
}

func (p *page) completions(raw json.RawMessage) error {
	type item struct {
		Label  string `json:"label"`
		Kind   int    `json:"kind"`
		Detail string `json:"detail"`
	}
	var list struct {
		Items []item `json:"items"`
	}
	target := any(&list)
	if strings.HasPrefix(strings.TrimSpace(string(raw)), "[") {
		target = &list.Items
	}
	err := json.Unmarshal(raw, target)
	for i, c := range list.Items {
		if i == mostCompletions {
			p.printf("... and %d more\n", len(list.Items)-i)
			break
		}
		p.printf("%s %s", kindOf(completionKinds, c.Kind), strings.TrimSpace(c.Label))
		if c.Detail != "" {
			p.printf(" %s", firstLine(c.Detail))
		}
		p.printf("\n")
	}
	return err
}

// signatures prints each form of a call; of several, the one that fits is marked.
func (p *page) signatures(raw json.RawMessage) error {
	var help struct {
		Signatures []struct {
			Label         string          `json:"label"`
			Documentation json.RawMessage `json:"documentation"`
		} `json:"signatures"`
		Active int `json:"activeSignature"`
	}
	err := json.Unmarshal(raw, &help)
	for i, s := range help.Signatures {
		mark := "  "
		if i == help.Active && len(help.Signatures) > 1 {
			mark = "> "
		}
		p.printf("%s%s\n", mark, s.Label)
		if text := documentation(s.Documentation); text != "" {
			p.printf("    %s\n", indented(text))
		}
	}
	return err
}

// documentation is text, or markup with a value.
func documentation(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var markup struct {
		Value string `json:"value"`
	}
	_ = json.Unmarshal(raw, &markup) // of another shape: none
	return markup.Value
}

// goals prints Lean's goals as Lean does.
func (p *page) goals(raw json.RawMessage) error {
	var all struct {
		Goals []string `json:"goals"`
		Goal  string   `json:"goal"`
	}
	err := json.Unmarshal(raw, &all)
	switch {
	case err != nil:
	case all.Goal != "":
		p.printf("%s\n", all.Goal)
	case len(all.Goals) == 0:
		p.printf("no goals\n")
	default:
		p.printf("%s\n", strings.Join(all.Goals, "\n\n"))
	}
	return err
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}
