package lsp

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheHandshakeDeclaresWhatServersDependOn(t *testing.T) {
	w := &scripted{t: t, on: map[string]func(context.Context, json.RawMessage) (any, error){}}
	w.answer("initialize", json.RawMessage(pushing))
	c := NewClient(w, Profile{Settings: map[string]any{"a": 1}, InitializationOptions: json.RawMessage(`{"o":true}`)}, "/my p", func() {})
	require.NoError(t, c.Initialize(t.Context()))
	said := w.take()
	require.Len(t, said, 3)
	assert.Equal(t, sent{"initialized", `{}`}, said[1])
	assert.Equal(t, sent{"workspace/didChangeConfiguration", `{"settings":{"a":1}}`}, said[2])
	var params struct {
		ProcessID             int
		RootURI               string
		WorkspaceFolders      []Folder
		InitializationOptions json.RawMessage
		Capabilities          struct {
			General   struct{ PositionEncodings []string }
			Window    struct{ WorkDoneProgress bool }
			Workspace struct {
				Configuration         bool
				DidChangeWatchedFiles struct{ DynamicRegistration bool }
			}
			TextDocument struct {
				PublishDiagnostics struct{ VersionSupport bool }
				Diagnostic         struct{ DynamicRegistration bool }
				Hover              struct{ ContentFormat []string }
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(said[0].params), &params))
	assert.Equal(t, os.Getpid(), params.ProcessID)
	assert.Equal(t, "file:///my%20p", params.RootURI)
	assert.Equal(t, []Folder{{URI: "file:///my%20p", Name: "my p"}}, params.WorkspaceFolders)
	assert.JSONEq(t, `{"o":true}`, string(params.InitializationOptions))
	caps := params.Capabilities
	assert.Equal(t, []string{"utf-16"}, caps.General.PositionEncodings)
	assert.Equal(t, []string{"markdown", "plaintext"}, caps.TextDocument.Hover.ContentFormat)
	for _, declared := range []bool{
		caps.Window.WorkDoneProgress, caps.Workspace.Configuration, caps.Workspace.DidChangeWatchedFiles.DynamicRegistration,
		caps.TextDocument.PublishDiagnostics.VersionSupport, caps.TextDocument.Diagnostic.DynamicRegistration,
	} {
		assert.True(t, declared, "%+v", caps)
	}
}

func TestNoSettingsAndNoOptionsAreNotSent(t *testing.T) {
	w := &scripted{t: t, on: map[string]func(context.Context, json.RawMessage) (any, error){}}
	w.answer("initialize", struct{}{})
	require.NoError(t, NewClient(w, Profile{}, "/p", func() {}).Initialize(t.Context()))
	said := w.take()
	assert.NotContains(t, said[0].params, "initializationOptions")
	assert.Len(t, said, 2)
}

func TestAnInitializeResultThatIsNoObjectIsAProtocolError(t *testing.T) {
	for _, result := range []string{`null`, `[]`, `"x"`, `{"capabilities":[]}`} {
		w := &scripted{t: t, on: map[string]func(context.Context, json.RawMessage) (any, error){}}
		w.answer("initialize", json.RawMessage(result))
		var malformed *MalformedError
		assert.ErrorAs(t, NewClient(w, Profile{}, "/p", func() {}).Initialize(t.Context()), &malformed, result)
	}
}

func TestShutdownAndExitCarryNoParams(t *testing.T) {
	c, w := newClient(t, Profile{}, pushing)
	w.answer("shutdown", nil)
	require.NoError(t, c.Shutdown(t.Context()))
	assert.Equal(t, []sent{{"shutdown", "null"}, {"exit", "null"}}, w.take(), "nil params, which the Wire leaves out")
}

func TestTheEndOfTheOutputAnswersShutdown(t *testing.T) {
	c, w := newClient(t, Profile{}, pushing)
	w.on["shutdown"] = func(context.Context, json.RawMessage) (any, error) {
		return nil, &StreamError{Reason: "x", Err: io.EOF}
	}
	assert.NoError(t, c.Shutdown(t.Context()))
}

func TestExitIsSentWhateverShutdownBrought(t *testing.T) {
	for name, answer := range map[string]func(context.Context) error{
		"an error": func(context.Context) error { return &ResponseError{Method: "shutdown", Code: 1} },
		"nothing":  func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
	} {
		synctest.Test(t, func(t *testing.T) {
			c, w := newClient(t, Profile{}, pushing)
			w.on["shutdown"] = func(ctx context.Context, _ json.RawMessage) (any, error) { return nil, answer(ctx) }
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			assert.Error(t, c.Shutdown(ctx), name)
			assert.Equal(t, []string{"shutdown", "exit"}, w.methods(), name)
		})
	}
}

func TestAnyFrameIsASignOfLife(t *testing.T) {
	silent := func(ctx context.Context, _ json.RawMessage) (any, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	synctest.Test(t, func(t *testing.T) {
		c, w := newClient(t, Profile{}, pushing)
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		assert.True(t, c.Probe(ctx), "an error answer is one")
		w.on[barrierMethod] = silent
		start := time.Now()
		time.AfterFunc(300*time.Millisecond, func() { w.tell(Frame{}) })
		assert.True(t, c.Probe(ctx))
		assert.Equal(t, 300*time.Millisecond, time.Since(start))
		assert.False(t, c.Probe(ctx))
		assert.Equal(t, time.Second, time.Since(start))
		assert.Empty(t, c.beat)
	})
	c, w := newClient(t, Profile{}, pushing)
	w.on[barrierMethod] = func(context.Context, json.RawMessage) (any, error) { return nil, &StreamError{Reason: "gone"} }
	assert.False(t, c.Probe(t.Context()))
}
