package wire_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

const limit = 240 * time.Second

// decoders has every method's decoder.
var decoders = map[string]func(wire.Params) (any, error){
	wire.MethodRun:         func(p wire.Params) (any, error) { return wire.DecodeRun(p, limit) },
	wire.MethodDiagnostics: func(p wire.Params) (any, error) { return wire.DecodeDiagnostics(p, 600*time.Second) },
	wire.MethodHover:       func(p wire.Params) (any, error) { return wire.DecodeHover(p, 600*time.Second) },
	wire.MethodQuery:       func(p wire.Params) (any, error) { return wire.DecodeQuery(p, 600*time.Second) },
	wire.MethodREPLStatus:  func(p wire.Params) (any, error) { return wire.DecodeProject(p) },
	wire.MethodStatus:      func(p wire.Params) (any, error) { return wire.DecodeStatus(p) },
	wire.MethodShutdown:    func(p wire.Params) (any, error) { return wire.DecodeShutdown(p) },
	wire.MethodBuild:       func(p wire.Params) (any, error) { return wire.DecodeBuild(p) },
	wire.MethodCancel:      func(p wire.Params) (any, error) { return wire.DecodeCancel(p) },
}

func decode(t *testing.T, method, params string) (any, error) {
	t.Helper()
	request, err := wire.ParseRequest([]byte(`{"v":1,"id":1,"method":"`+method+`","params":`+params+`}`), 0)
	require.NoError(t, err, params)
	require.Contains(t, decoders, method)
	return decoders[method](request.Params)
}

func TestParametersArriveAsTheyWereSent(t *testing.T) {
	document := messages.Document{Project: "/p", File: "A.lean", Language: "lean"}
	patient := document
	patient.Timeout = limit
	for _, c := range []struct {
		method string
		sent   any
	}{
		{wire.MethodRun, wire.RunParams{Snippet: messages.Snippet{Project: "/p", Language: "lean", Timeout: 1500 * time.Millisecond}, Format: wire.FormatJSON}},
		{wire.MethodRun, wire.RunParams{Snippet: messages.Snippet{Project: "/p", Code: "<é\n>", Timeout: 1}, Format: wire.FormatText}},
		{wire.MethodDiagnostics, wire.DiagnosticsParams{Document: patient, Format: wire.FormatReport}},
		{wire.MethodHover, wire.HoverParams{Document: document, Format: wire.FormatText}},
		{wire.MethodHover, wire.HoverParams{Document: document, Position: messages.Position{Line: 3, Character: 7}, Format: wire.FormatJSON}},
		{wire.MethodHover, wire.HoverParams{Document: patient, Format: wire.FormatReport}},
		{wire.MethodQuery, wire.QueryParams{Document: patient, Method: "textDocument/definition",
			Position: &messages.Position{Character: 7}, Params: json.RawMessage(`{"a":[1]}`), Format: wire.FormatReport}},
		{wire.MethodQuery, wire.QueryParams{Document: document, Method: "textDocument/documentSymbol", Format: wire.FormatJSON}},
		{wire.MethodQuery, wire.QueryParams{Document: messages.Document{Project: "/p"}, Method: "workspace-symbols", Format: wire.FormatText}},
		{wire.MethodREPLStatus, wire.ProjectParams{Project: "/p", Language: "lean"}},
		{wire.MethodStatus, wire.StatusParams{Project: "/p", Format: wire.FormatReport}},
		{wire.MethodShutdown, wire.ShutdownParams{Now: true}},
		{wire.MethodBuild, wire.BuildParams{Build: messages.Build{Dir: "/p", Argv: []string{"lake", "build"}, Limit: time.Hour, Match: "lean"}}},
		{wire.MethodCancel, wire.CancelParams{ID: json.RawMessage(`"a"`)}},
	} {
		line, err := wire.Call(wire.JSONRPC, 1, c.method, c.sent)
		require.NoError(t, err)
		request, err := wire.ParseRequest(line, 0)
		require.NoError(t, err)
		got, err := decoders[c.method](request.Params)
		require.NoError(t, err, string(line))
		assert.Equal(t, c.sent, got)
	}
}

func TestWhatIsNotGivenHasItsDefault(t *testing.T) {
	for _, timeout := range []string{"", `,"timeout":null`, `,"language":null,"format":null,"unknown":[{}]`} {
		got, err := decode(t, wire.MethodRun, `{"project_dir":"/p","code":""`+timeout+`}`)
		require.NoError(t, err)
		assert.Equal(t, wire.RunParams{Snippet: messages.Snippet{Project: "/p"}, Format: wire.FormatText}, got)
	}
	got, err := decode(t, wire.MethodBuild, `{"dir":"/p","command":["lake"]}`)
	require.NoError(t, err)
	assert.Equal(t, wire.BuildParams{Build: messages.Build{Dir: "/p", Argv: []string{"lake"}, PerFile: 600 * time.Second, Limit: time.Hour}}, got)
	got, err = decode(t, wire.MethodStatus, `{}`)
	require.NoError(t, err)
	assert.Equal(t, wire.StatusParams{Format: wire.FormatJSON}, got)
}

