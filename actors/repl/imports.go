package repl

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/seed-f6977891/hearth/messages"
)

// Headers decides how a piece of Lean code is to be run by what it imports, and
// remembers what Lean said of headers. It belongs to one owner.
type Headers struct {
	warm    []string
	allowed []string
	parser  bool
	known   *verdicts
}

// NewHeaders makes the judge of one project's code. Warm is what its workers have
// loaded; allowed are the first components of the modules that code may import,
// nil for any; parser tells whether there is a header command to ask.
func NewHeaders(warm, allowed []string, parser bool) *Headers {
	allowed = slices.Clone(allowed)
	slices.Sort(allowed)
	return &Headers{warm: warm, allowed: allowed, parser: parser, known: newVerdicts(verdictsKept)}
}

// Decision says what is to be done with a piece of code; exactly one of its fields
// is set.
type Decision struct {
	// Refused is the answer, and no process is touched: an *messages.ImportError, or
	// a *messages.Error that begins "Rejected Lean header:".
	Refused error
	// Check: give the code to the header command, then call Learn.
	Check bool
	// Run is to be sent as it is.
	Run *Request
}

// Decide judges by the lexer and by what is known.
//
// A header of which every import is loaded is cut off, and the body runs in the
// warm environment, where Lean itself allows no import: nothing is left to check,
// however strange the body is. Everything else runs whole and without an
// environment, once Lean's own parser has said what it imports.
func (h *Headers) Decide(code string) Decision {
	head := readHead(code)
	if head.bypass {
		return rejected("a comment has an even run of '-' before '/', which Lean versions read in different ways")
	}
	if !head.special {
		if err := h.disallowed(head.imports); err != nil {
			return Decision{Refused: err}
		}
		if h.covers(head.imports) {
			return Decision{Run: &Request{
				Code:   code[head.end:],
				Shift:  head.lines,
				Header: messages.Header{Imports: head.imports, Warm: true},
			}}
		}
	}
	if known, ok := h.known.get(head.key(code)); ok {
		return h.apply(code, known)
	}
	switch {
	case h.parser:
		return Decision{Check: true}
	case head.special:
		return rejected("it needs Lean's own parser; set languages.lean.repl.header_command")
	}
	return h.apply(code, verdict{imports: head.imports})
}

// Learn judges by what the header command printed for the code.
func (h *Headers) Learn(code string, out HeaderOutput) Decision {
	v, lasting := out.verdict()
	if lasting {
		h.known.put(readHead(code).key(code), v)
	}
	return h.apply(code, v)
}

func (h *Headers) apply(code string, v verdict) Decision {
	if v.rejected != "" {
		return rejected(v.rejected)
	}
	if err := h.disallowed(v.imports); err != nil {
		return Decision{Refused: err}
	}
	return Decision{Run: &Request{Code: code, Header: messages.Header{Imports: v.imports}}}
}

func rejected(reason string) Decision {
	return Decision{Refused: messages.Invalidf("Rejected Lean header: %s", reason)}
}

// covers tells whether the warm environment has exactly these modules by name. A
// module below a warm one isn't taken for loaded: it might not exist.
func (h *Headers) covers(imports []string) bool {
	return !slices.ContainsFunc(imports, func(module string) bool {
		return module != implicitModule && !slices.Contains(h.warm, module)
	})
}

// implicitModule is what every Lean text imports without saying so.
const implicitModule = "Init"

func (h *Headers) disallowed(imports []string) error {
	if h.allowed == nil {
		return nil
	}
	var bad []string
	for _, module := range imports {
		root, _, _ := strings.Cut(module, ".")
		if root != implicitModule && !slices.Contains(h.allowed, root) && !slices.Contains(bad, module) {
			bad = append(bad, module)
		}
	}
	if bad == nil {
		return nil
	}
	return &messages.ImportError{Disallowed: bad, Allowed: h.allowed}
}

// key stands for all that Lean's parser reads of the code before it knows the header.
func (h head) key(code string) [sha256.Size]byte { return sha256.Sum256([]byte(code[:h.read])) }
