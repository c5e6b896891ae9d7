package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-f6977891/hearth/cmd/runtime/internal/render"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

const instructions = "Language servers and REPLs that are kept warm and shared. Paths are absolute; " +
	"files are read from disk at each call. The first call for a project may take minutes, later ones are quick."

const lean = "lean"

type (
	leanCode struct {
		Project string   `json:"project_dir" jsonschema:"absolute path of the Lean project"`
		Code    string   `json:"code" jsonschema:"Lean code, with its imports"`
		Timeout *float64 `json:"timeout,omitempty" jsonschema:"seconds for waiting and running together"`
	}
	leanProject struct {
		Project string `json:"project_dir" jsonschema:"absolute path of the Lean project"`
	}
	leanFile struct {
		Project string `json:"project_dir" jsonschema:"absolute path of the Lean project"`
		File    string `json:"file_path" jsonschema:"path of the file, absolute or from project_dir"`
	}
	leanPlace struct {
		Project   string `json:"project_dir" jsonschema:"absolute path of the Lean project"`
		File      string `json:"file_path" jsonschema:"path of the file, absolute or from project_dir"`
		Line      int    `json:"line" jsonschema:"counted from 0"`
		Character int    `json:"character" jsonschema:"counted from 0, in UTF-16 code units"`
	}
	code struct {
		Project  string   `json:"project_dir" jsonschema:"absolute path of the project"`
		Code     string   `json:"code"`
		Language string   `json:"language,omitempty" jsonschema:"such as lean or python; default: by the project's files"`
		Timeout  *float64 `json:"timeout,omitempty" jsonschema:"seconds for waiting and running together"`
	}
	file struct {
		Project  string   `json:"project_dir" jsonschema:"absolute path of the project"`
		File     string   `json:"file_path" jsonschema:"path of the file, absolute or from project_dir"`
		Language string   `json:"language,omitempty" jsonschema:"default: by the file's extension"`
		Timeout  *float64 `json:"timeout,omitempty" jsonschema:"seconds, from when the server takes the call"`
	}
	place struct {
		Project   string `json:"project_dir" jsonschema:"absolute path of the project"`
		File      string `json:"file_path" jsonschema:"path of the file, absolute or from project_dir"`
		Line      int    `json:"line" jsonschema:"counted from 0"`
		Character int    `json:"character" jsonschema:"counted from 0, in UTF-16 code units"`
		Language  string `json:"language,omitempty" jsonschema:"default: by the file's extension"`
	}
	query struct {
		Project   string         `json:"project_dir" jsonschema:"absolute path of the project"`
		Method    string         `json:"method" jsonschema:"a short name, or any method of LSP"`
		File      string         `json:"file_path,omitempty" jsonschema:"path of the file, absolute or from project_dir; none: the whole project"`
		Line      *int           `json:"line,omitempty" jsonschema:"counted from 0"`
		Character *int           `json:"character,omitempty" jsonschema:"counted from 0, in UTF-16 code units"`
		Params    map[string]any `json:"params,omitempty" jsonschema:"further members of the request, such as newName of rename or query of workspace-symbols"`
		Language  string         `json:"language,omitempty" jsonschema:"default: by the file's extension, else by the project's files"`
		Timeout   *float64       `json:"timeout,omitempty" jsonschema:"seconds, from when the server takes the call"`
	}
	anyProject struct {
		Project string `json:"project_dir,omitempty" jsonschema:"absolute path of a project; default: all"`
	}
)

