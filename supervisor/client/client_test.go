package client_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/client"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// impostor listens as a daemon does and answers pings; all else is the test's.
type impostor struct {
	t        *testing.T
	socket   string
	listener net.Listener
	answer   func(wire.Request, io.ReadWriteCloser)
	requests atomic.Int32 // beside pings
	conns    atomic.Int32
	work     sync.WaitGroup
}

func impersonate(t *testing.T, answer func(wire.Request, io.ReadWriteCloser)) *impostor {
	t.Helper()
	i := &impostor{t: t, answer: answer}
	t.Cleanup(i.work.Wait)
	i.socket, i.listener = listening(t, i.serve)
	return i
}

// listening serves connections, side by side, until the test ends, and closes each.
func listening(t *testing.T, serve func(net.Conn)) (socket string, listener net.Listener) {
	t.Helper()
	dir, err := os.MkdirTemp("", "client") // a socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket = filepath.Join(dir, "s.sock")
	listener, err = net.Listen("unix", socket)
	require.NoError(t, err)
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		work.Wait()
	})
	return socket, listener
}

func (i *impostor) serve(conn net.Conn) {
	i.conns.Add(1)
	for lines := bufio.NewReader(conn); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		request, err := wire.ParseRequest(line, 0)
		assert.NoError(i.t, err)
		switch {
		case request.Method == wire.MethodPing:
			_, _ = conn.Write(request.Reply(wire.Ping{Running: true, PID: os.Getpid()}))
		case i.answer != nil:
			i.requests.Add(1)
			i.answer(request, conn)
		}
	}
}

// client gives one of the impostor, which starts no daemon.
func (i *impostor) client() *client.Client {
	i.t.Helper()
	return clientOf(i.t, i.socket, client.WithoutStart())
}

func TestARequestIsNeverSentTwice(t *testing.T) {
	for what, answer := range map[string]func(wire.Request, io.ReadWriteCloser){
		"a connection that ends": func(_ wire.Request, conn io.ReadWriteCloser) { _ = conn.Close() },
		"half an answer": func(r wire.Request, conn io.ReadWriteCloser) {
			_, _ = conn.Write(r.Reply("ok")[:9])
			_ = conn.Close()
		},
	} {
		t.Run(what, func(t *testing.T) {
			i := impersonate(t, answer)
			_, err := i.client().RunCode(t.Context(), messages.Snippet{Project: "/p"})
			assert.EqualError(t, err, "the connection to the daemon closed after request dispatch; the request was not retried")
			assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(err))
			assert.EqualValues(t, 1, i.requests.Load())
			assert.EqualValues(t, 1, i.conns.Load())
		})
	}
}

func TestAnAnswerThatMakesNoSenseIsAProtocolError(t *testing.T) {
	for what, line := range map[string]string{
		"no JSON": "hello\n", "no object": "[]\n", "both": `{"jsonrpc":"2.0","id":2,"result":1,"error":{"code":-1,"message":"m"}}` + "\n",
		"an id that is not ours": `{"jsonrpc":"2.0","id":"x","result":1}` + "\n",
		"another result":         `{"jsonrpc":"2.0","id":2,"result":[1]}` + "\n",
	} {
		t.Run(what, func(t *testing.T) {
			i := impersonate(t, func(_ wire.Request, conn io.ReadWriteCloser) { _, _ = io.WriteString(conn, line) })
			_, err := i.client().Hover(t.Context(), messages.Document{}, messages.Position{})
			assert.Equal(t, messages.KindProtocol, messages.KindOf(err), "%v", err)
		})
	}
}

func TestAnAnswerForACallThatNobodyMadeIsPassedOver(t *testing.T) {
	i := impersonate(t, func(r wire.Request, conn io.ReadWriteCloser) {
		_, _ = io.WriteString(conn, `{"jsonrpc":"2.0","id":77,"result":1}`+"\n"+`{"jsonrpc":"2.0","method":"news"}`+"\n")
		_, _ = conn.Write(r.Reply(messages.HoverReport{Text: "right"}))
	})
	report, err := i.client().Hover(t.Context(), messages.Document{}, messages.Position{})
	require.NoError(t, err)
	assert.Equal(t, "right", report.Text)
}

// In a bubble the clock stands still as long as anybody reads from a socket: no machine is
// slow there, and the answer comes in time.
func TestACallThatIsGivenUpIsCancelledAndItsTypedAnswerTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, why := range []error{context.DeadlineExceeded, context.Canceled} {
			var pending wire.Request
			var cancelled json.RawMessage
			ctx := newEnding(t, why)
			i := impersonate(t, func(r wire.Request, conn io.ReadWriteCloser) {
				if r.Method != wire.MethodCancel {
					pending = r
					ctx.end()
					return
				}
				cancelled = r.Params["id"]
				_, _ = conn.Write(pending.Refuse(context.Canceled))
			})
			_, err := i.client().RunCode(ctx, messages.Snippet{Project: "/p"})
			if why == context.Canceled {
				assert.Equal(t, messages.KindCancelled, messages.KindOf(err))
			} else {
				assert.ErrorAs(t, err, new(*messages.TimeoutError), "a deadline is one to the daemon, too, which knows of the cancel alone")
			}
			assert.Equal(t, string(pending.ID), string(cancelled))
		}
	})
}

