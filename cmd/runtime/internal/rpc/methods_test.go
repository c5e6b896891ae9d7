package rpc_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// result asks over version 1 and gives the result.
func (r *rig) result(t *testing.T, method string, params any) json.RawMessage {
	t.Helper()
	line, err := wire.Call(wire.Version1, 1, method, params)
	require.NoError(t, err)
	p := r.connect(t)
	p.send(string(line))
	reply, err := wire.ParseReply([]byte(p.line()), wire.Version1)
	require.NoError(t, err)
	require.NoError(t, reply.Err)
	return reply.Result
}

func TestEachMethodAsksTheRuntime(t *testing.T) {
	r := serve(t)
	doc := messages.Document{Project: "/p", File: "a.go", Timeout: 3 * time.Second}
	at := messages.Position{Line: 3, Character: 7}
	assert.JSONEq(t, `"No diagnostics — file compiles cleanly."`, string(r.result(t, wire.MethodDiagnostics, wire.DiagnosticsParams{Document: doc})))
	assert.Equal(t, doc, r.runtime.doc)
	assert.JSONEq(t, `"func f()"`, string(r.result(t, wire.MethodHover, wire.HoverParams{Document: doc, Position: at})))
	assert.Equal(t, at, r.runtime.at)
	r.runtime.at = messages.Position{}
	query := wire.QueryParams{Document: doc, Method: "textDocument/definition", Position: &at, Params: json.RawMessage(`{"a":1}`)}
	assert.JSONEq(t, `{"method":"textDocument/definition","params":{"a":1}}`, string(r.result(t, wire.MethodQuery, query)))
	assert.Equal(t, at, r.runtime.at)

	var report messages.Status
	require.NoError(t, json.Unmarshal(r.result(t, wire.MethodStatus, wire.StatusParams{Project: "/q", Format: wire.FormatReport}), &report))
	assert.True(t, report.At.Equal(time.Unix(9, 0)))
	assert.Equal(t, "/q", r.runtime.project)
	var status wire.Status
	require.NoError(t, json.Unmarshal(r.result(t, wire.MethodStatus, nil), &status))
	assert.Equal(t, 7, status.PID)
	assert.Positive(t, status.Goroutines)
	assert.Positive(t, status.OpenFiles)
	assert.JSONEq(t, `[]`, string(r.result(t, wire.MethodTree, nil)))
	assert.JSONEq(t, `{"stopping":true,"pid":`+jsonOf(t, os.Getpid())+`}`, string(r.result(t, wire.MethodShutdown, wire.ShutdownParams{Now: true})))
	assert.True(t, <-r.stops)
}

func TestREPLStatusIsOfTheProjectsCanonicalRoot(t *testing.T) {
	r := serve(t)
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "pyproject.toml"), nil, 0o600))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(root, link))
	var status wire.REPLStatus
	require.NoError(t, json.Unmarshal(r.result(t, wire.MethodREPLStatus, wire.ProjectParams{Project: link}), &status))
	assert.Equal(t, root, r.runtime.project)
	assert.Equal(t, [3]string{"cold", "python", root}, [3]string{status.State, status.Language, status.ProjectDir})
	assert.Equal(t, 1, status.Capacity)
	assert.Equal(t, os.Getpid(), status.DaemonPID)
}

func TestCodeThatFailedIsAResultInVersion1AndAnErrorInJSONRPC(t *testing.T) {
	r := serve(t)
	failure := &messages.RunError{Sent: true, Err: &messages.TimeoutError{After: time.Second}}
	r.runtime.run = func(context.Context, messages.Snippet) (messages.RunReport, error) {
		return messages.RunReport{}, failure
	}
	params := wire.RunParams{Snippet: messages.Snippet{Project: "/p"}}
	assert.JSONEq(t, `"REPL error (execution outcome unknown; request not retried): timed out after 1s"`, string(r.result(t, wire.MethodRun, params)))
	p := r.connect(t)
	p.send(run("1", "x"))
	reply, err := wire.ParseReply([]byte(p.line()), wire.JSONRPC)
	require.NoError(t, err)
	assert.Equal(t, failure, reply.Err)
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}
