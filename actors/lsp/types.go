package lsp

// Position is LSP's: zero-based, Character in UTF-16 code units whatever the server
// counts in.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Range is LSP's: End is the first position after it.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Diagnostic is one finding about one file. Severity is LSP's number, 1 (error) to 4
// (hint), or 0 where the server gave none.
type Diagnostic struct {
	Range    Range
	Severity int
	Message  string
	Source   string
	Code     string
}

// Profile is what a language's configuration says about its server.
type Profile struct {
	// Name is the server's name in errors until the server has said its own.
	Name string
	// InitializationOptions goes into the initialize request as it is.
	InitializationOptions any
	// Settings answers workspace/configuration: an item's section "a.b" is looked up
	// by its parts. Where it isn't empty, it is also sent once with
	// workspace/didChangeConfiguration, which some servers want instead of asking.
	Settings map[string]any
	// Complete says how the end of this server's diagnostics is known.
	Complete Complete
	// Encoding overrides what the server says it counts characters in, for servers
	// that count code points and don't say so.
	Encoding Encoding
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
