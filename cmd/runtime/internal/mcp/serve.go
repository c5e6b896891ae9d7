package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// Runtime is what the tools use; a client.Client is one.
type Runtime interface {
	Diagnostics(context.Context, messages.Document) (messages.DiagnosticsReport, error)
	Hover(context.Context, messages.Document, messages.Position) (messages.HoverReport, error)
	Query(ctx context.Context, doc messages.Document, method string, at *messages.Position, params json.RawMessage) (messages.QueryReport, error)
	RunCode(context.Context, messages.Snippet) (messages.RunReport, error)
	Status(context.Context) (messages.Status, error)
	// Call calls one of the socket's methods; result takes its JSON.
	Call(ctx context.Context, method string, params, result any) error
}

const (
	// lastCalls is how long calls may go on once the input has ended: a program that
	// writes its requests and closes the pipe gets its answers.
	lastCalls = time.Second
	// lastCallsBegin is for what came before that and isn't a tool at work: a busy
	// machine has yet to come to it.
	lastCallsBegin = 10 * time.Second
	lastCallsPoll  = 5 * time.Millisecond
	// leave bounds the rest: nothing that hangs keeps the adapter alive. Clients that
	// die leave hundreds behind otherwise.
	leave = 500 * time.Millisecond
)

// adapter is one session's.
type adapter struct {
	runtime Runtime
	input   io.Reader
	atEnd   atomic.Bool  // of the input
	asked   atomic.Int32 // requests without an answer
	calls   atomic.Int32 // tools at work
	ended   chan struct{}
	over    <-chan struct{} // nobody waits for answers any more
}

// Serve serves one client until its input ends, which is no error, or until ctx does.
func Serve(ctx context.Context, runtime Runtime, version string, input io.Reader, output io.Writer, log *slog.Logger) error {
	a := &adapter{runtime: runtime, input: input, ended: make(chan struct{})}
	server := sdk.NewServer(&sdk.Implementation{Name: "hearth", Version: version}, &sdk.ServerOptions{
		Logger: log, Instructions: instructions, Capabilities: &sdk.ServerCapabilities{},
	})
	server.AddReceivingMiddleware(withoutNulls)
	a.addTools(server)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.over = ctx.Done()
	done := make(chan error, 1)
	go func() {
		done <- server.Run(ctx, counted{a, &sdk.IOTransport{Reader: io.NopCloser(a), Writer: keptOpen{output}, MaxLineLength: wire.MaxFrame}})
	}()
	select {
	case err := <-done:
		return a.verdict(ctx, err)
	case <-a.ended:
	case <-ctx.Done():
		return messages.Errorf(messages.KindCancelled, "interrupted")
	}
	select {
	case <-done:
	case <-time.After(leave):
	}
	return nil
}

// verdict is the end of a session that ended by itself. A client that goes is no error.
func (a *adapter) verdict(ctx context.Context, err error) error {
	select {
	case <-a.ended:
		return nil
	default:
	}
	switch {
	case ctx.Err() != nil:
		return messages.Errorf(messages.KindCancelled, "interrupted")
	case err == nil, errors.Is(err, io.EOF):
		return nil
	}
	return messages.Errorf(messages.KindProtocol, "the session ended: %w", err)
}

// keptOpen is the output, which belongs to the caller.
type keptOpen struct{ io.Writer }

func (keptOpen) Close() error { return nil }

// answer makes a tool's result of a text, as the protocol has it.
func answer(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// indented is JSON for a reader that may be a person.
func indented(raw json.RawMessage) (string, error) {
	text, err := json.MarshalIndent(raw, "", "  ")
	return string(text), err
}