func TestACallThatNobodyAnswersAfterItsTimeHasAnUnknownOutcome(t *testing.T) {
	ctx := newEnding(t, context.Canceled)
	i := impersonate(t, func(r wire.Request, _ io.ReadWriteCloser) {
		if r.Method != wire.MethodCancel {
			ctx.end()
		}
	})
	c := i.client()
	_, err := c.RunCode(ctx, messages.Snippet{Project: "/p"})
	assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(err))
	assert.ErrorIs(t, err, context.Canceled)
	_, err = c.RunCode(ctx, messages.Snippet{Project: "/p"})
	assert.ErrorIs(t, err, context.Canceled, "a context that has ended before sends nothing")
	assert.Equal(t, messages.KindCancelled, messages.KindOf(err))
}

func TestTheConnectionIsKeptAndMadeAgainWhenItHasEnded(t *testing.T) {
	var last atomic.Pointer[io.ReadWriteCloser]
	i := impersonate(t, func(r wire.Request, conn io.ReadWriteCloser) {
		last.Store(&conn)
		_, _ = conn.Write(r.Reply(messages.HoverReport{}))
	})
	c := i.client()
	hover := func() {
		t.Helper()
		_, err := c.Hover(t.Context(), messages.Document{}, messages.Position{})
		require.NoError(t, err)
	}
	hover()
	hover()
	assert.EqualValues(t, 1, i.conns.Load())
	require.NoError(t, (*last.Load()).Close())
	assert.Eventually(t, func() bool { // once the client has seen the end
		_, err := c.Hover(t.Context(), messages.Document{}, messages.Position{})
		return err == nil
	}, time.Minute, time.Millisecond)
	assert.EqualValues(t, 2, i.conns.Load())
}

func TestShutdownWaitsForCallsAndCloseDoesNot(t *testing.T) {
	release := make(chan struct{})
	var i *impostor
	i = impersonate(t, func(r wire.Request, conn io.ReadWriteCloser) {
		i.work.Go(func() {
			<-release
			_, _ = conn.Write(r.Reply(messages.HoverReport{Text: "late"}))
		})
	})
	c := i.client()
	answered := make(chan string, 1)
	go func() {
		report, err := c.Hover(context.Background(), messages.Document{}, messages.Position{})
		assert.NoError(t, err)
		answered <- report.Text
	}()
	require.Eventually(t, func() bool { return i.requests.Load() == 1 }, time.Minute, time.Millisecond)
	ended := make(chan error, 1)
	go func() { ended <- c.Shutdown(context.Background()) }()
	require.Eventually(t, func() bool {
		_, err := c.Ping(t.Context())
		return err == messages.ErrClosed
	}, time.Minute, time.Millisecond)
	close(release)
	assert.Equal(t, "late", <-answered)
	assert.NoError(t, <-ended)

	c = impersonate(t, func(wire.Request, io.ReadWriteCloser) {}).client()
	failed := make(chan error, 1)
	go func() {
		_, err := c.Hover(context.Background(), messages.Document{}, messages.Position{})
		failed <- err
	}()
	time.Sleep(10 * time.Millisecond) // in flight or not: both are refused alike
	require.NoError(t, c.Close())
	assert.ErrorIs(t, <-failed, messages.ErrClosed)
}

func TestARequestOverTheLimitIsRefusedBeforeItIsSent(t *testing.T) {
	i := impersonate(t, func(r wire.Request, conn io.ReadWriteCloser) { _, _ = conn.Write(r.Reply(messages.RunReport{})) })
	c := i.client()
	_, err := c.RunCode(t.Context(), messages.Snippet{Project: "/p", Code: strings.Repeat("x", wire.MaxFrame)})
	assert.Equal(t, messages.KindInvalid, messages.KindOf(err))
	assert.ErrorContains(t, err, "16 MiB")
	_, err = c.RunCode(t.Context(), messages.Snippet{Project: "/p"})
	assert.NoError(t, err, "the connection is good")
	assert.EqualValues(t, 1, i.requests.Load())
}

func TestWithoutADaemonAClientThatStartsNoneSaysSo(t *testing.T) {
	i := impersonate(t, nil)
	c := i.client()
	require.NoError(t, i.listener.Close())
	_, err := c.Ping(t.Context())
	assert.ErrorIs(t, err, client.ErrNotRunning)
	assert.ErrorIs(t, err, messages.ErrClosed)
	assert.ErrorContains(t, err, "no daemon runs ("+i.socket)
	stopped, err := c.StopDaemon(t.Context(), false)
	require.NoError(t, err)
	assert.Equal(t, client.Stopped{Running: new(bool)}, stopped)
}

func TestAProgramThatIsNotThereIsSaidToBeMissing(t *testing.T) {
	_, err := client.New(config.Default(), client.WithProgram("no-such-hearth"))
	assert.Equal(t, messages.KindInvalid, messages.KindOf(err))
	assert.ErrorContains(t, err, "no-such-hearth")
	_, err = client.New(config.Default(), client.WithProgram("/bin/true"), client.WithSocket("relative"))
	assert.ErrorAs(t, err, new(*messages.ConfigError))
}
