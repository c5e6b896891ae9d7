package wire

// The methods, the same in both protocols, and their parameters.
const (
	MethodPing        = "daemon.ping"     // none
	MethodStatus      = "daemon.status"   // StatusParams
	MethodTree        = "daemon.tree"     // none
	MethodShutdown    = "daemon.shutdown" // ShutdownParams
	MethodRun         = "repl.run"        // RunParams
	MethodREPLStatus  = "repl.status"     // ProjectParams
	MethodDiagnostics = "lsp.diagnostics" // DiagnosticsParams
	MethodHover       = "lsp.hover"       // HoverParams
	MethodQuery       = "lsp.query"       // QueryParams
	MethodBuild       = "build.watch"     // BuildParams
)

// The notifications, of JSON-RPC alone.
const (
	MethodCancel     = "$/cancelRequest" // from a client: CancelParams
	MethodBuildEvent = "build.event"     // from the daemon, while a build.watch runs: BuildEvent
)

// Format says how a result is wanted.
type Format string

// The formats. A method's default is text where it has one, else JSON.
const (
	FormatText   Format = "text"
	FormatJSON   Format = "json"   // for programs: the run's report, the list of diagnostics, the hover as LSP has it
	FormatReport Format = "report" // for supervisor/client: the Go API's own value
)
