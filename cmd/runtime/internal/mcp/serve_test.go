package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/cmd/runtime/internal/mcp"
	"github.com/seed-f6977891/hearth/messages"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n" +
	`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// fakeRuntime answers as run says, and all else at once.
type fakeRuntime struct {
	run     func(context.Context, messages.Snippet) (messages.RunReport, error)
	snippet messages.Snippet
	doc     messages.Document
}

func (f *fakeRuntime) Diagnostics(_ context.Context, doc messages.Document) (messages.DiagnosticsReport, error) {
	f.doc = doc
	return messages.DiagnosticsReport{}, nil
}

func (f *fakeRuntime) Hover(_ context.Context, doc messages.Document, _ messages.Position) (messages.HoverReport, error) {
	f.doc = doc
	return messages.HoverReport{}, &messages.BusyError{Reason: messages.Slot, Project: doc.Project}
}

func (f *fakeRuntime) Query(_ context.Context, doc messages.Document, _ string, _ *messages.Position, _ json.RawMessage) (messages.QueryReport, error) {
	f.doc = doc
	return messages.QueryReport{}, nil
}

func (f *fakeRuntime) RunCode(ctx context.Context, s messages.Snippet) (messages.RunReport, error) {
	f.snippet = s
	return f.run(ctx, s)
}

func (f *fakeRuntime) Status(context.Context) (messages.Status, error) { return messages.Status{}, nil }

func (f *fakeRuntime) Call(_ context.Context, method string, params, result any) error {
	text, err := json.Marshal(map[string]any{"method": method, "params": params})
	if err == nil {
		err = json.Unmarshal(text, result)
	}
	return err
}

func call(id int, name, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", id, name, arguments)
}

// session serves one input to its end and gives the answers' results by id.
func session(t *testing.T, f *fakeRuntime, input string) map[int]string {
	t.Helper()
	var output bytes.Buffer
	require.NoError(t, mcp.Serve(t.Context(), f, "v1", strings.NewReader(input), &output, slog.New(slog.DiscardHandler)))
	answers := make(map[int]string)
	for lines := bufio.NewScanner(&output); lines.Scan(); {
		var m struct {
			ID     int
			Result json.RawMessage
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &m))
		answers[m.ID] = string(m.Result)
	}
	return answers
}

func TestToolsAskTheRuntimeForWhatTheySay(t *testing.T) {
	f := &fakeRuntime{run: func(_ context.Context, s messages.Snippet) (messages.RunReport, error) {
		return messages.RunReport{Protocol: messages.ReportJSONL, Result: s.Code}, nil
	}}
	got := session(t, f, initialize+call(2, "run_lean_code", `{"project_dir":"/p","code":"x","timeout":1.5}`))
	assert.JSONEq(t, `{"content":[{"type":"text","text":"Result: x"}]}`, got[2])
	assert.Equal(t, messages.Snippet{Project: "/p", Code: "x", Language: "lean", Timeout: 1500 * time.Millisecond}, f.snippet)
	session(t, f, initialize+call(2, "run_code", `{"project_dir":"/p","code":"x","language":"python","timeout":null}`))
	assert.Equal(t, messages.Snippet{Project: "/p", Code: "x", Language: "python"}, f.snippet)
	got = session(t, f, initialize+call(2, "check_file", `{"project_dir":"/p","file_path":"a.go"}`))
	assert.JSONEq(t, `{"content":[{"type":"text","text":"No diagnostics — file compiles cleanly."}]}`, got[2])
	assert.Equal(t, messages.Document{Project: "/p", File: "a.go"}, f.doc)
	got = session(t, f, initialize+call(2, "get_repl_status", `{"project_dir":"/p"}`)+call(3, "runtime_status", `{}`))
	assert.Contains(t, got[2], `\"method\": \"repl.status\"`)
	assert.Contains(t, got[2], `\"language\": \"lean\"`)
	assert.Contains(t, got[3], `\"method\": \"daemon.status\"`)
}

func TestEachParameterHasOneTypeByItsName(t *testing.T) {
	got := session(t, &fakeRuntime{}, initialize+`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`+"\n")
	var list struct {
		Tools []struct {
			Name        string
			InputSchema struct{ Properties map[string]struct{ Type any } }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got[2]), &list))
	require.NotEmpty(t, list.Tools)
	for _, tool := range list.Tools {
		for name, property := range tool.InputSchema.Properties {
			assert.IsType(t, "", property.Type, "%s of %s", name, tool.Name)
		}
	}
}

func TestAToolsErrorIsItsResult(t *testing.T) {
	f := &fakeRuntime{run: func(context.Context, messages.Snippet) (messages.RunReport, error) {
		return messages.RunReport{}, &messages.RunError{Sent: true, Err: errors.New("it died")}
	}}
	got := session(t, f, initialize+call(2, "run_code", `{"project_dir":"/p","code":"x"}`)+
		call(3, "hover", `{"project_dir":"/p","file_path":"a","line":0,"character":0}`)+
		call(4, "run_code", `{"project_dir":"/p","code":"x","timeout":0}`)+call(5, "run_code", `{"project_dir":"/p"}`)+
		call(6, "check_file", `{"project_dir":"/p","file_path":"a","verbose":true}`)+
		call(7, "run_code", `{"project_dir":"/p","code":null}`)+call(8, "run_code", `null`))
	assert.JSONEq(t, `{"content":[{"type":"text","text":"REPL error (execution outcome unknown; request not retried): it died"}]}`, got[2],
		"the predecessor's text for whatever became of the code")
	assert.Contains(t, got[3], "timed out waiting for a shared project slot: /p")
	assert.Contains(t, got[3], `"isError":true`)
	assert.Contains(t, got[4], "timeout must be a finite positive number or null")
	assert.Contains(t, got[5], "code")
	assert.Contains(t, got[7], `missing properties: [\"code\"]`)
	assert.Contains(t, got[8], "missing properties")
	assert.Contains(t, got[6], "No diagnostics", "what a tool doesn't know is ignored")
}

func TestACallThatIsUnderWayWhenTheInputEndsGetsAMoment(t *testing.T) {
	f := &fakeRuntime{run: func(ctx context.Context, _ messages.Snippet) (messages.RunReport, error) {
		select {
		case <-time.After(100 * time.Millisecond):
			return messages.RunReport{Protocol: messages.ReportJSONL, Result: "done"}, nil
		case <-ctx.Done():
			return messages.RunReport{}, ctx.Err()
		}
	}}
	got := session(t, f, initialize+call(2, "run_code", `{"project_dir":"/p","code":"x"}`))
	assert.Contains(t, got[2], "done")

	ended := make(chan error, 1)
	f.run = func(ctx context.Context, _ messages.Snippet) (messages.RunReport, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return messages.RunReport{}, ctx.Err()
	}
	session(t, f, initialize+call(2, "run_code", `{"project_dir":"/p","code":"x"}`))
	assert.Error(t, <-ended, "and is then cancelled")
}

func TestAnInterruptEndsASessionWhoseInputStaysOpen(t *testing.T) {
	input, writer := io.Pipe()
	defer writer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- mcp.Serve(ctx, &fakeRuntime{}, "v1", input, io.Discard, slog.New(slog.DiscardHandler))
	}()
	_, err := io.WriteString(writer, initialize)
	require.NoError(t, err)
	cancel()
	assert.Equal(t, messages.KindCancelled, messages.KindOf(<-ended))
}
