package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// exitBound is how long writing exit may take once shutdown was answered or given up.
const exitBound = time.Second

// Client speaks LSP with one server over a Wire. Its methods block and may be called
// side by side, after Initialize; their errors are those of Wire.Call, and
// *MalformedError where a result isn't what LSP defines.
type Client struct {
	*Collector
	wire    Wire
	profile Profile
	root    string
	caps    capabilities  // set by Initialize
	telling chan struct{} // has room for the one whose turn it is

	mu      sync.Mutex
	texts   map[string]*text      // by path: what the server has open
	refused map[string]bool       // requests that it answered with "method not found"
	closed  map[string]time.Time  // by path, of the last echoMemory
	deaf    bool                  // it left the last barrier before an opening unanswered
	touched touch                 // the last told change of files
	held    map[string]ChangeType // by path: of open documents' files, not told yet
}

// NewClient starts w and takes its events. tell is called when there is news to take
// with TakeNews; it must neither block nor call the Client.
func NewClient(w Wire, profile Profile, root string, tell func()) *Client {
	c := &Client{
		Collector: NewCollector(tell), wire: w, profile: profile, root: root,
		texts: map[string]*text{}, refused: map[string]bool{},
		closed: map[string]time.Time{}, held: map[string]ChangeType{}, telling: make(chan struct{}, 1),
	}
	w.Start(c.Handle)
	return c
}

// AnswersFor gives what NewWire needs to answer the server of a project.
func AnswersFor(profile Profile, root string) Answers {
	return Answers{Settings: profile.Settings, Folders: folders(root)}
}

func folders(root string) []Folder {
	return []Folder{{URI: PathToURI(root), Name: filepath.Base(root)}}
}

// Initialize shakes hands. The server gets this process's id: some end themselves when
// that process is gone.
func (c *Client) Initialize(ctx context.Context) error {
	params := map[string]any{
		"processId":        os.Getpid(),
		"clientInfo":       map[string]string{"name": "hearth"},
		"rootUri":          PathToURI(c.root),
		"workspaceFolders": folders(c.root),
		"capabilities":     declared(),
	}
	if len(c.profile.InitializationOptions) > 0 {
		params["initializationOptions"] = c.profile.InitializationOptions
	}
	result, err := c.wire.Call(ctx, "initialize", params)
	if err != nil {
		return err
	}
	if c.caps, err = parseCapabilities(result); err != nil {
		return err
	}
	c.caps.encoding = cmp.Or(c.profile.Encoding, c.caps.encoding)
	if err := c.wire.Notify(ctx, "initialized", struct{}{}); err != nil {
		return err
	}
	if len(c.profile.Settings) == 0 {
		return nil
	}
	return c.wire.Notify(ctx, "workspace/didChangeConfiguration", map[string]any{"settings": c.profile.Settings})
}

// Shutdown asks the server to end: shutdown, then exit, both without a params member,
// since one server refuses any. That it closes its output is an answer to shutdown,
// and exit is sent whatever the answer was. Waiting for its end is up to the caller.
func (c *Client) Shutdown(ctx context.Context) error {
	_, err := c.wire.Call(ctx, "shutdown", nil)
	if errors.Is(err, io.EOF) {
		return nil
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), exitBound)
	defer stop()
	return errors.Join(err, c.wire.Notify(ctx, "exit", nil))
}

// Err is why the connection has ended, or nil; see Wire.
func (c *Client) Err() error { return c.wire.Err() }

// Close ends the connection; see Wire.
func (c *Client) Close(ctx context.Context) error { return c.wire.Close(ctx) }

// Server is the server's name, as it or else the profile gives it.
func (c *Client) Server() string {
	return cmp.Or(c.caps.server, c.profile.Name, "the language server")
}

// TakesChanges reports whether the server takes a new text of an open document. For one
// that doesn't it is closed and opened.
func (c *Client) TakesChanges() bool { return !c.caps.resync }

// Offers reports whether a request is worth trying: the server declared it, registered
// it, or is silent about all that it can do.
func (c *Client) Offers(method string) bool {
	c.mu.Lock()
	refused := c.refused[method]
	c.mu.Unlock()
	return !refused && (c.caps.declares(method) || len(c.Registrations(method)) > 0)
}

// Request sends any request and returns its result. What the server neither declared
// nor registered, or once refused as unknown, is a *NotOfferedError without being sent.
func (c *Client) Request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	if !c.Offers(method) {
		return nil, &NotOfferedError{Method: method, Server: c.Server()}
	}
	return c.try(ctx, method, params)
}

// try sends a request without asking first whether it is offered.
func (c *Client) try(ctx context.Context, method string, params any) (json.RawMessage, error) {
	result, err := c.wire.Call(ctx, method, params)
	if answer := (*ResponseError)(nil); errors.As(err, &answer) && answer.Code == codeMethodNotFound {
		c.mu.Lock()
		c.refused[method] = true
		c.mu.Unlock()
		return nil, &NotOfferedError{Method: method, Server: c.Server()}
	}
	return result, err
}

// barrierMethod is a request that no server knows. Its answer, an error, proves that
// the server has read all that was sent before. It has params because Lean's watchdog
// takes a request without any for a broken message.
const barrierMethod = "$/hearth/barrier"

// Barrier waits until the server has answered a request that asks nothing.
func (c *Client) Barrier(ctx context.Context) error {
	_, err := c.wire.Call(ctx, barrierMethod, struct{}{})
	if answer := (*ResponseError)(nil); errors.As(err, &answer) {
		return nil
	}
	return err
}

// Probe reports whether the server is alive: whether it sends any frame at all before
// ctx ends, asked by a request that it need not know.
func (c *Client) Probe(ctx context.Context) bool {
	before := c.Frames()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer c.onFrame(stop)()
	err := c.Barrier(ctx)
	return err == nil || c.Frames() > before
}
