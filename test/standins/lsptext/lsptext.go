package lsptext

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Position is a place in a text: zero-based line and UTF-16 unit.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is half open.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Change is one entry of didChange's contentChanges; without a range it replaces the whole text.
type Change struct {
	Range *Range `json:"range,omitempty"`
	Text  string `json:"text"`
}

// Apply returns text after the changes, each of which sees the text that the one before it left.
func Apply(text string, changes []Change) string {
	for _, c := range changes {
		if c.Range == nil {
			text = c.Text
			continue
		}
		text = text[:Offset(text, c.Range.Start)] + c.Text + text[Offset(text, c.Range.End):]
	}
	return text
}

// Offset returns the byte offset of p in text; a place beyond a line's or the text's end is that end.
func Offset(text string, p Position) int {
	start := 0
	for range p.Line {
		next := strings.IndexByte(text[start:], '\n')
		if next < 0 {
			return len(text)
		}
		start += next + 1
	}
	units := 0
	for i, r := range text[start:] {
		if r == '\n' || units >= p.Character {
			return start + i
		}
		units += Units(r)
	}
	return len(text)
}

// PositionOf returns the position of the byte offset in text.
func PositionOf(text string, offset int) Position {
	before := text[:offset]
	line := strings.Count(before, "\n")
	return Position{Line: line, Character: Width(before[strings.LastIndexByte(before, '\n')+1:])}
}

// End returns the position behind the last character of text.
func End(text string) Position { return PositionOf(text, len(text)) }

// RangeOf returns the range of the bytes from start to end.
func RangeOf(text string, start, end int) Range {
	return Range{Start: PositionOf(text, start), End: PositionOf(text, end)}
}

// Units is the number of UTF-16 units of r.
func Units(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

// Width is the number of UTF-16 units of s.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += Units(r)
	}
	return n
}

// WordAt returns the identifier around offset as byte offsets; start = end where there is none.
func WordAt(text string, offset int) (start, end int) {
	start, end = offset, offset
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if !IsWord(r) {
			break
		}
		start -= size
	}
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		if !IsWord(r) {
			break
		}
		end += size
	}
	return start, end
}

// IsWord says that r may be part of an identifier. A dot may: Lean's names have them.
func IsWord(r rune) bool {
	return r == '_' || r == '.' || r == '\'' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// Words returns the byte offsets of all occurrences of word in text as a whole identifier.
func Words(text, word string) []int {
	var found []int
	if word == "" {
		return nil
	}
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return found
		}
		if start, end := WordAt(text, from+i); start == from+i && end == start+len(word) {
			found = append(found, start)
		}
		from += i + len(word)
	}
}

// Path returns the path of a file URI, "" for any other.
func Path(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return u.Path
}

// URI returns the file URI of an absolute path, spelled as Go's net/url spells it.
func URI(path string) string {
	u := url.URL{Scheme: "file", Path: path}
	return u.String()
}