func TestTimeoutHasThePredecessorsRulesAndTexts(t *testing.T) {
	const finite = "timeout must be a finite positive number or null"
	const above = "timeout exceeds the node-wide limit of 240 seconds"
	for value, want := range map[string]string{
		"true": finite, "false": finite, `"30"`: finite, "[]": finite, "{}": finite, "0": finite, "-1": finite, "-0.0": finite,
		"1e999": finite, "-1e999": finite, "1e-999": finite,
		"240.001": above, "1e300": above,
		"240": "", "240.0": "", "0.25": "", "1e-12": "", "2.4e2": "",
	} {
		got, err := decode(t, wire.MethodRun, `{"project_dir":"/p","code":"x","timeout":`+value+`}`)
		if want != "" {
			assert.EqualError(t, err, want, value)
			assert.Equal(t, wire.CodeInvalidParams, wire.Code(err))
			continue
		}
		assert.NoError(t, err, value)
		assert.Positive(t, got.(wire.RunParams).Timeout, "%s: 0 would mean the default", value)
	}
	_, err := decode(t, wire.MethodDiagnostics, `{"project_dir":"/p","file_path":"a","timeout":601}`)
	assert.EqualError(t, err, "timeout exceeds the node-wide limit of 600 seconds")
}

func TestWrongParametersAreRefusedByName(t *testing.T) {
	const run, hover = `"project_dir":"/p","code":""`, `"project_dir":"/p","file_path":"a"`
	for _, c := range []struct{ method, params, want string }{
		{wire.MethodRun, `{}`, "project_dir must be a non-empty string"},
		{wire.MethodRun, `{"project_dir":" ","code":""}`, "project_dir must be a non-empty string"},
		{wire.MethodRun, `{"project_dir":7,"code":""}`, "project_dir must be a non-empty string"},
		{wire.MethodRun, `{"project_dir":"/p"}`, "code must be a string"},
		{wire.MethodRun, `{"project_dir":"/p","code":null}`, "code must be a string"},
		{wire.MethodRun, `{` + run + `,"language":7}`, "language must be a string or null"},
		{wire.MethodRun, `{` + run + `,"format":"xml"}`, `format must be one of ["text" "json" "report"]`},
		{wire.MethodREPLStatus, `{"project_dir":null}`, "project_dir must be a non-empty string"},
		{wire.MethodDiagnostics, `{"project_dir":"/p"}`, "file_path must be a non-empty string"},
		{wire.MethodHover, `{` + hover + `,"character":0}`, "line must be a non-negative integer"},
		{wire.MethodHover, `{` + hover + `,"line":0,"character":-1}`, "character must be a non-negative integer"},
		{wire.MethodHover, `{` + hover + `,"line":1.0,"character":0}`, "line must be a non-negative integer"},
		{wire.MethodHover, `{` + hover + `,"line":true,"character":0}`, "line must be a non-negative integer"},
		{wire.MethodHover, `{` + hover + `,"line":"1","character":0}`, "line must be a non-negative integer"},
		{wire.MethodHover, `{` + hover + `,"line":2147483648,"character":0}`, "line must be a non-negative integer"},
		{wire.MethodQuery, `{` + hover + `}`, "method must be a non-empty string"},
		{wire.MethodQuery, `{` + hover + `,"method":"m","line":1}`, "character must be a non-negative integer"},
		{wire.MethodQuery, `{` + hover + `,"method":"m","params":[]}`, "params must be an object or null"},
		{wire.MethodStatus, `{"format":"text"}`, `format must be one of ["json" "report"]`},
		{wire.MethodShutdown, `{"now":1}`, "now must be true or false"},
		{wire.MethodBuild, `{"command":["x"]}`, "dir must be a non-empty string"},
		{wire.MethodBuild, `{"dir":"/p"}`, "command must be a list of strings that begins with a program"},
		{wire.MethodBuild, `{"dir":"/p","command":[]}`, "command must be a list of strings that begins with a program"},
		{wire.MethodBuild, `{"dir":"/p","command":["x",7]}`, "command must be a list of strings that begins with a program"},
		{wire.MethodBuild, `{"dir":"/p","command":"x"}`, "command must be a list of strings that begins with a program"},
		{wire.MethodBuild, `{"dir":"/p","command":["x"],"limit":-1}`, "limit must be a finite number of seconds, 0 for no limit"},
		{wire.MethodBuild, `{"dir":"/p","command":["x"],"per_file":1e300}`, "per_file must be a finite number of seconds, 0 for no limit"},
		{wire.MethodCancel, `{}`, "id must be a string or a number"},
		{wire.MethodCancel, `{"id":[]}`, "id must be a string or a number"},
	} {
		_, err := decode(t, c.method, c.params)
		assert.EqualError(t, err, c.want, c.params)
		assert.Equal(t, messages.KindInvalid, messages.KindOf(err))
		assert.Equal(t, wire.CodeInvalidParams, wire.Code(err))
	}
}
