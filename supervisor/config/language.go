package config

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Language is a profile: all that the runtime knows about one language.
type Language struct {
	Name        string
	Markers     []string          // a directory with one of these is a project
	Fingerprint []string          // files whose change makes running children stale, in order
	Extensions  []string          // with the dot
	ID          string            // LSP's languageId
	IDs         map[string]string // languageId by extension, where it differs from ID
	Install     map[string]string // how a program is usually installed, by its base name
	Server      Server
	REPL        Worker
}

// Server is the language-server part of a profile.
type Server struct {
	Commands              []Command         // alternatives: the first whose program is found
	InitializationOptions json.RawMessage   // nil: none are sent
	Settings              map[string]any    // answers to workspace/configuration
	Env                   map[string]string // variables that the server gets beside, or instead of, the runtime's own
	Complete              Complete
	Unwatched             []string // names of folders that are not watched, beside the usual ones
	// Serial is for a server that forgets the check of one file over another's: it gets
	// one operation at a time, each of which waits for the check of the text it has sent.
	Serial bool
}

// Worker is the REPL part of a profile.
type Worker struct {
	Command        Command
	Protocol       Protocol
	Driver         string   // name of a driver of hearth's own that the command is to run; empty: none
	HeaderCommand  Command  // reads code on standard input and prints its imports; nil: lexical check only
	WarmUp         []string // imports that a warm worker has loaded; see WarmImports
	Weight         Size     // of one worker in the node's budget
	AllowedImports []string // first components of modules; nil: everything
	MemoryLimit    *Size    // nil: repl.memory_limit
}

// Complete says how the end of a document's diagnostics is known.
type Complete string

// The ways.
const (
	CompleteQuiet   Complete = "quiet"   // nothing was published for a while
	CompleteVersion Complete = "version" // the first publication with the call's version is final
	CompleteWait    Complete = "wait"    // textDocument/waitForDiagnostics answers
)

// Protocol is what a REPL child speaks.
type Protocol string

// The protocols.
const (
	ProtocolNone  Protocol = "none"  // the language has no REPL
	ProtocolLean  Protocol = "lean"  // JSON objects that end with a blank line
	ProtocolJSONL Protocol = "jsonl" // one JSON object a line
)

// LanguageID is LSP's languageId of a file.
func (l Language) LanguageID(path string) string {
	if id, ok := l.IDs[filepath.Ext(path)]; ok {
		return id
	}
	return l.ID
}

// Owns tells whether the file's extension is one of the language's.
func (l Language) Owns(path string) bool {
	return slices.Contains(l.Extensions, filepath.Ext(path))
}

// HasREPL tells whether code of the language can be run.
func (l Language) HasREPL() bool { return l.REPL.Protocol != ProtocolNone }

// HasServer tells whether files of the language can be checked.
func (l Language) HasServer() bool { return len(l.Server.Commands) > 0 }

// Answer is the reply to one item of workspace/configuration: the part of the
// settings below a dotted section. Where there is none it is an empty object, since
// a null makes some servers publish nothing.
func (s Server) Answer(section string) any {
	var value any = s.Settings
	for _, name := range strings.FieldsFunc(section, func(r rune) bool { return r == '.' }) {
		table, _ := value.(map[string]any)
		next, ok := table[name]
		if !ok {
			return map[string]any{}
		}
		value = next
	}
	if table, ok := value.(map[string]any); ok && table == nil {
		return map[string]any{}
	}
	return value
}

// languageOrder gives the names in the order in which they are tried where more
// than one could be meant: those that a user added first, then the built-in ones.
func (c Config) languageOrder() []string {
	rank := func(name string) int { return slices.Index(builtinOrder, name) }
	return slices.SortedFunc(maps.Keys(c.Languages), func(a, b string) int {
		if rank(a) != rank(b) {
			return rank(a) - rank(b)
		}
		return strings.Compare(a, b)
	})
}
