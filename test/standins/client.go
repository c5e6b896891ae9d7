package standins

import (
	"encoding/json"
	"strconv"
	"sync"
	"testing"

	"github.com/seed-f6977891/hearth/test/standins/lspwire"
)

// Client is a bare LSP client: it answers nothing by itself and keeps all that it received.
type Client struct {
	*Child
	Out *lspwire.Writer

	mu       sync.Mutex
	received []Incoming
	ended    error
	lastID   int
}

// Incoming is a received message with its body as it came.
type Incoming struct {
	*lspwire.Message
	Body string
}

// Connect launches a language server and reads what it says.
func Connect(t testing.TB, dir string, env []string, argv ...string) *Client {
	t.Helper()
	c := &Client{Child: Launch(t, dir, env, argv...)}
	c.Out = lspwire.NewWriter(c.Stdin)
	go c.read()
	return c
}

func (c *Client) read() {
	r := lspwire.NewReader(c.Stdout)
	for {
		m, body, err := r.Read()
		c.mu.Lock()
		if err != nil {
			c.ended = err
			c.mu.Unlock()
			return
		}
		c.received = append(c.received, Incoming{m, string(body)})
		c.mu.Unlock()
	}
}

// Received returns all messages so far, and the error that ended the stream (nil while it is open, io.EOF at its end).
func (c *Client) Received() ([]Incoming, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Incoming(nil), c.received...), c.ended
}

// Await waits for the first received message for which is holds.
func (c *Client) Await(t testing.TB, is func(Incoming) bool) Incoming {
	t.Helper()
	var found *Incoming
	var all []Incoming
	var ended error
	Until(Bound, func() bool {
		all, ended = c.Received()
		for i := range all {
			if is(all[i]) {
				found = &all[i]
				return true
			}
		}
		return ended != nil
	})
	if found == nil {
		bodies := ""
		for _, m := range all {
			bodies += m.Body + "\n"
		}
		t.Fatalf("awaited message did not come (stream: %v); stderr:\n%s\nreceived:\n%s", ended, c.Stderr(t), bodies)
	}
	return *found
}

// AwaitMethod waits for the first notification or request of that method.
func (c *Client) AwaitMethod(t testing.TB, method string) Incoming {
	t.Helper()
	return c.Await(t, func(m Incoming) bool { return m.Method == method })
}

// AwaitEnd waits until the server closed its output.
func (c *Client) AwaitEnd(t testing.TB) error {
	t.Helper()
	var ended error
	if !Until(Bound, func() bool { _, ended = c.Received(); return ended != nil }) {
		t.Fatalf("the stream is still open after %v", Bound)
	}
	return ended
}

// Send sends a request and returns its id.
func (c *Client) Send(t testing.TB, method string, params any) int {
	t.Helper()
	c.mu.Lock()
	c.lastID++
	id := c.lastID
	c.mu.Unlock()
	must(t, c.Out.Request(id, method, params))
	return id
}

// Answer waits for the answer to the request with that id.
func (c *Client) Answer(t testing.TB, id int) Incoming {
	t.Helper()
	return c.Await(t, func(m Incoming) bool { return m.Method == "" && string(m.ID) == strconv.Itoa(id) })
}

// Call sends a request and waits for its answer.
func (c *Client) Call(t testing.TB, method string, params any) Incoming {
	t.Helper()
	return c.Answer(t, c.Send(t, method, params))
}

// Result sends a request and stores its result in to; an error in answer fails the test.
func (c *Client) Result(t testing.TB, method string, params, to any) {
	t.Helper()
	m := c.Call(t, method, params)
	if m.Error != nil {
		t.Fatalf("%s: %v", method, m.Error)
	}
	must(t, json.Unmarshal(m.Message.Result, to))
}

// Notify sends a notification.
func (c *Client) Notify(t testing.TB, method string, params any) {
	t.Helper()
	must(t, c.Out.Notify(method, params))
}

// Initialize does the opening handshake with the capabilities given and returns the answer.
func (c *Client) Initialize(t testing.TB, capabilities any) Incoming {
	t.Helper()
	m := c.Call(t, "initialize", map[string]any{"processId": nil, "rootUri": nil, "capabilities": capabilities})
	c.Notify(t, "initialized", struct{}{})
	return m
}

// Open opens a document at version 1.
func (c *Client) Open(t testing.TB, uri, language, text string) {
	t.Helper()
	c.Notify(t, "textDocument/didOpen", map[string]any{
		"textDocument": map[string]any{"uri": uri, "languageId": language, "version": 1, "text": text},
	})
}

// CloseInput ends the server's standard input.
func (c *Client) CloseInput() { _ = c.Stdin.Close() }
