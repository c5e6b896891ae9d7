package wire

import (
	"encoding/json"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// The limits of a watched build that names none.
const (
	perFileGate = 600 * time.Second
	buildGate   = 3600 * time.Second
)

// RunParams are the parameters of repl.run.
type RunParams struct {
	messages.Snippet
	Format Format
}

// DecodeRun checks the parameters of repl.run. limit is the most that a call may
// take (repl.max_timeout). The error of every decoder is a *RequestError.
func DecodeRun(params Params, limit time.Duration) (RunParams, error) {
	f := fields{params: params}
	return RunParams{
		Snippet: messages.Snippet{
			Project: f.filled("project_dir"), Code: f.string("code"), Language: f.optional("language"),
			Timeout: f.timeout("timeout", limit),
		},
		Format: f.format(FormatText, FormatJSON, FormatReport),
	}, f.err
}

// DiagnosticsParams are the parameters of lsp.diagnostics.
type DiagnosticsParams struct {
	messages.Document
	Format Format
}

// DecodeDiagnostics checks the parameters of lsp.diagnostics; limit is lsp.max_timeout.
func DecodeDiagnostics(params Params, limit time.Duration) (DiagnosticsParams, error) {
	f := fields{params: params}
	return DiagnosticsParams{Document: f.document(limit), Format: f.format(FormatText, FormatJSON, FormatReport)}, f.err
}

// HoverParams are the parameters of lsp.hover.
type HoverParams struct {
	messages.Document
	messages.Position
	Format Format
}

// DecodeHover checks the parameters of lsp.hover; limit is lsp.max_timeout.
func DecodeHover(params Params, limit time.Duration) (HoverParams, error) {
	f := fields{params: params}
	return HoverParams{
		Document: f.document(limit),
		Position: messages.Position{Line: f.natural("line"), Character: f.natural("character")},
		Format:   f.format(FormatText, FormatJSON, FormatReport),
	}, f.err
}

// QueryParams are the parameters of lsp.query. As JSON its result is the server's own.
// Without a file it is about the whole project.
type QueryParams struct {
	messages.Document
	Method   string
	Position *messages.Position // nil: the request is about the whole document
	Params   json.RawMessage    // an object, or empty
	Format   Format
}

// DecodeQuery checks the parameters of lsp.query; limit is lsp.max_timeout.
func DecodeQuery(params Params, limit time.Duration) (QueryParams, error) {
	f := fields{params: params}
	return QueryParams{
		Document: messages.Document{Project: f.filled("project_dir"), File: f.optional("file_path"), Language: f.optional("language"),
			Timeout: f.timeout("timeout", limit)},
		Method: f.filled("method"), Position: f.position(), Params: f.object("params"),
		Format: f.format(FormatJSON, FormatText, FormatReport),
	}, f.err
}

// ProjectParams are the parameters of repl.status.
type ProjectParams struct{ Project, Language string }

// DecodeProject checks the parameters of repl.status.
func DecodeProject(params Params) (ProjectParams, error) {
	f := fields{params: params}
	return ProjectParams{f.filled("project_dir"), f.optional("language")}, f.err
}

// StatusParams are the parameters of daemon.status. As a report its result is a
// messages.Status.
type StatusParams struct {
	Project string // empty: all
	Format  Format
}

// DecodeStatus checks the parameters of daemon.status.
func DecodeStatus(params Params) (StatusParams, error) {
	f := fields{params: params}
	return StatusParams{f.optional("project_dir"), f.format(FormatJSON, FormatReport)}, f.err
}

// ShutdownParams are the parameters of daemon.shutdown. Now aborts what runs.
type ShutdownParams struct {
	Now bool `json:"now"`
}

// DecodeShutdown checks the parameters of daemon.shutdown.
func DecodeShutdown(params Params) (ShutdownParams, error) {
	f := fields{params: params}
	return ShutdownParams{f.flag("now")}, f.err
}

// BuildParams are the parameters of build.watch.
type BuildParams struct{ messages.Build }

// DecodeBuild checks the parameters of build.watch.
func DecodeBuild(params Params) (BuildParams, error) {
	f := fields{params: params}
	return BuildParams{messages.Build{
		Dir: f.filled("dir"), Argv: f.words("command"), Match: f.optional("match"),
		PerFile: f.gate("per_file", perFileGate), Limit: f.gate("limit", buildGate),
	}}, f.err
}

// BuildEvent are the parameters of build.event.
type BuildEvent struct {
	ID json.RawMessage `json:"id"` // of the build.watch, byte for byte
	messages.BuildEvent
}

// CancelParams are the parameters of $/cancelRequest.
type CancelParams struct {
	ID json.RawMessage `json:"id"` // of the request, byte for byte
}

// DecodeCancel checks the parameters of $/cancelRequest.
func DecodeCancel(params Params) (CancelParams, error) {
	f := fields{params: params}
	id, given := f.given("id")
	if !given || !isID(id) {
		f.refuse("id must be a string or a number")
	}
	return CancelParams{id}, f.err
}

func (f *fields) document(limit time.Duration) messages.Document {
	return messages.Document{
		Project: f.filled("project_dir"), File: f.filled("file_path"), Language: f.optional("language"),
		Timeout: f.timeout("timeout", limit),
	}
}

// position is nil where neither of its parts is given.
func (f *fields) position() *messages.Position {
	_, line := f.given("line")
	_, character := f.given("character")
	if !line && !character {
		return nil
	}
	return &messages.Position{Line: f.natural("line"), Character: f.natural("character")}
}

// sent is how parameters are written: what is at its default is left out.
type sent struct {
	Project  string          `json:"project_dir,omitempty"`
	File     string          `json:"file_path,omitempty"`
	Line     *int            `json:"line,omitempty"`
	Column   *int            `json:"character,omitempty"`
	Code     *string         `json:"code,omitempty"`
	Method   string          `json:"method,omitempty"`
	Params   json.RawMessage `json:"params,omitempty"`
	Language string          `json:"language,omitempty"`
	Timeout  Decimal         `json:"timeout,omitempty"`
	Format   Format          `json:"format,omitempty"`
	Command  []string        `json:"command,omitempty"`
	Dir      string          `json:"dir,omitempty"`
	PerFile  *Decimal        `json:"per_file,omitempty"`
	Limit    *Decimal        `json:"limit,omitempty"`
	Match    string          `json:"match,omitempty"`
}

// MarshalJSON writes the parameters as DecodeRun reads them.
func (p RunParams) MarshalJSON() ([]byte, error) {
	return json.Marshal(sent{Project: p.Project, Code: &p.Code, Language: p.Language,
		Timeout: inSeconds(p.Timeout), Format: p.Format})
}

// MarshalJSON writes the parameters as DecodeDiagnostics reads them.
func (p DiagnosticsParams) MarshalJSON() ([]byte, error) {
	return json.Marshal(sent{Project: p.Project, File: p.File, Language: p.Language,
		Timeout: inSeconds(p.Timeout), Format: p.Format})
}

// MarshalJSON writes the parameters as DecodeHover reads them.
func (p HoverParams) MarshalJSON() ([]byte, error) {
	return json.Marshal(sent{Project: p.Project, File: p.File, Language: p.Language,
		Line: &p.Line, Column: &p.Character, Timeout: inSeconds(p.Timeout), Format: p.Format})
}

// MarshalJSON writes the parameters as DecodeQuery reads them.
func (p QueryParams) MarshalJSON() ([]byte, error) {
	s := sent{Project: p.Project, File: p.File, Language: p.Language, Method: p.Method, Params: p.Params,
		Timeout: inSeconds(p.Timeout), Format: p.Format}
	if p.Position != nil {
		s.Line, s.Column = &p.Position.Line, &p.Position.Character
	}
	return json.Marshal(s)
}

// MarshalJSON writes the parameters as DecodeProject reads them.
func (p ProjectParams) MarshalJSON() ([]byte, error) {
	return json.Marshal(sent{Project: p.Project, Language: p.Language})
}

// MarshalJSON writes the parameters as DecodeStatus reads them.
func (p StatusParams) MarshalJSON() ([]byte, error) {
	return json.Marshal(sent{Project: p.Project, Format: p.Format})
}

// MarshalJSON writes the parameters as DecodeBuild reads them.
func (p BuildParams) MarshalJSON() ([]byte, error) {
	perFile, limit := inSeconds(p.PerFile), inSeconds(p.Limit)
	return json.Marshal(sent{Dir: p.Dir, Command: p.Argv, PerFile: &perFile, Limit: &limit, Match: p.Match})
}
