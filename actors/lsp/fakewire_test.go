package lsp

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scripted is a Wire in memory whose server is a table of answers.
type scripted struct {
	t    *testing.T
	tell func(Event)

	mu     sync.Mutex
	sent   []sent
	on     map[string]func(ctx context.Context, params json.RawMessage) (any, error)
	closed bool
}

type sent struct{ method, params string }

// newClient shakes hands with a server of these capabilities.
func newClient(t *testing.T, profile Profile, initialize string) (*Client, *scripted) {
	w := &scripted{t: t, on: map[string]func(context.Context, json.RawMessage) (any, error){}}
	w.answer("initialize", json.RawMessage(initialize))
	c := NewClient(w, profile, "/p", func() {})
	require.NoError(t, c.Initialize(t.Context()))
	w.take()
	return c, w
}

func (w *scripted) answer(method string, result any) {
	w.on[method] = func(context.Context, json.RawMessage) (any, error) { return result, nil }
}

func (w *scripted) refuse(method string, code int, data string) {
	w.on[method] = func(context.Context, json.RawMessage) (any, error) {
		return nil, &ResponseError{Method: method, Code: code, Message: "no", Data: json.RawMessage(data)}
	}
}

func (w *scripted) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	raw := w.note(method, params)
	w.mu.Lock()
	answer := w.on[method]
	w.mu.Unlock()
	if answer == nil {
		w.tell(Frame{})
		return nil, &ResponseError{Method: method, Code: codeMethodNotFound, Message: "unknown"}
	}
	result, err := answer(ctx, raw)
	if err != nil {
		return nil, err
	}
	w.tell(Frame{})
	out, err := json.Marshal(result)
	assert.NoError(w.t, err)
	return out, nil
}

func (w *scripted) Notify(ctx context.Context, method string, params any) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	raw := w.note(method, params)
	w.mu.Lock()
	react := w.on[method]
	w.mu.Unlock()
	if react == nil {
		return nil
	}
	_, err := react(ctx, raw)
	return err
}

func (w *scripted) note(method string, params any) json.RawMessage {
	raw, err := json.Marshal(params)
	assert.NoError(w.t, err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, sent{method, string(raw)})
	return raw
}

func (w *scripted) Start(tell func(Event)) { w.tell = tell }

func (w *scripted) Close(context.Context) error {
	w.closed = true
	return nil
}

func (w *scripted) Err() error { return nil }

// take is what was sent since the last time.
func (w *scripted) take() []sent {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.sent
	w.sent = nil
	return all
}

func (w *scripted) methods() []string {
	var names []string
	for _, s := range w.take() {
		names = append(names, s.method)
	}
	return names
}

// publish tells a list for a path; version 0: it names none.
func (w *scripted) publish(path string, version int32, list string) {
	p := Publication{URI: PathToURI(path), Diagnostics: json.RawMessage(list)}
	if version != 0 {
		p.Version = &version
	}
	w.tell(Frame{})
	w.tell(p)
}

// finding is a list of one diagnostic.
func finding(message string) string {
	return `[{` + somewhere + `,"severity":1,"message":"` + message + `"}]`
}

func messagesOf(list []Diagnostic) []string {
	texts := []string{}
	for _, d := range list {
		texts = append(texts, d.Message)
	}
	return texts
}
