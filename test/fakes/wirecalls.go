package fakes

import (
	"context"
	"encoding/json"
	"time"

	"github.com/seed-f6977891/hearth/actors/lsp"
)

var _ lsp.Wire = (*Wire)(nil)

// Start lets the server's events go to tell.
func (w *Wire) Start(tell func(lsp.Event)) {
	w.telling.Lock()
	defer w.telling.Unlock()
	w.tell = tell
}

// Close ends the connection.
func (w *Wire) Close(context.Context) error {
	w.Break(&lsp.StreamError{Reason: "closed"})
	return nil
}

// Err is why the connection has ended.
func (w *Wire) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fault
}

// Call is a request.
func (w *Wire) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	sent := Sent{method, params}
	answer, err := w.take(ctx, sent)
	if err != nil {
		return nil, err
	}
	if err := w.wait(ctx, answer.Until); err != nil {
		return nil, w.cancelled(ctx, err)
	}
	if answer.After > 0 {
		due := make(chan struct{})
		defer time.AfterFunc(answer.After, func() { close(due) }).Stop()
		if err := w.wait(ctx, due); err != nil {
			return nil, w.cancelled(ctx, err)
		}
	}
	if w.isSilent() {
		return nil, w.cancelled(ctx, w.wait(ctx, make(chan struct{})))
	}
	result, err := answer.Result, answer.Err
	if answer.Do != nil {
		result, err = answer.Do(sent)
	}
	w.frame()
	if err != nil {
		return nil, err
	}
	return encode(result)
}

func encode(result any) (json.RawMessage, error) {
	if raw, ok := result.(json.RawMessage); ok {
		return raw, nil
	}
	return json.Marshal(result)
}

// take records a request and gives its answer.
func (w *Wire) take(ctx context.Context, s Sent) (Answer, error) {
	if err := w.note(ctx, s); err != nil {
		return Answer{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	answer, known := w.answers[s.Method]
	if !known {
		answer.Err = &lsp.ResponseError{Method: s.Method, Code: -32601, Message: "unknown"}
	}
	return answer, nil
}

// note records what reaches the server.
func (w *Wire) note(ctx context.Context, s Sent) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w.mu.Lock()
	stopped, fault := w.stopped, w.fault
	if !stopped && fault == nil && !w.forgets {
		w.counts[s.Method]++
		w.sent = append(w.sent, s)
	}
	w.mu.Unlock()
	if stopped {
		return w.wait(ctx, make(chan struct{}))
	}
	return fault
}

// wait returns once until is closed, or the error of what ended the wait before.
func (w *Wire) wait(ctx context.Context, until <-chan struct{}) error {
	if until == nil {
		return nil
	}
	select {
	case <-until:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.down:
		return w.Err()
	}
}

// cancelled tells the server of a request that nobody waits for any longer.
func (w *Wire) cancelled(ctx context.Context, err error) error {
	if ctx.Err() != nil && !w.isStopped() {
		_ = w.note(context.Background(), Sent{"$/cancelRequest", nil}) // of no use on a broken connection
	}
	return err
}

// Notify is a notification.
func (w *Wire) Notify(ctx context.Context, method string, params any) error {
	sent := Sent{method, params}
	if err := w.note(ctx, sent); err != nil {
		return err
	}
	w.mu.Lock()
	heard := w.heard[method]
	w.mu.Unlock()
	if heard != nil {
		heard()
	}
	if method == "textDocument/didOpen" || method == "textDocument/didChange" {
		return w.check(sent)
	}
	return nil
}

// check publishes what the server finds in a text.
func (w *Wire) check(s Sent) error {
	var params struct {
		TextDocument struct {
			URI     string
			Version int32
			Text    string
		}
		ContentChanges []struct{ Text string }
	}
	if err := json.Unmarshal([]byte(s.JSON()), &params); err != nil {
		return err
	}
	text := params.TextDocument.Text
	if len(params.ContentChanges) > 0 {
		text = params.ContentChanges[0].Text
	}
	w.mu.Lock()
	finds := w.finds
	w.mu.Unlock()
	list, after := finds(text)
	if list == "" {
		return nil
	}
	publish := func() {
		if !w.isSilent() {
			w.Publish(params.TextDocument.URI, params.TextDocument.Version, list)
		}
	}
	if after == 0 { // such a timer crashes the race detector (https://go.dev/issue/78156)
		go publish()
		return nil
	}
	time.AfterFunc(after, publish)
	return nil
}

func (w *Wire) isSilent() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.silent
}

func (w *Wire) isStopped() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stopped
}

func (w *Wire) frame() { w.event(lsp.Frame{}) }

func (w *Wire) event(e lsp.Event) {
	w.telling.Lock()
	defer w.telling.Unlock()
	if w.tell != nil && !w.ended {
		w.tell(e)
	}
	if _, last := e.(lsp.Down); last {
		w.ended = true
	}
}
