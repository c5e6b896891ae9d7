package lsp

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Encoding is what a server counts a position's characters in.
type Encoding string

// The position encodings of LSP 3.17. UTF-16 is what a server means that says nothing.
const (
	UTF8  Encoding = "utf-8"
	UTF16 Encoding = "utf-16"
	UTF32 Encoding = "utf-32"
)

func (e Encoding) known() bool { return e == UTF8 || e == UTF16 || e == UTF32 }

// units is how many code units of e the rune of size bytes takes. An invalid byte is
// one unit: it reaches the server as one U+FFFD, except in UTF-8, where that has three.
func (e Encoding) units(r rune, size int) int {
	switch {
	case e == UTF8 && r == utf8.RuneError:
		return len(string(utf8.RuneError))
	case e == UTF8:
		return size
	case e == UTF16 && r > 0xFFFF:
		return 2
	}
	return 1
}

// CharacterPosition turns a line and a character as people and editors count them
// (both from 1, in code points) into a Position. A character past the end of its line
// is its end, as in LSP; a line that the text doesn't have is an error.
func CharacterPosition(text []byte, line, character int) (Position, error) {
	if line < 1 || character < 1 {
		return Position{}, fmt.Errorf("line and character count from 1, not %d:%d", line, character)
	}
	content, ok := lineAt(text, line-1)
	if !ok {
		return Position{}, fmt.Errorf("the text has no line %d", line)
	}
	return Position{Line: line - 1, Character: convert(content, character-1, UTF32, UTF16)}, nil
}

// PositionCharacter is the way back: the line and character, both from 1, of a
// Position in text. Where the text has no such line the character is taken as it is.
func PositionCharacter(text []byte, p Position) (line, character int) {
	p = recode(text, p, UTF16, UTF32)
	return p.Line + 1, p.Character + 1
}

// endOf is the position behind the last character of text.
func endOf(text []byte) Position {
	line := 0
	for {
		if _, more := lineAt(text, line+1); !more {
			break
		}
		line++
	}
	content, _ := lineAt(text, line)
	return Position{Line: line, Character: convert(content, len(content), UTF32, UTF16)}
}

// toServer gives a UTF-16 position of text in the server's encoding.
func toServer(text []byte, p Position, e Encoding) Position { return recode(text, p, UTF16, e) }

// fromServer gives a position in the server's encoding as UTF-16.
func fromServer(text []byte, p Position, e Encoding) Position { return recode(text, p, e, UTF16) }

func rangeFromServer(text []byte, r Range, e Encoding) Range {
	return Range{Start: fromServer(text, r.Start, e), End: fromServer(text, r.End, e)}
}

// recode leaves a position outside the text as it is: the server judges it.
func recode(text []byte, p Position, from, to Encoding) Position {
	if from == to {
		return p
	}
	content, ok := lineAt(text, p.Line)
	if !ok {
		return p
	}
	p.Character = convert(content, p.Character, from, to)
	return p
}

// convert counts a line's first n units of from in units of to. A count inside a
// character means its beginning, one past the line's end the end.
func convert(line []byte, n int, from, to Encoding) int {
	seen, out := 0, 0
	for len(line) > 0 {
		r, size := utf8.DecodeRune(line)
		seen += from.units(r, size)
		if seen > n {
			break
		}
		out += to.units(r, size)
		line = line[size:]
	}
	return out
}

// lineAt gives the zero-based line without its end, which is \n, \r\n or \r.
func lineAt(text []byte, line int) ([]byte, bool) {
	for ; line > 0; line-- {
		end := bytes.IndexAny(text, "\r\n")
		if end < 0 {
			return nil, false
		}
		if text[end] == '\r' && end+1 < len(text) && text[end+1] == '\n' {
			end++
		}
		text = text[end+1:]
	}
	if end := bytes.IndexAny(text, "\r\n"); end >= 0 {
		text = text[:end]
	}
	return text, line == 0
}
