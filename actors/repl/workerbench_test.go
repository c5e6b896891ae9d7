package repl_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/repl"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/actortest"
	"github.com/seed-f6977891/hearth/test/fakes"
)

// faults are the ways in which Receive may fail to return.
var faults = map[string]func(){"panic": func() { panic("boom") }, "goexit": runtime.Goexit}

var key = messages.Key{Kind: messages.REPL, Root: "/project", Language: "lean"}

const (
	startup  = 10 * time.Second
	mebibyte = 1 << 20
	limit    = 200 * mebibyte
)

// workerBench is one Worker: the harness's Parent plays its Pool, the Supervisor the
// Sweepers of its trees, and the test the programs of its children.
type workerBench struct {
	*actortest.Harness
	t       *testing.T
	machine *fakes.Machine
	worker  *actors.Handle
	repl    *program
	header  *program
	op      messages.RunCode
	cancel  context.CancelFunc
}

// program is a child with what its test needs to play it.
type program struct {
	tree     messages.TreeID
	child    *fakes.Child
	requests *bufio.Reader
}

func workerBubble(t *testing.T, name string, change func(*repl.PoolConfig), test func(*workerBench)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := &workerBench{Harness: actortest.New(t), t: t, machine: fakes.NewMachine(), cancel: func() {}}
			cfg := repl.PoolConfig{Key: key, Startup: startup, Resident: true, Spec: procscan.Spec{Argv: []string{"repl"}},
				Header:   &repl.HeaderConfig{Allowed: []string{"Good"}, Spec: procscan.Spec{Argv: []string{"lean"}}},
				Protocol: func([]string) repl.Protocol { return repl.NewJSONL("warm") }}
			if change != nil {
				change(&cfg)
			}
			b.worker = b.Spawn("worker", "0", repl.NewWorker(cfg))
			test(b)
			b.end()
		})
	})
}

// end closes what is left, so that no goroutine outlives its bubble.
func (b *workerBench) end() {
	b.cancel()
	b.worker.Send(messages.Abort{})
	for _, child := range b.machine.Children() {
		child.Exit(procscan.Status{})
		for _, end := range []io.Closer{child.ProgramIn, child.ProgramOut, child.Stdin(), child.Stdout()} {
			_ = end.Close() // some are closed by the test already
		}
	}
	synctest.Wait()
}

// adopted takes the next Adopt, which must be of this role.
func (b *workerBench) adopted(role messages.Role) *program {
	b.t.Helper()
	adopt := actortest.Next[messages.Adopt](b.t, b.Supervisor)
	require.Equal(b.t, role, adopt.Role)
	assert.Equal(b.t, b.worker.Ref(), adopt.Owner)
	assert.Equal(b.t, startup, adopt.Start.Limit)
	return &program{tree: adopt.Tree}
}

func (b *workerBench) launched(p *program) {
	child, err := b.machine.Launcher().Launch(b.t.Context(), procscan.Spec{Argv: []string{"program"}})
	require.NoError(b.t, err)
	p.child = child.(*fakes.Child)
	p.requests = bufio.NewReader(p.child.ProgramIn)
	b.worker.Send(messages.Launched{Tree: p.tree, Identity: child.Identity(),
		Pipes: messages.Pipes{Stdin: child.Stdin(), Stdout: child.Stdout(), Stderr: child.Stderr()}})
}

// hears takes the program's next request.
func (b *workerBench) hears(p *program) string {
	b.t.Helper()
	line, err := p.requests.ReadString('\n')
	require.NoError(b.t, err)
	return line
}

func (b *workerBench) says(p *program, text string) {
	b.t.Helper()
	_, err := io.WriteString(p.child.ProgramOut, text)
	require.NoError(b.t, err)
}

// exits ends a program as the kernel and its Sweeper would tell of it.
func (b *workerBench) exits(p *program, status procscan.Status) {
	p.child.Exit(status)
	require.NoError(b.t, p.child.ProgramOut.Close())
	b.worker.Send(messages.LeaderDown{Tree: p.tree, Status: status})
}

func (b *workerBench) reaped(p *program) { b.worker.Send(messages.LeaderReaped{Tree: p.tree}) }

// The states, each reached through those before it.

