package daemon_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/lspwire"
)

// relay is the least that can stand between a client and a language server: another
// process, that reads each message and gives requests ids of its own. It is this test's
// own program, run once more; the variable names the server.
const relay = "HEARTH_TEST_RELAY"

// startRelay gives a client of one.
func startRelay(b *testing.B, project, server string) *standins.Bare {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	return standins.StartBare(b, project, nil, "env", relay+"="+server, self)
}

// serveRelay serves until its standard input ends.
func serveRelay(server string) {
	if err := relayTo(exec.Command(server)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func relayTo(server *exec.Cmd) error {
	in, err := server.StdinPipe()
	if err != nil {
		return err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	ids := &relayed{theirs: map[string]json.RawMessage{}}
	go ids.pass(lspwire.NewReader(out), lspwire.NewWriter(os.Stdout), ids.restore)
	ids.pass(lspwire.NewReader(os.Stdin), lspwire.NewWriter(in), ids.replace)
	_ = in.Close()
	return server.Wait()
}

// relayed are the clients' ids of the requests on their way, by the relay's.
type relayed struct {
	mu     sync.Mutex
	last   int
	theirs map[string]json.RawMessage
}

// pass takes messages from one side to the other, until one of them ends.
func (r *relayed) pass(from *lspwire.Reader, to *lspwire.Writer, change func(*lspwire.Message)) {
	for {
		m, _, err := from.Read()
		if err != nil {
			return
		}
		change(m)
		if to.Write(m) != nil {
			return
		}
	}
}

func (r *relayed) replace(m *lspwire.Message) {
	if !m.IsRequest() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	id := fmt.Sprint(r.last)
	r.theirs[id], m.ID = m.ID, json.RawMessage(id)
}

func (r *relayed) restore(m *lspwire.Message) {
	if m.Method != "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	id := string(m.ID)
	m.ID = r.theirs[id]
	delete(r.theirs, id)
}
