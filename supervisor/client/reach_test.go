package client_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/client"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// porter listens as something that answers one line, whatever it is, and closes.
func porter(t *testing.T, answer func(request []byte, conn net.Conn)) (socket string) {
	t.Helper()
	socket, _ = listening(t, func(conn net.Conn) {
		line, _ := bufio.NewReader(conn).ReadBytes('\n')
		answer(line, conn)
	})
	return socket
}

// clientOf gives one that starts a daemon, if it may, by a program that ends at once.
func clientOf(t *testing.T, socket string, opts ...client.Option) *client.Client {
	t.Helper()
	opts = append(opts, client.WithSocket(socket), client.WithInstall(config.Install{Path: "/bin/false"}))
	c, err := client.New(config.Default(), opts...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

// ending is a context that ends when the test says so, in whichever way.
type ending struct {
	context.Context
	why  error
	done chan struct{}
}

func newEnding(t *testing.T, why error) *ending {
	return &ending{t.Context(), why, make(chan struct{})}
}

func (e *ending) end()                        { close(e.done) }
func (e *ending) Deadline() (time.Time, bool) { return time.Time{}, true }
func (e *ending) Done() <-chan struct{}       { return e.done }
func (e *ending) Err() error {
	select {
	case <-e.done:
		return e.why
	default:
		return nil
	}
}

// A daemon that has max_connections refuses the first request and closes. Its word
// counts, however soon the end is seen behind it: who took it for gone would wait for its
// lock, and then call it stuck.
func TestADaemonThatIsFullIsBusyAndNotGone(t *testing.T) {
	full := &messages.BusyError{Reason: messages.Connections}
	c := clientOf(t, porter(t, func(line []byte, conn net.Conn) {
		request, _ := wire.ParseRequest(line, 0)
		_, _ = conn.Write(request.Refuse(full))
	}))
	for range 500 { // which of the two the client sees first is the scheduler's
		_, err := c.Ping(t.Context())
		require.Equal(t, full, err)
	}
	unseen := wire.Request{Protocol: wire.Version1, ID: []byte("null")} // what the server makes of no request
	c = clientOf(t, porter(t, func(_ []byte, conn net.Conn) { _, _ = conn.Write(unseen.Refuse(full)) }))
	_, err := c.Ping(t.Context())
	assert.Equal(t, messages.KindBusy, messages.KindOf(err), "%v", err)
}

func TestADaemonThatEndsBeforeItHasSeenARequestIsGone(t *testing.T) {
	unseen := wire.Request{Protocol: wire.Version1, ID: []byte("null")}
	c := clientOf(t, porter(t, func(_ []byte, conn net.Conn) { _, _ = conn.Write(unseen.Refuse(messages.ErrClosing)) }), client.WithoutStart())
	_, err := c.Ping(t.Context())
	assert.ErrorIs(t, err, client.ErrNotRunning)
}

// The socket may be another program's, that a user has named by mistake.
func TestTheSocketOfAProgramThatLivesIsNeverRemoved(t *testing.T) {
	for says, kind := range map[string]messages.Kind{"HTTP/1.1 400 Bad Request\r\n\r\n": messages.KindProtocol, "": messages.KindBusy} {
		socket := porter(t, func(_ []byte, conn net.Conn) { _, _ = conn.Write([]byte(says)) })
		_, err := clientOf(t, socket).Ping(t.Context())
		assert.Equal(t, kind, messages.KindOf(err), "%v", err)
		assert.FileExists(t, socket)
	}
}

// Of a call that never left it is known what became of it.
func TestACallerWhoseTimeEndsWhileItConnectsIsToldThatAndNoMore(t *testing.T) {
	release := make(chan struct{})
	c := clientOf(t, porter(t, func([]byte, net.Conn) { <-release }))
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := c.RunCode(ctx, messages.Snippet{Project: "/p"})
	assert.Equal(t, context.DeadlineExceeded, err, "not the time that a ping has")
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err = c.RunCode(ctx, messages.Snippet{Project: "/p"})
	assert.Equal(t, context.Canceled, err)
}

// A daemon that is stopped, or that swaps, takes nothing. Who waits for it, or behind
// somebody who does, has its time all the same.
func TestADaemonThatReadsNothingKeepsNobodyBeyondItsTime(t *testing.T) {
	release, stuck, begun := make(chan struct{}), make(chan struct{}), make(chan struct{})
	i := impersonate(t, func(_ wire.Request, conn io.ReadWriteCloser) {
		close(stuck)
		_, _ = io.ReadFull(conn, make([]byte, 4096))
		close(begun)
		<-release
		_ = conn.Close()
	})
	defer close(release)
	c := i.client()
	var work sync.WaitGroup
	defer work.Wait()
	call := func(ctx context.Context, code string) {
		work.Go(func() {
			began := time.Now()
			_, err := c.RunCode(ctx, messages.Snippet{Project: "/p", Code: code})
			assert.Error(t, err)
			assert.Less(t, time.Since(began), 15*time.Second, "%d bytes: %v", len(code), err)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	call(ctx, "") // it is sent, and its cancel waits behind the next
	<-stuck
	call(ctx, strings.Repeat("x", 8<<20))
	<-begun // it is being written
	call(ctx, "x")
	time.AfterFunc(50*time.Millisecond, cancel)
	work.Wait()
}
