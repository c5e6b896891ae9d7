package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/cmd/runtime/internal/rpc"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// bound is how long anything may take on a slow machine.
const bound = time.Minute

// fakeRuntime answers at once, or as run says.
type fakeRuntime struct {
	run     func(context.Context, messages.Snippet) (messages.RunReport, error)
	build   func(context.Context, messages.Build, func(messages.BuildEvent)) (messages.BuildReport, error)
	doc     messages.Document
	at      messages.Position
	project string
	running atomic.Int32
}

func (f *fakeRuntime) Diagnostics(_ context.Context, doc messages.Document) (messages.DiagnosticsReport, error) {
	f.doc = doc
	return messages.DiagnosticsReport{File: "/p/a.go"}, nil
}

func (f *fakeRuntime) Hover(_ context.Context, doc messages.Document, at messages.Position) (messages.HoverReport, error) {
	f.doc, f.at = doc, at
	return messages.HoverReport{Text: "func f()"}, nil
}

func (f *fakeRuntime) Query(_ context.Context, doc messages.Document, method string, at *messages.Position, params json.RawMessage) (messages.QueryReport, error) {
	f.doc, f.at = doc, *at
	return messages.QueryReport{Result: json.RawMessage(fmt.Sprintf(`{"method":%q,"params":%s}`, method, params))}, nil
}

func (f *fakeRuntime) RunCode(ctx context.Context, snippet messages.Snippet) (messages.RunReport, error) {
	f.running.Add(1)
	defer f.running.Add(-1)
	if f.run == nil {
		return messages.RunReport{Protocol: messages.ReportJSONL, Output: snippet.Code}, nil
	}
	return f.run(ctx, snippet)
}

func (f *fakeRuntime) WatchBuild(ctx context.Context, build messages.Build, hear func(messages.BuildEvent)) (messages.BuildReport, error) {
	return f.build(ctx, build, hear)
}

func (f *fakeRuntime) Status(context.Context) (messages.Status, error) {
	return messages.Status{At: time.Unix(9, 0)}, nil
}

func (f *fakeRuntime) ProjectStatus(_ context.Context, project string) (messages.Status, error) {
	f.project = project
	return messages.Status{At: time.Unix(9, 0)}, nil
}

// rig is a server on a socket of its own.
type rig struct {
	*rpc.Server
	runtime  *fakeRuntime
	socket   string
	listener *net.UnixListener
	stops    chan bool
}

// serve starts a server; it is closed with the test.
func serve(t testing.TB) *rig {
	t.Helper()
	r := prepare(t, func(*config.Config) {})
	go r.Serve(r.listener)
	return r
}

// prepare makes one that takes no connection before the test has it Serve: what clients have
// sent until then it finds there, however slowly they came to that.
func prepare(t testing.TB, change func(*config.Config)) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "rpc") // a socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	cfg := config.Default()
	change(&cfg)
	r := &rig{runtime: &fakeRuntime{}, socket: filepath.Join(dir, "s"), stops: make(chan bool, 9)}
	r.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: r.socket, Net: "unix"})
	require.NoError(t, err)
	r.Server = rpc.New(rpc.Options{Config: cfg, Log: slog.New(slog.DiscardHandler),
		Ping:     func() wire.Ping { return wire.NewPing(7, "i-b", 3, time.Unix(1, 0), time.Unix(2, 0), wire.Config{}) },
		Shutdown: func(now bool) { r.stops <- now }})
	r.Attach(r.runtime)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), bound)
		defer cancel()
		r.end(ctx)
	})
	return r
}

// end closes the server; again is harmless.
func (r *rig) end(ctx context.Context) {
	r.Close(ctx, r.listener)
	_ = r.listener.Close()
}

// peer is a client made of the contract's text alone.
type peer struct {
	t testing.TB
	*net.UnixConn
	lines *bufio.Reader
}

func (r *rig) connect(t testing.TB) *peer {
	t.Helper()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: r.socket, Net: "unix"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(bound)))
	return &peer{t, conn, bufio.NewReader(conn)}
}

func (p *peer) send(line string) {
	p.t.Helper()
	_, err := io.WriteString(p, line)
	require.NoError(p.t, err)
}

func (p *peer) line() string {
	p.t.Helper()
	line, err := p.lines.ReadString('\n')
	require.NoError(p.t, err)
	return line
}

// closed expects the end, and nothing before it.
func (p *peer) closed() {
	p.t.Helper()
	rest, err := io.ReadAll(p.lines)
	assert.NoError(p.t, err)
	assert.Empty(p.t, string(rest))
}

func run(id, code string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"repl.run","params":{"project_dir":"/p","code":%q}}`+"\n", id, code)
}

func runV1(code string) string {
	return fmt.Sprintf(`{"v":1,"id":"x","method":"repl.run","params":{"project_dir":"/p","code":%q}}`+"\n", code)
}

// eventually waits for what another goroutine is about to do.
func eventually(t *testing.T, is func() bool, what string) {
	t.Helper()
	assert.Eventually(t, is, bound, time.Millisecond, what)
}
