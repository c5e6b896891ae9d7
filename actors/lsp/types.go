package lsp

import (
	"encoding/json"

	"github.com/seed-f6977891/hearth/messages"
)

// The values that reports are made of. Positions count in UTF-16 code units whatever
// the server counts in; a diagnostic's severity is 0 where the server gave none.
type (
	Position   = messages.Position
	Range      = messages.Range
	Diagnostic = messages.Diagnostic
)

// Profile is what a language's configuration says about its server.
type Profile struct {
	// Name is the server's name in errors until the server has said its own.
	Name string
	// InitializationOptions goes into the initialize request as it is; nil: absent.
	InitializationOptions json.RawMessage
	// Settings answers workspace/configuration: an item's section "a.b" is looked up
	// by its parts. Where it isn't empty, it is also sent once with
	// workspace/didChangeConfiguration, which some servers want instead of asking.
	Settings map[string]any
	// Complete says how the end of this server's diagnostics is known.
	Complete Complete
	// Encoding overrides what the server says it counts characters in, for servers
	// that count code points and don't say so.
	Encoding Encoding
	// Sources are globs of the files whose changes matter to the server. They are watched
	// for a server that doesn't ask for any to be; see Documents.FilesChanged.
	Sources []string
	// Serial makes every operation wait for the check of the text that it has sent. Such a
	// server is to get one at a time: it forgets the check of one file over another's.
	Serial bool
	// DependencyBuildMode goes into didOpen as Lean's extension; empty: absent.
	DependencyBuildMode string
}

// Complete is a way to know that the diagnostics of a text are all there.
type Complete string

const (
	// CompleteQuiet takes the last publication after a second of quiet.
	CompleteQuiet Complete = ""
	// CompleteVersion takes the first publication that names the text's version.
	CompleteVersion Complete = "version"
	// CompleteLean asks with Lean's textDocument/waitForDiagnostics.
	CompleteLean Complete = "lean"
)
