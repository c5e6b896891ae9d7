package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/seed-f6977891/hearth/test/standins/play"
)

// Triggers of fakelsp beside the names of methods.
const (
	OnStart = "start" // before anything is read
	OnEOF   = "eof"   // standard input ended
)

// Rule says what to do when its trigger fires. The first rule that fits is the one that is followed.
type Rule struct {
	When       string   `json:"when,omitempty"`       // fakelsp: a trigger or method; fakerepl: start, eof or empty
	Match      string   `json:"match,omitempty"`      // fakerepl: a regular expression that the code of the command has to match
	Nth        int      `json:"nth,omitempty"`        // only the Nth time that the trigger fires in this process; 0 = every time
	Generation int      `json:"generation,omitempty"` // only in the Nth process of this script; 0 = in all
	Inline     bool     `json:"inline,omitempty"`     // fakelsp: read no further message until all actions are done
	Do         []Action `json:"do"`                   // what to do; an empty list does nothing at all, not even the default
}

// LSP is the script of fakelsp.
type LSP struct {
	Capabilities json.RawMessage `json:"capabilities,omitempty"` // default: full sync, hover, definition, references, symbols
	Diagnostics  string          `json:"diagnostics,omitempty"`  // Errors (default), Hash or None
	Hover        string          `json:"hover,omitempty"`        // Word (default) or Hash
	NoVersion    bool            `json:"no_version,omitempty"`   // publish without the version
	Rules        []Rule          `json:"rules,omitempty"`
}

// What fakelsp publishes and shows by default.
const (
	Errors = "errors" // an error for each line that contains ERROR
	Hash   = "hash"   // one information, or a hover, that says "sha256 HEX generation N pid N"
	None   = "none"   // nothing
	Word   = "word"   // the word at the place
)

// REPL is the script of fakerepl.
type REPL struct {
	Protocol string `json:"protocol,omitempty"` // "lean" (default) or "jsonl"
	Grow     string `json:"grow,omitempty"`     // memory that each command takes and keeps, such as 20MiB
	Replay   string `json:"replay,omitempty"`   // NAME of a recorded dialogue: NAME.in and NAME.expected.out
	Shuffle  uint64 `json:"shuffle,omitempty"`  // not 0: replies are written in pieces cut at places drawn from this seed
	Rules    []Rule `json:"rules,omitempty"`
}

// Action is one deed. Which of its fields count depends on Do, see the constructors.
type Action struct {
	Do      string          `json:"do"`
	For     string          `json:"for,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Value   json.RawMessage `json:"value,omitempty"`
	Text    string          `json:"text,omitempty"`
	Raw     []byte          `json:"raw,omitempty"`
	Path    string          `json:"path,omitempty"`
	Code    int             `json:"code,omitempty"`
	N       int             `json:"n,omitempty"`
	Await   bool            `json:"await,omitempty"`
	Cuts    []int           `json:"cuts,omitempty"`
	Spawn   *play.Spawn     `json:"spawn,omitempty"`
	Actions []Action        `json:"actions,omitempty"`
}

// Load reads a script from path into s; a field that no script has is an error.
func Load(path string, s any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Fill returns a text of n bytes with characters of one to four bytes, the same for the same n.
func Fill(n int) string {
	const pattern = "aé∀𝓤 <&>\"\\\t"
	var b strings.Builder
	b.Grow(n + len(pattern))
	for b.Len()+len(pattern) <= n {
		b.WriteString(pattern)
	}
	b.WriteString(strings.Repeat("x", n-b.Len()))
	return b.String()
}
