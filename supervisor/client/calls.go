package client

import (
	"context"
	"encoding/json"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// Diagnostics is supervisor.Runtime's.
func (c *Client) Diagnostics(ctx context.Context, doc messages.Document) (report messages.DiagnosticsReport, err error) {
	err = c.Call(ctx, wire.MethodDiagnostics, wire.DiagnosticsParams{Document: doc, Format: wire.FormatReport}, &report)
	return report, err
}

// Hover is supervisor.Runtime's.
func (c *Client) Hover(ctx context.Context, doc messages.Document, at messages.Position) (report messages.HoverReport, err error) {
	err = c.Call(ctx, wire.MethodHover, wire.HoverParams{Document: doc, Position: at, Format: wire.FormatReport}, &report)
	return report, err
}

// Query is supervisor.Runtime's.
func (c *Client) Query(ctx context.Context, doc messages.Document, method string, at *messages.Position, params json.RawMessage) (report messages.QueryReport, err error) {
	err = c.Call(ctx, wire.MethodQuery, wire.QueryParams{Document: doc, Method: method, Position: at, Params: params,
		Format: wire.FormatReport}, &report)
	return report, err
}

// RunCode is supervisor.Runtime's.
func (c *Client) RunCode(ctx context.Context, snippet messages.Snippet) (report messages.RunReport, err error) {
	err = c.Call(ctx, wire.MethodRun, wire.RunParams{Snippet: snippet, Format: wire.FormatReport}, &report)
	return report, err
}

// Status is supervisor.Runtime's.
func (c *Client) Status(ctx context.Context) (messages.Status, error) {
	return c.ProjectStatus(ctx, "")
}

// ProjectStatus is supervisor.Runtime's.
func (c *Client) ProjectStatus(ctx context.Context, project string) (status messages.Status, err error) {
	err = c.Call(ctx, wire.MethodStatus, wire.StatusParams{Project: project, Format: wire.FormatReport}, &status)
	return status, err
}

// Ping says which daemon answers.
func (c *Client) Ping(ctx context.Context) (ping wire.Ping, err error) {
	err = c.Call(ctx, wire.MethodPing, nil, &ping)
	return ping, err
}
