package repl

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// head is what a lexer can say of the beginning of a Lean text without Lean.
type head struct {
	imports []string
	end     int  // where the body begins: behind the line of the last import
	lines   int  // how many lines that is
	read    int  // behind all that Lean's parser reads before it knows the header
	bypass  bool // a comment has the spelling that lexers disagree on
	special bool // more than plain imports on lines of their own: Lean's own parser must judge
	odd     bool // not even where the header ends is sure; special too
}

// bypassRun finds an even run of dashes before a slash. Lean's lexer has read the
// end of such a comment in two ways, so that one reader could be shown an import
// that another takes for a comment.
var bypassRun = regexp.MustCompile(`(?:^|[^-])(?:--)+/`)

// headerWords may stand in a header beside plain imports.
var headerWords = map[string]bool{
	"module": true, "prelude": true, "public": true, "private": true, "meta": true, "all": true, "runtime": true,
}

// readHead reads comments and imports up to the first word that is neither. What it
// isn't sure of makes the head special, never shorter.
func readHead(code string) head {
	var h head
	pos := 0
	for {
		pos = h.skip(code, pos)
		word := wordAt(code, pos)
		h.read = pos + len(word)
		switch {
		case headerWords[word]:
			h.special = true
			pos += len(word)
		case word == "import":
			pos = h.importAt(code, pos+len(word))
		default:
			h.finish(code, pos)
			return h
		}
	}
}

// skip passes white space and comments. Documentation comments are the beginning
// of a command, not white space.
func (h *head) skip(code string, pos int) int {
	for pos < len(code) {
		rest := code[pos:]
		length := 0
		switch {
		case rest[0] == ' ' || rest[0] == '\n' || strings.HasPrefix(rest, "\r\n"):
			pos++
			continue
		case rest[0] == '\t' || rest[0] == '\r': // refused by Lean
			h.odd = true
			pos++
			continue
		case strings.HasPrefix(rest, "--"):
			length = lineEnd(rest)
		case strings.HasPrefix(rest, "/--/"):
			length = 4
		case strings.HasPrefix(rest, "/--"), strings.HasPrefix(rest, "/-!"):
			return pos
		case strings.HasPrefix(rest, "/-"):
			length = h.block(rest)
		default:
			return pos
		}
		h.bypass = h.bypass || bypassRun.MatchString(rest[:length])
		pos += length
	}
	return pos
}

// block gives the length of the block comment at the beginning of rest. They nest.
// Right behind the opening Lean skips a character unseen, so a slash there is
// not ours to judge, and neither is a comment without an end.
func (h *head) block(rest string) int {
	h.odd = h.odd || strings.HasPrefix(rest, "/-/")
	depth := 0
	for i := 0; i+1 < len(rest); i++ {
		switch rest[i : i+2] {
		case "/-":
			depth++
			i++
		case "-/":
			depth--
			i++
		}
		if depth == 0 {
			return i + 1
		}
	}
	h.odd = true
	return len(rest)
}

// importAt reads what follows the word import, up to the module's name.
func (h *head) importAt(code string, pos int) int {
	pos = h.skip(code, pos)
	name := wordAt(code, pos)
	if headerWords[name] {
		h.special = true // import all M
		return pos
	}
	end := pos + len(name)
	h.imports = append(h.imports, name)
	next := code[end:]
	h.odd = h.odd || !moduleName.MatchString(name)
	line := lineEnd(next)
	if rest := strings.TrimSpace(next[:line]); rest != "" && !strings.HasPrefix(rest, "--") {
		h.special = true // what stands on the line of an import can't be cut off by lines
	}
	h.end = min(end+line+1, len(code))
	return end
}

// moduleName is the usual shape; Lean allows more in «», which is left to Lean.
var moduleName = regexp.MustCompile(`^[\pL_][\pL\pN_'!?]*(\.[\pL_][\pL\pN_'!?]*)*$`)

// finish settles what depends on the whole text. Where "import" stands anywhere
// behind the header, a Lean that knows more header words than we do might read on
// to it, so what was read is then everything.
func (h *head) finish(code string, pos int) {
	h.lines = strings.Count(code[:h.end], "\n")
	h.special = h.special || h.odd
	if h.odd || strings.Contains(code[pos:], "import") {
		h.read = len(code)
	}
}

// wordAt is the identifier at pos, or one other character, or nothing at the end.
func wordAt(code string, pos int) string {
	rest := code[pos:]
	end := strings.IndexFunc(rest, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune("_.'!?«»", r)
	})
	switch {
	case end < 0:
		return rest
	case end == 0:
		_, size := utf8.DecodeRuneInString(rest)
		return rest[:size]
	}
	return rest[:end]
}

// lineEnd is how many bytes are left on the line.
func lineEnd(rest string) int {
	if end := strings.IndexByte(rest, '\n'); end >= 0 {
		return end
	}
	return len(rest)
}
