package lsp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// request asks the server about a document whose text it has. It gives the reply as a
// function, so that the session sends it after it has published.
type request func(context.Context, Source) (func(), error)

func requestOf(client *Client, c *call) request {
	ask := questionOf(client, c)
	return func(ctx context.Context, doc Source) (func(), error) {
		if err := client.tellOthers(ctx, doc.Path); err != nil {
			return nil, err
		}
		return ask(ctx, doc)
	}
}

func questionOf(client *Client, c *call) request {
	plan, began, again := c.plan, c.arrived, c.claim.Reopen != 0
	switch op := c.op.(type) {
	case messages.Diagnostics:
		return func(ctx context.Context, doc Source) (func(), error) {
			found, err := client.Diagnostics(ctx, doc)
			if err == nil && !again && client.profile.Complete == CompleteLean && found.staleImports() {
				return nil, &staleError{found.Version}
			}
			report := messages.DiagnosticsReport{File: doc.Path, Version: int(found.Version), Server: client.Server(),
				Diagnostics: reported(found.Diagnostics), Duration: time.Since(began)}
			return func() { op.Reply.Send(report) }, err
		}
	case messages.Hover:
		return func(ctx context.Context, doc Source) (func(), error) {
			if err := client.checked(ctx, doc, plan); err != nil {
				return nil, err
			}
			hover, err := client.Hover(ctx, doc, op.Position)
			report := messages.HoverReport{Text: hover.Text, Markdown: hover.Markdown, Range: hover.Range, Duration: time.Since(began)}
			return func() { op.Reply.Send(report) }, err
		}
	case messages.Query:
		return func(ctx context.Context, doc Source) (func(), error) {
			if err := client.checked(ctx, doc, plan); err != nil {
				return nil, err
			}
			result, err := client.Query(ctx, doc, op)
			report := messages.QueryReport{Method: op.Method, Result: result, Encoding: string(client.caps.encoding),
				Duration: time.Since(began)}
			return func() { op.Reply.Send(report) }, err
		}
	}
	return func(context.Context, Source) (func(), error) {
		return nil, fmt.Errorf("a language server does not serve a %T", c.op)
	}
}

// checked waits for the check of what plan has sent, at a server that would forget it.
func (c *Client) checked(ctx context.Context, doc Source, plan Plan) error {
	if !c.profile.Serial || plan.Kind == PlanNothing {
		return nil
	}
	_, err := c.Diagnostics(ctx, doc)
	return err
}

// asksOthers tells whether the answer depends on files beside the call's own.
func (c *call) asksOthers() bool {
	_, query := c.op.(messages.Query)
	return query || c.claim.Diagnoses
}

// flush lets the server hear of other files' changes first. Where that can't be had in
// flushBound the answer is still the server's best.
func flush(ctx context.Context, watcher *Watcher) {
	if watcher == nil {
		return
	}
	ctx, stop := context.WithTimeout(ctx, flushBound)
	defer stop()
	_ = watcher.Flush(ctx)
}

// reported is never nil: an empty list says that the server found nothing.
func reported(found []Diagnostic) []Diagnostic {
	if found == nil {
		return []Diagnostic{}
	}
	return found
}

// readText reads a file as it is on disk. One that no server could be sent is not
// taken into memory first, and a FIFO in its place is not opened: that would wait.
func readText(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > maxParams:
		return nil, fmt.Errorf("%s has %d bytes, a language server is sent at most %d", path, info.Size(), maxParams)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()                                 // only read
	text := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead)) // read at once, its end included
	_, err = text.ReadFrom(io.LimitReader(file, maxParams))
	return text.Bytes(), err
}

// refuseFile answers a call whose file could not be read. For diagnostics that is a
// finding about the file, not a failure of the call.
func (c *call) refuseFile(err error) {
	text := "Cannot read file: " + err.Error()
	if op, ok := c.op.(messages.Diagnostics); ok {
		op.Reply.Send(messages.DiagnosticsReport{File: op.Path,
			Diagnostics: []messages.Diagnostic{{Severity: messages.SeverityError, Message: text}}})
		return
	}
	c.op.Refuse(messages.Invalidf("cannot read file: %w", err))
}

// serverError is what a caller gets of an error that was the server's own answer.
func serverError(op messages.Operation, err error) error {
	var answer *ResponseError
	var missing *NotOfferedError
	var large *TooLargeError
	switch {
	case errors.As(err, &answer):
		return &messages.ProtocolError{Method: answer.Method, Code: answer.Code, Message: answer.Message}
	case errors.As(err, &missing):
		return &messages.ProtocolError{Method: missing.Method, Code: codeMethodNotFound, Message: "not offered by " + missing.Server}
	case errors.As(err, &large):
		return messages.Invalidf("%w", err)
	case messages.KindOf(err) != messages.KindInternal:
		return err
	}
	return messages.Errorf(messages.KindInternal, "%T: %w", op, err)
}

// queueError is what a caller gets whose call stands in the queue: mostly one that was
// never begun, but for what was to be asked anew.
func (s *Session) queueError(c *call) error {
	switch {
	case c.sent:
		return s.timeoutError(c, nil)
	case c.cancelled():
		return messages.Errorf(messages.KindCancelled, "cancelled while waiting for the language-server session: %w", context.Cause(c.ctx))
	}
	return &messages.BusyError{Project: s.cfg.Key.Root, Waited: time.Since(c.arrived), Reason: messages.SessionQueue}
}

// timeoutError is what a caller gets whose time ended, or who left, while its call was
// under way: with the server's last progress, and for diagnostics with what had been
// published, where the call's worker told that by err.
func (s *Session) timeoutError(c *call, err error) error {
	if c.cancelled() {
		return messages.Errorf(messages.KindCancelled, "cancelled: %w", context.Cause(c.ctx))
	}
	timeout := &messages.TimeoutError{After: time.Since(c.arrived), Progress: s.client.Progress(PathToURI(c.claim.Path))}
	var unfinished *UnfinishedError
	if errors.As(err, &unfinished) {
		timeout.Progress = unfinished.Progress
		if unfinished.Published {
			timeout.Partial = messages.DiagnosticsReport{File: c.claim.Path, Version: int(c.plan.Version),
				Diagnostics: reported(unfinished.Partial), Server: s.server, Duration: timeout.After}
		}
	}
	return timeout
}
