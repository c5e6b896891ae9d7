package daemon_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

// toolNames are all tools that hearth mcp has.
var toolNames = []string{"run_lean_code", "get_repl_status", "lean_diagnostic_messages", "lean_hover",
	"run_code", "check_file", "hover", "lsp_query", "runtime_status"}

// session connects the official SDK's client over real pipes.
func (h *home) session(options *sdk.ClientOptions) *sdk.ClientSession {
	h.t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, options)
	session, err := client.Connect(h.t.Context(), &sdk.CommandTransport{Command: h.command("mcp")}, nil)
	require.NoError(h.t, err)
	h.t.Cleanup(func() { assert.NoError(h.t, session.Close()) })
	return session
}

func (h *home) tool(session *sdk.ClientSession, name string, arguments map[string]any) (text string, isError bool) {
	h.t.Helper()
	result, err := session.CallTool(h.t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	require.NoError(h.t, err)
	require.Len(h.t, result.Content, 1)
	return result.Content[0].(*sdk.TextContent).Text, result.IsError
}

func TestEveryToolAnswersTheOfficialClient(t *testing.T) {
	h := newHome(t, options{})
	standins.WriteFile(t, h.file(), "word\nERROR here\n")
	session := h.session(nil)
	tools, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		assert.NotEmpty(t, tool.Description)
	}
	assert.ElementsMatch(t, toolNames, names)

	at := map[string]any{"project_dir": h.project, "file_path": "a.fake", "line": 0, "character": 1}
	code := map[string]any{"project_dir": h.project, "code": "x", "timeout": 30}
	text, isError := h.tool(session, "run_code", code)
	assert.False(t, isError)
	assert.Contains(t, text, "generation 1")
	text, _ = h.tool(session, "check_file", map[string]any{"project_dir": h.project, "file_path": "a.fake"})
	assert.Regexp(t, `^Diagnostics: 1 error\(s\), 0 warning\(s\)\n2:`, text)
	text, _ = h.tool(session, "hover", at)
	assert.Equal(t, "word", text)
	text, _ = h.tool(session, "lsp_query", map[string]any{"project_dir": h.project, "file_path": "a.fake", "method": "symbols"})
	assert.Equal(t, "a.fake:1:1: function word\na.fake:2:1: function ERROR\n", text)
	text, isError = h.tool(session, "lsp_query", map[string]any{"project_dir": h.project, "file_path": "a.fake", "method": "format"})
	assert.True(t, isError)
	assert.Contains(t, text, "not offered by fakelsp")
	text, _ = h.tool(session, "runtime_status", map[string]any{})
	var status struct{ PID int }
	require.NoError(t, json.Unmarshal([]byte(text), &status))
	assert.Equal(t, h.status().PID, status.PID)
	// The predecessor's are for Lean, which this project isn't.
	for name, arguments := range map[string]map[string]any{"run_lean_code": code, "lean_hover": at,
		"get_repl_status": {"project_dir": h.project}, "lean_diagnostic_messages": {"project_dir": h.project, "file_path": "a.fake"}} {
		text, isError := h.tool(session, name, arguments)
		assert.True(t, isError, name)
		assert.Contains(t, text, "lakefile", name)
	}
	code["timeout"] = -1
	text, isError = h.tool(session, "run_code", code)
	assert.True(t, isError)
	assert.Equal(t, "timeout must be a finite positive number or null", text)
}

func TestLeansToolsAnswerAsThePredecessors(t *testing.T) {
	h := newHome(t, options{})
	bin := standins.Build(t)
	h.env = h.with(bin.LeanEnv(standins.JournalPath(t))...)
	project := standins.Project(t, "lean")
	session := h.session(nil)
	text, _ := h.tool(session, "lean_diagnostic_messages", map[string]any{"project_dir": project, "file_path": "Main.lean"})
	assert.Contains(t, text, "3:0: info: ")
	text, _ = h.tool(session, "lean_hover", map[string]any{"project_dir": project, "file_path": "Main.lean", "line": 0, "character": 5})
	assert.Contains(t, text, "answer")
	text, _ = h.tool(session, "run_lean_code", map[string]any{"project_dir": project, "code": "#eval 1 + 1"})
	assert.Contains(t, text, "Compiles successfully")
	text, _ = h.tool(session, "get_repl_status", map[string]any{"project_dir": project})
	assert.Contains(t, text, `"state": "warm"`)
}

func TestReportedFault21VeryLongTextsGoThroughTheAdapterWhole(t *testing.T) {
	const codeBytes = 4 << 20
	long := strings.Repeat("∀ word 𝓤\n", 9<<20/15) // 9 MiB of what JSON writes as it is; the client's own limit is 16 MiB
	h := newHome(t, options{lsp: script.LSP{Rules: []script.Rule{script.When("textDocument/hover",
		script.Reply(map[string]any{"contents": map[string]string{"kind": "plaintext", "value": long}}))}}})
	session := h.session(nil)
	text, _ := h.tool(session, "hover", map[string]any{"project_dir": h.project, "file_path": "a.fake", "line": 0, "character": 1})
	assert.Equal(t, sha256.Sum256([]byte(long)), sha256.Sum256([]byte(text)))
	code := script.Fill(codeBytes)
	text, _ = h.tool(session, "run_code", map[string]any{"project_dir": h.project, "code": code})
	assert.Contains(t, text, fmt.Sprintf("sha256 %x", sha256.Sum256([]byte(code))))
}

func TestACallThatItsClientCancelsIsCancelledInTheDaemonAndItsWaitIsToldOf(t *testing.T) {
	h := newHome(t, options{repl: slowly(time.Hour)})
	told := make(chan string, 100)
	session := h.session(&sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
		told <- r.Params.Message
	}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	params := &sdk.CallToolParams{Name: "run_code", Arguments: map[string]any{"project_dir": h.project, "code": "slow"}}
	params.SetProgressToken("token")
	ended := make(chan error, 1)
	go func() {
		_, err := session.CallTool(ctx, params)
		ended <- err
	}()
	for message := ""; !strings.HasPrefix(message, "waiting for fake in "); {
		select {
		case message = <-told:
		case <-time.After(bound):
			t.Fatal("no progress is told")
		}
	}
	worker := h.repl.Await(t, standins.Is("", journal.Received, "slow")) // it is told of as soon as it has a worker
	cancel()
	assert.Error(t, <-ended)
	standins.AwaitGone(t, worker.PID, worker.StartTicks)
	text, _ := h.tool(session, "run_code", map[string]any{"project_dir": h.project, "code": "quick"})
	assert.Contains(t, text, "generation")
}
