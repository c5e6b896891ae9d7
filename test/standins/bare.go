package standins

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/seed-f6977891/hearth/test/standins/lspwire"
)

// Bare is a language server with nothing between it and its caller, to compare with: one request at a time, on the
// caller's goroutine.
type Bare struct {
	*Child
	in  *lspwire.Writer
	out *lspwire.Reader
	id  int
}

// StartBare starts a language server in root and shakes hands with it. It ends with the test.
func StartBare(t testing.TB, root string, options any, argv ...string) *Bare {
	t.Helper()
	b := &Bare{Child: Launch(t, root, nil, argv...)}
	b.in, b.out = lspwire.NewWriter(b.Stdin), lspwire.NewReader(b.Stdout)
	b.Call(t, "initialize", map[string]any{
		"processId": os.Getpid(), "rootUri": "file://" + root, "initializationOptions": options,
		"capabilities": map[string]any{"textDocument": map[string]any{"hover": map[string]any{"contentFormat": []string{"markdown"}}}},
	})
	b.Notify(t, "initialized", struct{}{})
	return b
}

// Call sends a request and returns its result. What the server asks meanwhile is answered as it wants it.
func (b *Bare) Call(t testing.TB, method string, params any) json.RawMessage {
	t.Helper()
	b.id++
	must(t, b.in.Request(b.id, method, params))
	id := fmt.Sprint(b.id)
	for {
		m, _, err := b.out.Read()
		must(t, err)
		switch {
		case m.IsRequest() && m.Method == "workspace/configuration":
			must(t, b.in.Reply(m.ID, []any{struct{}{}}))
		case m.IsRequest():
			must(t, b.in.Reply(m.ID, nil))
		case m.Method == "" && string(m.ID) == id && m.Error != nil:
			t.Fatalf("%s: %v", method, m.Error)
		case m.Method == "" && string(m.ID) == id:
			return m.Result
		}
	}
}

// Notify sends a notification.
func (b *Bare) Notify(t testing.TB, method string, params any) {
	t.Helper()
	must(t, b.in.Notify(method, params))
}

// Exit asks the server to end and waits until it has.
func (b *Bare) Exit(t testing.TB) {
	t.Helper()
	b.Call(t, "shutdown", nil)
	b.Notify(t, "exit", nil)
	b.Wait(t)
}
