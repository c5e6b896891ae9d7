package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// requestOf makes the work that asks the server. It gives the reply as a function, so
// that the session sends it after it has published.
func requestOf(client *Client, watcher *Watcher, c *call) func(context.Context) (func(), error) {
	doc, began := Source{Path: c.claim.Path, Text: c.text}, c.arrived
	switch op := c.op.(type) {
	case messages.Diagnostics:
		return func(ctx context.Context) (func(), error) {
			flush(ctx, watcher)
			found, err := client.Diagnostics(ctx, doc)
			report := messages.DiagnosticsReport{File: doc.Path, Version: int(found.Version), Server: client.Server(),
				Diagnostics: reported(found.Diagnostics), Duration: time.Since(began)}
			return func() { op.Reply.Send(report) }, err
		}
	case messages.Hover:
		return func(ctx context.Context) (func(), error) {
			hover, err := client.Hover(ctx, doc, op.Position)
			report := messages.HoverReport{Text: hover.Text, Markdown: hover.Markdown, Range: hover.Range, Duration: time.Since(began)}
			return func() { op.Reply.Send(report) }, err
		}
	case messages.Query:
		return func(ctx context.Context) (func(), error) {
			flush(ctx, watcher)
			params, err := queryParams(client, doc, op)
			if err != nil {
				return nil, err
			}
			result, err := client.Request(ctx, op.Method, params)
			report := messages.QueryReport{Result: result, Duration: time.Since(began)}
			return func() { op.Reply.Send(report) }, err
		}
	}
	return func(context.Context) (func(), error) {
		return nil, fmt.Errorf("a language server does not serve a %T", c.op)
	}
}

// flush lets the server hear of other files' changes first. Where that can't be had the
// answer is still the server's best.
func flush(ctx context.Context, watcher *Watcher) {
	if watcher != nil {
		_ = watcher.Flush(ctx)
	}
}

// queryParams joins the caller's members with the document and the position, which win.
func queryParams(client *Client, doc Source, op messages.Query) (map[string]any, error) {
	params := make(map[string]any)
	if len(op.Params) > 0 {
		if err := json.Unmarshal(op.Params, &params); err != nil {
			return nil, messages.Invalidf("params of %s must be a JSON object: %w", op.Method, err)
		}
	}
	if doc.Path == "" {
		return params, nil
	}
	params["textDocument"] = map[string]string{"uri": PathToURI(doc.Path)}
	if op.Position != nil {
		params["position"] = client.At(doc, *op.Position)["position"]
	}
	return params, nil
}

// reported is never nil: an empty list says that the server found nothing.
func reported(found []Diagnostic) []Diagnostic {
	if found == nil {
		return []Diagnostic{}
	}
	return found
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

// timeoutError is what a caller gets whose time ended, or who left, while its call was
// under way: with the server's last progress, and for diagnostics what was published.
func (s *Session) timeoutError(c *call, err error) error {
	cause := context.Cause(c.ctx)
	if messages.KindOf(cause) == messages.KindCancelled {
		return messages.Errorf(messages.KindCancelled, "cancelled: %w", cause)
	}
	timeout := &messages.TimeoutError{After: time.Since(c.arrived), Progress: s.client.Progress(PathToURI(c.claim.Path))}
	var unfinished *UnfinishedError
	if errors.As(err, &unfinished) {
		timeout.Progress = unfinished.Progress
		if unfinished.Published {
			timeout.Partial = messages.DiagnosticsReport{File: c.claim.Path, Version: int(c.plan.Version),
				Diagnostics: reported(unfinished.Partial), Server: s.client.Server()}
		}
	}
	return timeout
}

// updateWatch follows what the server wants to hear of files: it begins to watch with
// the first wish and stops at the session's end.
func (s *Session) updateWatch() {
	patterns := s.client.WatchPatterns()
	if s.watcher == nil {
		if len(patterns) == 0 || s.cfg.NewNotifier == nil || s.unwatch != nil {
			return
		}
		s.watch()
	}
	if s.watcher != nil {
		s.watcher.SetPatterns(patterns)
	}
}

func (s *Session) watch() {
	ctx, cancel := context.WithCancel(s.self.Context())
	s.unwatch = cancel
	notifier, err := s.cfg.NewNotifier()
	if err != nil {
		s.self.Log().Warn("files are not watched", "reason", err)
		return
	}
	watcher, client := NewWatcher(s.cfg.Key.Root, s.cfg.Unwatched, notifier), s.client
	s.watcher = watcher
	actors.Go(s.self, ctx, func(ctx context.Context) (struct{}, error) {
		err := watcher.Run(ctx, client.FilesChanged)
		if ctx.Err() != nil {
			err = nil
		}
		return struct{}{}, err
	}, func(_ struct{}, err error) any { return watchEnded{err} }, nil)
}
