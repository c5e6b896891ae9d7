package rpc

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// connection is one client's.
type connection struct {
	server *Server
	conn   *net.UnixConn
	reader *wire.Reader
	spoken wire.Protocol // 0: nothing yet
	flight *flight       // of JSON-RPC; nil before its first request
	timing timing

	writing sync.Mutex
}

func newConnection(s *Server, conn *net.UnixConn) *connection {
	c := &connection{server: s, conn: conn}
	c.timing = timing{conn: conn, limit: s.Config.ReadTimeout}
	c.reader = readers.Get().(*wire.Reader)
	c.reader.Reset(&c.timing)
	return c
}

// readers are those of connections that have ended. Their buffers are most of what a
// connection with one small request needs.
var readers = sync.Pool{New: func() any { return wire.NewReader(nil) }}

// serve does one request after the other. While one is done that takes its time, a
// goroutine of its own reads on. The other way round, a new goroutine would do the
// request, and mostly on another processor, which takes as long as much of a small one.
func (c *connection) serve() {
	if do := c.read(); do != nil {
		go c.serve()
		do()
	}
}

// read answers what needs no waiting, and gives what is to be done for the first request
// that does; nil: the client has no more, and all is answered.
func (c *connection) read() (do func()) {
	defer func() {
		if do == nil { // after a panic too
			c.finish()
		}
	}()
	defer c.server.survive("connection")
	for more := true; more && do == nil; {
		do, more = c.next()
	}
	return do
}

// finish is for when nothing more is read.
func (c *connection) finish() {
	defer c.server.leave(c)
	defer c.end()
	c.reader.Reset(nil)
	readers.Put(c.reader)
	if c.flight != nil {
		c.flight.wait()
	}
}

// end lets go of everything.
func (c *connection) end() {
	c.abort()
	_ = c.conn.Close()
}

// abort cancels what is in flight. Version 1's single request is not cancelled: its
// work is finished for whoever asks next.
func (c *connection) abort() {
	if c.flight != nil {
		c.flight.abort()
	}
}

// next takes one request and tells whether another may follow. It gives what is left to
// be done for it.
func (c *connection) next() (do func(), more bool) {
	c.timing.arm(c.spoken != wire.JSONRPC || c.reader.Begun())
	line, err := c.reader.Next()
	if err != nil {
		return nil, c.unreadable(err)
	}
	request, err := wire.ParseRequest(line, c.spoken)
	c.spoken = request.Protocol
	switch {
	case err != nil:
		c.write(request.Refuse(err))
	case request.Protocol == wire.JSONRPC:
		do = c.take(request)
	default:
		c.write(c.server.answer(c.server.base, request))
	}
	return do, c.spoken == wire.JSONRPC
}

// unreadable answers what could not be read, and tells whether to go on.
func (c *connection) unreadable(err error) bool {
	switch {
	case errors.Is(err, io.EOF):
		c.awaitHangup()
		return false
	case errors.Is(err, wire.ErrUnterminated):
		c.write(c.nobody().Refuse(err))
		c.awaitHangup()
		return false
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.late()
		return false
	case !isRequestError(err): // reset
		c.abort()
		return false
	case c.spoken == wire.JSONRPC:
		c.write(c.nobody().Refuse(err))
		return true
	}
	c.write(c.nobody().Refuse(err))
	c.linger()
	return false
}

func isRequestError(err error) bool { return errors.As(err, new(*wire.RequestError)) }

// nobody is the request of which nothing is known.
func (c *connection) nobody() wire.Request {
	return wire.Request{Protocol: max(c.spoken, wire.Version1), ID: []byte("null")}
}

// late answers a request that did not arrive in time. A server that closes has set the
// same deadline, to connections with and without a request on its way.
func (c *connection) late() {
	switch {
	case !c.server.isClosing():
		c.write(c.nobody().Refuse(messages.Errorf(messages.KindTimeout,
			"no whole request arrived within %s (read_timeout)", c.server.Config.ReadTimeout)))
	case c.spoken != wire.JSONRPC || c.reader.Begun():
		c.write(c.nobody().Refuse(messages.ErrClosing))
	}
}

// refuse answers the first request of a connection that isn't served.
func (c *connection) refuse(reason error) {
	defer c.end()
	c.timing.limit = min(c.timing.limit, refusalTimeout)
	c.timing.arm(true)
	request := c.nobody()
	if line, err := c.reader.Next(); err == nil {
		request, _ = wire.ParseRequest(line, 0) // of a bad one there is enough to answer it
	}
	if request.ID == nil { // a notification: the client learns it from a message without id
		request.ID = []byte("null")
	}
	c.write(request.Refuse(reason))
	c.linger()
}

// linger lets a client that is still sending finish, so that it comes to read the
// answer: a closed connection would fail its next write.
func (c *connection) linger() {
	_ = c.conn.CloseWrite()
	c.timing.arm(true)
	for {
		if _, err := c.reader.Next(); err != nil && !isRequestError(err) {
			return
		}
	}
}

// write sends one message. What can't be sent has no reader any more: everything that
// is done for the connection is cancelled.
func (c *connection) write(line []byte) {
	if line == nil {
		return
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := c.conn.Write(line); err != nil {
		c.server.Log.Warn("a client had gone before its answer", "reason", err, "bytes", len(line))
		c.end()
	}
}

// stopReading makes the reader give up at a time; what is in flight goes on.
func (c *connection) stopReading(at time.Time) { c.timing.stop(at) }

// timing bounds reads: each of a message's once it has begun, and the wait for one
// where that is armed.
type timing struct {
	conn  *net.UnixConn
	limit time.Duration

	mu      sync.Mutex
	armed   bool
	stopped bool
}

// arm sets the deadline for the next message, or only for what follows its first byte.
func (t *timing) arm(now bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.armed = now
	switch {
	case t.stopped:
	case now:
		_ = t.conn.SetReadDeadline(time.Now().Add(t.limit))
	default:
		_ = t.conn.SetReadDeadline(time.Time{})
	}
}

func (t *timing) stop(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	_ = t.conn.SetReadDeadline(at)
}

// Read reads from the connection. A message that is whole in its first bytes, as most
// are, costs no deadline. What was sent before the reader was to give up is read, however
// late a busy machine lets it come to that.
func (t *timing) Read(p []byte) (int, error) {
	n, err := t.conn.Read(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped && errors.Is(err, os.ErrDeadlineExceeded) && ready(t.conn) {
		_ = t.conn.SetReadDeadline(time.Now().Add(atOnce))
		n, err = t.conn.Read(p)
		_ = t.conn.SetReadDeadline(past)
	}
	if n > 0 && !t.armed && !t.stopped && bytes.IndexByte(p[:n], '\n') < 0 {
		t.armed = true
		_ = t.conn.SetReadDeadline(time.Now().Add(t.limit))
	}
	return n, err
}
