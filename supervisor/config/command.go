package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Command is a program and its arguments. The program is a bare name, which is looked
// up in PATH at launch, or an absolute path: anything else would be another file for
// every working directory.
type Command []string

const commandWant = "a program (a bare name or an absolute path) and its arguments, quoted as in a shell; nothing is expanded, so a $ or ` has to be in single quotes"

// ParseCommand splits a command line into words as a POSIX shell does, and expands
// nothing: a line that a shell would have to run to understand is refused.
func ParseCommand(line string) (Command, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, fmt.Errorf("not a command line: %w", err)
	}
	if len(file.Stmts) != 1 {
		return nil, errors.New("not one command")
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(stmt.Redirs) > 0 || stmt.Negated || stmt.Background {
		return nil, errors.New("not a simple command")
	}
	words := make(Command, len(call.Args))
	for i, word := range call.Args {
		if words[i], err = unquote(word.Parts); err != nil {
			return nil, err
		}
	}
	if !words.valid() {
		return nil, fmt.Errorf("program %q is neither a bare name nor an absolute path", words[0])
	}
	return words, nil
}

// unquote removes a word's quotes.
func unquote(parts []syntax.WordPart) (string, error) {
	var text strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text.WriteString(unescape(part.Value, func(byte) bool { return true }))
		case *syntax.SglQuoted:
			text.WriteString(part.Value)
		case *syntax.DblQuoted:
			inner, err := unquoteDouble(part.Parts)
			if err != nil {
				return "", err
			}
			text.WriteString(inner)
		default:
			return "", errors.New("a word that a shell would expand")
		}
	}
	return text.String(), nil
}

// unquoteDouble is unquote between double quotes, where a backslash escapes only
// what would be special there.
func unquoteDouble(parts []syntax.WordPart) (string, error) {
	var text strings.Builder
	for _, part := range parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return "", errors.New("a word that a shell would expand")
		}
		text.WriteString(unescape(lit.Value, func(c byte) bool { return strings.IndexByte("$`\"\\\n", c) >= 0 }))
	}
	return text.String(), nil
}

// unescape removes the backslashes before characters that it escapes, and a
// backslash with the newline that it joins lines over.
func unescape(text string, escapes func(byte) bool) string {
	var plain strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && escapes(text[i+1]) {
			i++
			if text[i] == '\n' {
				continue
			}
		}
		plain.WriteByte(text[i])
	}
	return plain.String()
}

// valid holds Command's law for commands that were not parsed.
func (c Command) valid() bool {
	if len(c) == 0 || c[0] == "" {
		return false
	}
	return !strings.Contains(c[0], "/") || filepath.IsAbs(c[0])
}

// String quotes the words so that ParseCommand reads them back.
func (c Command) String() string {
	quoted := make([]string, len(c))
	for i, word := range c {
		quoted[i] = quote(word)
	}
	return strings.Join(quoted, " ")
}

func quote(word string) string {
	if word != "" && strings.Trim(word, plainBytes) == "" && !syntax.IsKeyword(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

const plainBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+,-./:_"
