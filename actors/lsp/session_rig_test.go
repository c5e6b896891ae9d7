package lsp_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/actortest"
	"github.com/seed-f6977891/hearth/test/fakes"
)

// bench is one Session with its server in memory and its files on disk. The harness's
// Parent plays the Entry, the Supervisor the Sweeper too.
type bench struct {
	*actortest.Harness
	t       *testing.T
	cfg     lsp.SessionConfig
	wire    *fakes.Wire
	stderr  procscan.Ring
	session *actors.Handle
	tree    messages.TreeID
	fault   bool // the behaviour panics or exits when it is told to

	mu    sync.Mutex
	holds map[string]chan struct{} // by path: reads that wait
}

const (
	startup = time.Minute
	exit    = 5 * time.Second
	silence = 10 * time.Second
	timeout = 30 * time.Second // of every call that says nothing else
)

var leader = procscan.Identity{PID: 4711, StartTicks: 1}

func bubble(t *testing.T, name string, test func(*testing.T, *bench), with ...func(*lsp.SessionConfig)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := &bench{Harness: actortest.New(t), t: t, wire: fakes.NewWire(), holds: map[string]chan struct{}{}}
			root := t.TempDir()
			b.cfg = lsp.SessionConfig{
				Key:     messages.Key{Kind: messages.LSP, Root: root, Language: "go"},
				Spec:    procscan.Spec{Argv: []string{"server"}, Dir: root},
				Start:   messages.Start{Limit: startup},
				Profile: lsp.Profile{Name: "server", Complete: lsp.CompleteVersion},
				Startup: startup, Exit: exit, Parallel: 2, OpenDocuments: 4, Silence: silence,
				Connect: b.wire.Connect,
			}
			for _, change := range with {
				change(&b.cfg)
			}
			b.wire.On("textDocument/hover", said("here"))
			t.Cleanup(b.letGo)
			test(t, b)
		})
	})
}

// said is a hover's answer.
func said(text string) fakes.Answer {
	return fakes.Answer{Result: map[string]any{"contents": map[string]string{"kind": "markdown", "value": text}}}
}

// letGo ends what the actors of a test still wait for.
func (b *bench) letGo() {
	b.wire.Hangup()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, hold := range b.holds {
		close(hold)
	}
}

// launching spawns the Session and takes its Adopt.
func (b *bench) launching() messages.Adopt {
	b.t.Helper()
	create := lsp.NewSessionReading(b.cfg, b.read)
	if b.fault {
		create = failing(create)
	}
	b.session = b.Spawn("session", "a", create)
	adopt := actortest.Next[messages.Adopt](b.t, b.Supervisor)
	b.tree = adopt.Tree
	b.Parent.ExpectNothing(b.t)
	return adopt
}

func (b *bench) launched() messages.Launched {
	return messages.Launched{Tree: b.tree, Identity: leader, Pipes: messages.Pipes{Stderr: &b.stderr}}
}

// initializing brings the Session into the handshake, which goes on when it is released.
func (b *bench) initializing() (release func()) {
	b.t.Helper()
	release = b.wire.Hold("initialize", fakes.Answer{Result: map[string]any{"capabilities": map[string]any{}}})
	b.launching()
	b.session.Send(b.launched())
	b.Parent.ExpectNothing(b.t)
	return release
}

// ready makes the Session serve.
func (b *bench) ready() {
	b.t.Helper()
	b.launching()
	b.session.Send(b.launched())
	b.Parent.ExpectExactly(b.t, messages.Ready{From: b.session.Ref()})
	b.wire.Take()
	b.Observer.Take()
}

// shuttingDown brings the Session to its orderly end, in which it then stays.
func (b *bench) shuttingDown() {
	b.t.Helper()
	b.ready()
	b.wire.Hold("shutdown", fakes.Answer{})
	b.session.Send(messages.Close{})
	b.Parent.ExpectNothing(b.t)
	b.Supervisor.ExpectNothing(b.t)
}

