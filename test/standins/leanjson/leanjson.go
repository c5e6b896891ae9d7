package leanjson

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const width = 80

// Marshal returns v in Lean's layout, without a newline at the end. v is anything that encoding/json can marshal.
func Marshal(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return Layout(text)
}

// Layout returns the JSON value in text in Lean's layout.
func Layout(text []byte) (string, error) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", fmt.Errorf("no JSON to lay out: %w", err)
	}
	p := printer{}
	p.group(value(v), 0, 0)
	return p.out.String(), nil
}

// doc is a document of the pretty printer: text, a possible line break, or a sequence of documents. A group decides
// anew whether its breaks are spaces; a nest indents the breaks inside it.
type doc struct {
	text  string
	kind  kind
	nest  int
	parts []doc
}

type kind int

const (
	text kind = iota
	line
	sequence
	group
)

func value(v any) doc {
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		slices.Reverse(keys)
		members := make([]doc, 0, len(v))
		for _, k := range keys {
			parts := []doc{{text: quote(k) + ":"}, {kind: line}, value(v[k])}
			members = append(members, doc{kind: group, parts: parts})
		}
		return bracket("{", members, "}")
	case []any:
		members := make([]doc, 0, len(v))
		for _, e := range v {
			members = append(members, value(e))
		}
		return bracket("[", members, "]")
	case string:
		return doc{text: quote(v)}
	case json.Number:
		return doc{text: v.String()}
	case bool:
		return doc{text: strconv.FormatBool(v)}
	default:
		return doc{text: "null"}
	}
}

func bracket(open string, members []doc, closing string) doc {
	parts := []doc{{text: open}}
	for i, m := range members {
		if i > 0 {
			parts = append(parts, doc{text: ","}, doc{kind: line})
		}
		parts = append(parts, m)
	}
	return doc{kind: group, nest: len(open), parts: append(parts, doc{text: closing})}
}

// quote escapes what JSON requires and nothing else: Lean writes all other characters raw.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x20:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

type printer struct {
	out    strings.Builder
	column int // in characters, as Lean counts
}

// group writes d, a group, at the indent. tail is the width of what follows it up to the next possible break, which has
// to fit on the line too.
func (p *printer) group(d doc, indent, tail int) {
	flat := flatWidth(d)
	p.write(d, indent, tail, p.column+flat+tail <= width)
}

func (p *printer) write(d doc, indent, tail int, flat bool) {
	switch d.kind {
	case text:
		p.out.WriteString(d.text)
		p.column += utf8.RuneCountInString(d.text)
	case line:
		p.breakLine(indent, flat)
	default:
		for i, part := range d.parts {
			rest := widthToBreak(d.parts[i+1:], tail, flat)
			if part.kind == group && !flat {
				p.group(part, indent+d.nest, rest)
				continue
			}
			p.write(part, indent+d.nest, rest, flat)
		}
	}
}

func (p *printer) breakLine(indent int, flat bool) {
	if flat {
		p.out.WriteByte(' ')
		p.column++
		return
	}
	p.out.WriteString("\n" + strings.Repeat(" ", indent))
	p.column = indent
}

func flatWidth(d doc) int {
	switch d.kind {
	case text:
		return utf8.RuneCountInString(d.text)
	case line:
		return 1
	}
	sum := 0
	for _, part := range d.parts {
		sum += flatWidth(part)
	}
	return sum
}

// widthToBreak is the width of parts up to the first line break that will be taken, or all of them and the tail.
func widthToBreak(parts []doc, tail int, flat bool) int {
	sum := 0
	for _, part := range parts {
		if part.kind == line && !flat {
			return sum
		}
		sum += flatWidth(part)
	}
	return sum + tail
}