// addTools adds all tools. Each does one thing and gives it as text.
func (a *adapter) addTools(server *sdk.Server) {
	add(a, server, "run_lean_code", "Compile and run Lean code in the project's REPL.",
		func(ctx context.Context, in leanCode) (string, error) {
			return a.run(ctx, in.Project, in.Code, lean, in.Timeout)
		})
	add(a, server, "get_repl_status", "State of the project's Lean REPLs. Starts nothing.",
		func(ctx context.Context, in leanProject) (string, error) {
			return a.json(ctx, wire.MethodREPLStatus, wire.ProjectParams{Project: in.Project, Language: lean})
		})
	add(a, server, "lean_diagnostic_messages", "Errors, warnings and other messages of a Lean file as it is on disk.",
		func(ctx context.Context, in leanFile) (string, error) {
			return a.check(ctx, messages.Document{Project: in.Project, File: in.File, Language: lean}, nil)
		})
	add(a, server, "lean_hover", "Type and documentation of what stands at a place in a Lean file.",
		func(ctx context.Context, in leanPlace) (string, error) {
			return a.hover(ctx, messages.Document{Project: in.Project, File: in.File, Language: lean}, in.Line, in.Character)
		})
	add(a, server, "run_code", "Run code in the REPL of a project. Each call gets a fresh interpreter.",
		func(ctx context.Context, in code) (string, error) {
			return a.run(ctx, in.Project, in.Code, in.Language, in.Timeout)
		})
	add(a, server, "check_file", "What the language server finds in a file as it is on disk: errors, warnings, hints.",
		func(ctx context.Context, in file) (string, error) {
			return a.check(ctx, messages.Document{Project: in.Project, File: in.File, Language: in.Language}, in.Timeout)
		})
	add(a, server, "hover", "Type and documentation of what stands at a place in a file.",
		func(ctx context.Context, in place) (string, error) {
			return a.hover(ctx, messages.Document{Project: in.Project, File: in.File, Language: in.Language}, in.Line, in.Character)
		})
	add(a, server, "lsp_query", "Ask the language server: "+strings.Join(supervisor.QueryNames(), ", ")+
		". Most need a file and a place in it; edits are shown, not made.",
		func(ctx context.Context, in query) (string, error) { return a.query(ctx, in) })
	add(a, server, "runtime_status", "What the shared runtime has running: projects, processes, memory. Starts no server.",
		func(ctx context.Context, in anyProject) (string, error) {
			return a.json(ctx, wire.MethodStatus, wire.StatusParams{Project: in.Project})
		})
}

// add adds one tool, whose error is its result: the model is to read it.
func add[In any](a *adapter, server *sdk.Server, name, description string, do func(context.Context, In) (string, error)) {
	sdk.AddTool(server, &sdk.Tool{Name: name, Description: description, InputSchema: schema[In]()},
		func(ctx context.Context, request *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
			a.calls.Add(1)
			defer a.calls.Add(-1)
			defer a.progress(ctx, request)()
			text, err := do(ctx, in)
			if err != nil {
				return nil, nil, err
			}
			return answer(text), nil, nil
		})
}

// run gives the text of whatever became of the code.
func (a *adapter) run(ctx context.Context, project, code, language string, seconds *float64) (string, error) {
	timeout, err := duration(seconds)
	if err != nil {
		return "", err
	}
	report, err := a.runtime.RunCode(ctx, messages.Snippet{Project: project, Code: code, Language: language, Timeout: timeout})
	if ran := (*messages.RunError)(nil); errors.As(err, &ran) {
		report, err = ran.Report(), nil
	}
	if err != nil {
		return "", err
	}
	return wire.RunText(report), nil
}

func (a *adapter) check(ctx context.Context, doc messages.Document, seconds *float64) (string, error) {
	var err error
	if doc.Timeout, err = duration(seconds); err != nil {
		return "", err
	}
	report, err := a.runtime.Diagnostics(ctx, doc)
	if err != nil {
		return "", err
	}
	return wire.DiagnosticsText(report), nil
}

func (a *adapter) hover(ctx context.Context, doc messages.Document, line, character int) (string, error) {
	report, err := a.runtime.Hover(ctx, doc, messages.Position{Line: line, Character: character})
	if err != nil {
		return "", err
	}
	return wire.HoverText(report), nil
}

func (a *adapter) query(ctx context.Context, in query) (string, error) {
	doc := messages.Document{Project: in.Project, File: in.File, Language: in.Language}
	var at *messages.Position
	var err error
	if doc.Timeout, err = duration(in.Timeout); err != nil {
		return "", err
	}
	if (in.Line == nil) != (in.Character == nil) {
		return "", messages.Invalidf("a place has both a line and a character")
	}
	if in.Line != nil {
		at = &messages.Position{Line: *in.Line, Character: *in.Character}
	}
	var params json.RawMessage
	if in.Params != nil {
		if params, err = json.Marshal(in.Params); err != nil {
			return "", messages.Invalidf("params: %w", err)
		}
	}
	report, err := a.runtime.Query(ctx, doc, in.Method, at, params)
	if err != nil {
		return "", err
	}
	return render.Query(doc, report), nil
}

func (a *adapter) json(ctx context.Context, method string, params any) (string, error) {
	var raw json.RawMessage
	if err := a.runtime.Call(ctx, method, params, &raw); err != nil {
		return "", err
	}
	return indented(raw)
}

// duration has the rule of the socket's protocols; 0 is that none was given.
func duration(seconds *float64) (time.Duration, error) {
	switch {
	case seconds == nil:
		return 0, nil
	case !(*seconds > 0) || *seconds > math.MaxInt64/float64(time.Second):
		return 0, messages.Invalidf("timeout must be a finite positive number or null")
	}
	return max(1, time.Duration(*seconds*float64(time.Second))), nil
}