// sweeping aborts a Session that serves.
func (b *bench) sweeping() {
	b.t.Helper()
	b.ready()
	b.session.Send(messages.Abort{})
	b.expectSweep()
}

func (b *bench) expectSweep() {
	b.t.Helper()
	b.Supervisor.ExpectExactly(b.t, messages.Sweep{Tree: b.tree})
}

func (b *bench) closed() messages.Closed { return messages.Closed{From: b.session.Ref()} }

// leaderDown lets the server exit, which ends its output.
func (b *bench) leaderDown(code int) {
	b.leaderDownAlone(code)
	b.wire.Hangup()
	synctest.Wait()
}

// leaderDownAlone leaves others who hold the server's output.
func (b *bench) leaderDownAlone(code int) {
	b.session.Send(messages.LeaderDown{Tree: b.tree, Status: procscan.Status{Code: code}})
	synctest.Wait()
}

// reaped says that nothing is left of the tree, and expects the Session's end.
func (b *bench) reaped() {
	b.t.Helper()
	b.session.Send(messages.LeaderReaped{Tree: b.tree})
	b.Parent.ExpectExactly(b.t, b.closed())
	b.Supervisor.ExpectNothing(b.t)
	told := b.Observer.Take()
	require.NotEmpty(b.t, told)
	assert.Equal(b.t, messages.Retract{Key: b.session.ID()}, told[len(told)-1])
	b.session.Stop()
	<-b.session.Done()
	b.Supervisor.Take()
}

func (b *bench) settled(id messages.OperationID, verdict messages.Verdict, cause error) messages.Settled {
	return messages.Settled{From: b.session.Ref(), ID: id, Verdict: verdict, Cause: cause}
}

// settledNow are the calls that were settled since the last time, all of them healthy.
func (b *bench) settledNow() (ids []messages.OperationID) {
	b.t.Helper()
	for _, msg := range b.Parent.Take() {
		settled := msg.(messages.Settled)
		assert.Equal(b.t, messages.Healthy, settled.Verdict)
		ids = append(ids, settled.ID)
	}
	return ids
}

// snapshot is the last one that was published.
func (b *bench) snapshot() messages.SessionSnapshot {
	b.t.Helper()
	snapshots := b.snapshots()
	require.NotEmpty(b.t, snapshots, "nothing was published")
	return snapshots[len(snapshots)-1]
}

// shown is the snapshot that status has once what nobody waits for is in it.
func (b *bench) shown() messages.SessionSnapshot {
	b.t.Helper()
	time.Sleep(lsp.PublishDelay)
	return b.snapshot()
}

func (b *bench) snapshots() (all []messages.SessionSnapshot) {
	for _, msg := range b.Observer.Take() {
		if publish, ok := msg.(messages.Publish); ok {
			all = append(all, publish.Snapshot.(messages.SessionSnapshot))
		}
	}
	return all
}

// write puts a file into the project and gives its path.
func (b *bench) write(name, text string) string {
	b.t.Helper()
	path := filepath.Join(b.cfg.Key.Root, name)
	require.NoError(b.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// holdRead makes the next reads of a file wait.
func (b *bench) holdRead(path string) (release func()) {
	hold := make(chan struct{})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.holds[path] = hold
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.holds, path)
		close(hold)
	}
}

// holdAfterRead makes the next reads of a file wait with what they have read.
func (b *bench) holdAfterRead(path string) (release func()) { return b.holdRead(path + afterRead) }

const afterRead = " has been read"

func (b *bench) read(path string) ([]byte, error) {
	b.wait(path)
	defer b.wait(path + afterRead)
	return lsp.ReadText(path)
}

func (b *bench) wait(hold string) {
	b.mu.Lock()
	held := b.holds[hold]
	b.mu.Unlock()
	if held != nil {
		<-held
	}
}

// methods are the names of what was sent since the last time.
func (b *bench) methods() (names []string) {
	synctest.Wait()
	for _, sent := range b.wire.Take() {
		names = append(names, sent.Method)
	}
	return names
}
