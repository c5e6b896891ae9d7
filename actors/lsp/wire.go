package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
)

const (
	closeBound  = time.Second           // of Wire.Close after the pipes are closed
	cancelBound = 20 * time.Millisecond // of sending $/cancelRequest
)

// Wire is a connection to one language server. All methods may be called side by
// side.
type Wire interface {
	// Call sends a request and returns its result, undecoded ("null" included). nil
	// params send no params member. When ctx ends, Call returns its cause at once and
	// the server is sent $/cancelRequest. Other errors: *ResponseError, *StreamError.
	Call(ctx context.Context, method string, params any) (json.RawMessage, error)
	// Notify sends a notification. An error that isn't a *StreamError means that
	// nothing of it was sent.
	Notify(ctx context.Context, method string, params any) error
	// Start begins to read. tell gets every event, one at a time, on the goroutine
	// that reads: it must not block nor call the Wire. The last event is Down.
	Start(tell func(Event))
	// Close ends all calls, closes the pipes and waits until reading has ended, for
	// ctx or one second. It is idempotent.
	Close(ctx context.Context) error
	// Err is why the connection has ended, or nil. It never waits, and the reason is
	// there before the pipes are closed: whoever hears that the server exited can tell
	// whether it did so because this side had hung up.
	Err() error
}

// Answers is what the server's own requests are answered from.
type Answers struct {
	Settings map[string]any // of workspace/configuration; see Profile
	Folders  []Folder       // of workspace/workspaceFolders
}

// Folder is LSP's WorkspaceFolder.
type Folder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

// NewWire makes a Wire of a server's standard output and input, which it owns from
// here. stall is how long the server may take no byte of a message before the
// connection counts as broken.
func NewWire(out io.ReadCloser, in DeadlineWriter, stall time.Duration, answers Answers) Wire {
	w := &wire{answers: answers, tell: func(Event) {}}
	w.stream = NewStream(out, in, stall,
		func() { w.tell(Frame{}) },
		func(text string) { w.tell(Noise{Text: text}) })
	w.conn = jsonrpc2.NewConn(&downStream{Stream: w.stream, wire: w}, jsonrpc2.WithCodec(codec{}))
	return w
}

type wire struct {
	stream  *Stream
	conn    jsonrpc2.Conn
	answers Answers
	tell    func(Event)

	mu      sync.Mutex
	started bool
	fault   error // what this side ended the connection for
	ended   sync.Once
}

func (w *wire) Start(tell func(Event)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started {
		return
	}
	w.started = true
	w.tell = tell
	w.conn.Go(context.Background(), w.handle)
}

func (w *wire) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	raw, err := encode(method, params)
	if err != nil {
		return nil, err
	}
	var result json.RawMessage
	id, err := w.conn.Call(ctx, method, raw, &result)
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		w.cancel(id)
		return nil, context.Cause(ctx)
	}
	return nil, w.explain(method, err)
}

// cancel is best effort: where the pipe is full the server isn't reading, and waiting
// for it would hold up the caller who has just given up.
func (w *wire) cancel(id jsonrpc2.ID) {
	n, ok := id.Number()
	if !ok {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), cancelBound)
	defer stop()
	_ = w.conn.Notify(ctx, "$/cancelRequest", map[string]int64{"id": n})
}

func (w *wire) Notify(ctx context.Context, method string, params any) error {
	raw, err := encode(method, params)
	if err != nil {
		return err
	}
	err = w.conn.Notify(ctx, method, raw)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return context.Cause(ctx)
	}
	return w.explain(method, err)
}

// fail ends the connection for what a message said. The read goroutine, on which it
// runs, finds the stream closed next and tells Down.
func (w *wire) fail(err error) {
	w.mu.Lock()
	if w.fault == nil {
		w.fault = err
	}
	w.mu.Unlock()
	_ = w.stream.Close()
}

// explain turns jsonrpc2's errors into the package's. The library returns the peer's
// error answers and its own verdict on a broken message as the same type; its own are
// the package's sentinels.
func (w *wire) explain(method string, err error) error {
	if answer, ok := err.(*jsonrpc2.Error); ok && answer != jsonrpc2.ErrParse && answer != jsonrpc2.ErrInvalidRequest {
		return &ResponseError{
			Method: method, Code: int(answer.Code), Message: answer.Message,
			Data: json.RawMessage(bytes.Clone(answer.Data)),
		}
	}
	if reason := w.Err(); reason != nil {
		return reason
	}
	if stream := (*StreamError)(nil); errors.As(err, &stream) {
		return stream
	}
	return &StreamError{Reason: "the language server sent what isn't JSON-RPC", Err: err}
}

// Err is the fault, or else the stream's end.
func (w *wire) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fault != nil {
		return w.fault
	}
	select {
	case <-w.stream.down:
		return w.stream.err
	default:
		return nil
	}
}

// Close closes the pipes instead of calling the Conn's Close, which waits for every
// pending call without limit: with the pipes gone the Conn ends by itself.
func (w *wire) Close(ctx context.Context) error {
	_ = w.stream.Close()
	w.mu.Lock()
	started := w.started
	w.mu.Unlock()
	if !started {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, closeBound)
	defer stop()
	select {
	case <-w.conn.Done():
		return nil
	case <-ctx.Done():
		return &StreamError{Reason: "reading did not end after the pipes were closed", Err: context.Cause(ctx)}
	}
}

// down tells the end, once.
func (w *wire) down(err error) {
	w.ended.Do(func() { w.tell(Down{Err: err}) })
}

// downStream notices the connection's end. ReadFrame is where most ends show; Close is
// called by the Conn where it could not make a message of a frame.
type downStream struct {
	*Stream
	wire *wire
}

func (s *downStream) ReadFrame(ctx context.Context) ([]byte, int64, error) {
	body, n, err := s.Stream.ReadFrame(ctx)
	if err != nil {
		s.wire.down(s.wire.Err())
	}
	return body, n, err
}

func (s *downStream) Close() error {
	s.end(&StreamError{Reason: "the language server sent what isn't JSON-RPC"})
	s.wire.down(s.wire.Err())
	return nil
}