func (b *workerBench) launching() *workerBench {
	b.t.Helper()
	b.repl = b.adopted(messages.RoleREPL)
	return b
}

func (b *workerBench) warming() *workerBench {
	b.t.Helper()
	b.launching().launched(b.repl)
	require.Equal(b.t, `{"code":"warm"}`+"\n", b.hears(b.repl))
	return b
}

func (b *workerBench) idle() *workerBench {
	b.t.Helper()
	b.warming().says(b.repl, fakes.Result(""))
	b.Parent.ExpectExactly(b.t, messages.Ready{From: b.worker.Ref()})
	b.expect("idle")
	return b
}

func (b *workerBench) checking() *workerBench {
	b.t.Helper()
	b.idle().assign("import Good\nx", repl.Decision{Check: true})
	b.header = b.adopted(messages.RoleHeader)
	b.expect("checking")
	return b
}

func (b *workerBench) running() *workerBench {
	b.t.Helper()
	b.idle().assign("x", repl.Decision{Run: &repl.Request{Code: "x"}})
	require.Equal(b.t, `{"code":"x"}`+"\n", b.hears(b.repl))
	b.expect("running")
	return b
}

func (b *workerBench) closing() *workerBench {
	b.t.Helper()
	b.idle().worker.Send(messages.Close{})
	b.expectSwept(b.repl)
	b.expect("closing")
	return b
}

// timeout is that of the bench's calls.
const timeout = 3 * time.Second

var errLate = errors.New("late")

func (b *workerBench) assign(code string, decision repl.Decision) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), timeout, errLate)
	ctx, b.cancel = context.WithCancel(ctx)
	stop := b.cancel
	b.cancel = func() { stop(); cancel() }
	b.op = messages.RunCode{Head: messages.Head{ID: messages.OperationID(b.System.NextID()), Key: key}, Code: code,
		Reply: messages.NewReplyTo[messages.RunReport]()}
	b.worker.Send(repl.Assign(ctx, b.op, decision))
}

// expect checks the state that the Worker last published.
func (b *workerBench) expect(state string) {
	b.t.Helper()
	got := b.Observer.Take()
	for _, msg := range slices.Backward(got) {
		published, ok := msg.(messages.Publish)
		if ok && strings.HasPrefix(published.Key, "worker/") {
			assert.Equal(b.t, state, published.Snapshot.(messages.WorkerSnapshot).State)
			return
		}
	}
	require.Fail(b.t, "nothing was published", "expected %s", state)
}

func (b *workerBench) expectSwept(programs ...*program) {
	b.t.Helper()
	var want []any
	for _, p := range programs {
		want = append(want, messages.Sweep{Tree: p.tree})
	}
	b.Supervisor.ExpectExactly(b.t, want...)
}

// answer takes the answer to the bench's call.
func (b *workerBench) answer() (messages.RunReport, error) {
	b.t.Helper()
	id, report, err := actortest.Next[repl.Answered](b.t, b.Parent).Parts()
	assert.Equal(b.t, b.op.ID, id)
	return report, err
}

// expectUnknown checks an answer to code that was sent, and gives its reason.
func (b *workerBench) expectUnknown(kind messages.Kind) error {
	b.t.Helper()
	_, err := b.answer()
	var run *messages.RunError
	require.ErrorAs(b.t, err, &run)
	assert.True(b.t, run.Sent)
	assert.Equal(b.t, kind, messages.KindOf(err))
	assert.NotContains(b.t, err.Error(), "\n")
	return run.Err
}

func (b *workerBench) expectSettled(verdict messages.Verdict) error {
	b.t.Helper()
	settled := actortest.Next[messages.Settled](b.t, b.Parent)
	assert.Equal(b.t, verdict, settled.Verdict)
	assert.Equal(b.t, b.worker.Ref(), settled.From)
	return settled.Cause
}

// expectClosed reaps what is left and checks that the Worker then says Closed.
func (b *workerBench) expectClosed(left ...*program) {
	b.t.Helper()
	for _, p := range left {
		b.Parent.ExpectNothing(b.t)
		b.reaped(p)
	}
	b.Parent.ExpectExactly(b.t, messages.Closed{From: b.worker.Ref()})
}
