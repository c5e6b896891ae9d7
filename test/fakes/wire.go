package fakes

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/messages"
)

// Wire is the connection to a language server in memory. Unless a test says otherwise
// the server answers initialize and shutdown, publishes an empty list with its version
// for each text that it is sent, and refuses every other request as unknown, all at once.
type Wire struct {
	telling sync.Mutex // events come one at a time
	tell    func(lsp.Event)
	ended   bool

	mu      sync.Mutex
	answers map[string]Answer
	finds   func(text string) (list string, after time.Duration)
	heard   map[string]func()
	counts  map[string]int
	sent    []Sent
	forgets bool
	silent  bool
	stopped bool // it reads nothing
	fault   error
	down    chan struct{}
}

// Sent is one message that the session sent.
type Sent struct {
	Method string
	Params any
}

// JSON is what was sent, encoded.
func (s Sent) JSON() string {
	raw, err := json.Marshal(s.Params)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// Answer is what the server does with one request. The zero Answer is null, at once.
type Answer struct {
	After  time.Duration
	Until  <-chan struct{} // nil: nothing is waited for
	Result any
	Err    error
	Do     func(Sent) (any, error) // in place of Result and Err
}

// NewWire makes a server that has just been started.
func NewWire() *Wire {
	capabilities := json.RawMessage(`{"capabilities":{"textDocumentSync":1},"serverInfo":{"name":"fake"}}`)
	return &Wire{
		answers: map[string]Answer{"initialize": {Result: capabilities}, "shutdown": {}},
		finds:   func(string) (string, time.Duration) { return "[]", 0 },
		heard:   map[string]func(){}, counts: map[string]int{}, down: make(chan struct{}),
	}
}

// Connect is for lsp.SessionConfig: every server's wire is w.
func (w *Wire) Connect(messages.Pipes, lsp.Answers) lsp.Wire { return w }

// On makes the server answer a request so from now on.
func (w *Wire) On(method string, a Answer) { w.set(func() { w.answers[method] = a }) }

// Hold makes the server answer a request so, but not before it is released.
func (w *Wire) Hold(method string, a Answer) (release func()) {
	gate := make(chan struct{})
	a.Until = gate
	w.On(method, a)
	return sync.OnceFunc(func() { close(gate) })
}

// Finds makes the server publish this list for each text, so long after it was sent; an
// empty one: nothing at all.
func (w *Wire) Finds(finds func(text string) (list string, after time.Duration)) {
	w.set(func() { w.finds = finds })
}

// Heard is called when the server gets this notification.
func (w *Wire) Heard(method string, do func()) { w.set(func() { w.heard[method] = do }) }

// Silence makes the server send nothing at all, or go on.
func (w *Wire) Silence(silent bool) { w.set(func() { w.silent = silent }) }

// StopReading makes everything that is sent wait for as long as its sender has time.
func (w *Wire) StopReading() { w.set(func() { w.stopped, w.silent = true, true }) }

// Hangup closes the server's output.
func (w *Wire) Hangup() {
	w.Break(&lsp.StreamError{Reason: "the server closed its output", Err: io.EOF})
}

// Break ends the connection for a reason.
func (w *Wire) Break(err error) { w.BreakUntold(err)() }

// BreakUntold ends the connection, which is told only by told.
func (w *Wire) BreakUntold(err error) (told func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fault != nil {
		return func() {}
	}
	w.fault = err
	close(w.down)
	return func() { w.event(lsp.Down{Err: err}) }
}

// Tell sends a frame with this event in it.
func (w *Wire) Tell(e lsp.Event) {
	w.frame()
	w.event(e)
}

// Publish sends the diagnostics of a version.
func (w *Wire) Publish(uri string, version int32, list string) {
	w.Tell(lsp.Publication{URI: uri, Version: &version, Diagnostics: json.RawMessage(list)})
}

// Watch registers the wish to hear of changed files.
func (w *Wire) Watch(globs ...string) {
	type watcher struct {
		Glob string `json:"globPattern"`
	}
	watchers := []watcher{}
	for _, glob := range globs {
		watchers = append(watchers, watcher{glob})
	}
	options, err := json.Marshal(map[string]any{"watchers": watchers})
	if err != nil {
		panic(err)
	}
	w.Tell(lsp.Registered{ID: "watch", Method: "workspace/didChangeWatchedFiles", Options: options})
}

// Forget makes the record end: a benchmark's would grow, and cost more than the server.
func (w *Wire) Forget() { w.set(func() { w.forgets = true }) }

// Count is how often a method was sent.
func (w *Wire) Count(method string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts[method]
}

// Take gives what was sent since the last time.
func (w *Wire) Take() []Sent {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent := w.sent
	w.sent = nil
	return sent
}

func (w *Wire) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}
