package messages

import (
	"encoding/json"
	"time"
)

// Document names a file of a project for a language-server operation.
type Document struct {
	Project  string        // the project's directory, absolute
	File     string        // absolute, or relative to Project
	Language string        // the profile's name; empty: it follows from the file's extension
	Timeout  time.Duration // of the operation once the server takes it; 0: lsp.timeout
}

// Position is a place in a text as LSP counts it: both zero-based, Character in
// UTF-16 code units.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is a span of text; End is the first position after it.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Severity is a diagnostic's, with LSP's numbers.
type Severity int

// The severities of LSP.
const (
	SeverityError       Severity = 1
	SeverityWarning     Severity = 2
	SeverityInformation Severity = 3
	SeverityHint        Severity = 4
)

func (s Severity) String() string {
	switch s {
	case SeverityError:
		return "error"
	case SeverityWarning:
		return "warning"
	case SeverityInformation:
		return "info"
	case SeverityHint:
		return "hint"
	}
	return "unknown"
}

// Diagnostic is one finding of a language server about one file.
type Diagnostic struct {
	Range    Range    `json:"range"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	Source   string   `json:"source,omitempty"`
	Code     string   `json:"code,omitempty"`
}

// DiagnosticsReport is everything the server found in the text that the call read.
type DiagnosticsReport struct {
	File        string        `json:"file"`    // absolute
	Version     int           `json:"version"` // of the text, counted by the session
	Diagnostics []Diagnostic  `json:"diagnostics"`
	Server      string        `json:"server,omitempty"`
	Duration    time.Duration `json:"duration_ns"`
}

// HoverReport is what the server says about a place. Text is empty where it had
// nothing to say.
type HoverReport struct {
	Text     string        `json:"text"`
	Markdown bool          `json:"markdown"`
	Range    *Range        `json:"range,omitempty"`
	Duration time.Duration `json:"duration_ns"`
}

// QueryReport is the server's own result of a request, undecoded. Encoding is what the
// positions in it count characters in: utf-16, but for servers that know no other than
// theirs.
type QueryReport struct {
	Method   string          `json:"method"` // that was asked for
	Result   json.RawMessage `json:"result"`
	Encoding string          `json:"encoding"`
	Duration time.Duration   `json:"duration_ns"`
}

// Target is the file that a language-server operation is about, resolved.
type Target struct {
	Path       string // absolute, inside the project
	LanguageID string // LSP's languageId of the file
}

// Diagnostics asks for everything the server finds in a file as it is on disk now.
type Diagnostics struct {
	Head
	Target
	Reply ReplyTo[DiagnosticsReport]
}

// Refuse answers with err.
func (op Diagnostics) Refuse(err error) { op.Reply.Fail(err) }

// Hover asks what stands at a place of a file as it is on disk now.
type Hover struct {
	Head
	Target
	Position Position
	Reply    ReplyTo[HoverReport]
}

// Refuse answers with err.
func (op Hover) Refuse(err error) { op.Reply.Fail(err) }

// Query sends one LSP request of any method about a file, or about the whole
// project where Path is empty. Params is merged below the document's identifier
// and, where Position is set, the position.
type Query struct {
	Head
	Target
	Method   string
	Position *Position
	Params   json.RawMessage // an object, null or empty
	Reply    ReplyTo[QueryReport]
}

// Refuse answers with err.
func (op Query) Refuse(err error) { op.Reply.Fail(err) }
