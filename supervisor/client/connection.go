package client

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

const (
	// writeTimeout is how long the daemon may take to accept a request.
	writeTimeout = 30 * time.Second
	// Once a call's context has ended the daemon is told, and has this long to say
	// what became of the call; as in an embedded runtime.
	deadlineGrace = time.Second
	cancelGrace   = 100 * time.Millisecond
)

// errNotSent says that nothing of a request was given to the kernel.
var errNotSent = errors.New("not sent")

// connection is one kept connection to a daemon.
type connection struct {
	conn    *net.UnixConn
	writing chan struct{} // capacity one: held by whoever writes
	done    chan struct{} // closed once it has ended

	mu      sync.Mutex
	last    uint64 // id
	pending map[uint64]chan wire.Reply
	notices func(wire.Reply) // is given notifications, on the reader's goroutine; nil: nobody asked
	why     error            // it has ended
}

// open takes over a connection.
func open(conn *net.UnixConn) *connection {
	c := &connection{conn: conn, writing: make(chan struct{}, 1), done: make(chan struct{}), pending: make(map[uint64]chan wire.Reply)}
	go c.read()
	return c
}

// read hands answers to their callers until the connection ends.
func (c *connection) read() {
	reader := wire.NewReader(c.conn)
	for {
		line, err := reader.Next()
		if err != nil {
			c.end(nil)
			return
		}
		reply, err := parse(line)
		if err != nil || reply.ID == 0 && reply.Err != nil {
			// Nobody can be told which call it was: whoever waits is told.
			if err == nil {
				err = reply.Err
			}
			c.end(err)
			return
		}
		if reply.Method != "" {
			c.notice(reply)
			continue
		}
		if waiting := c.forget(reply.ID); waiting != nil {
			waiting <- reply
		}
	}
}

// parse reads a message. A daemon that refuses a connection of which it has seen no
// request doesn't know yet that JSON-RPC is spoken.
func parse(line []byte) (wire.Reply, error) {
	reply, err := wire.ParseReply(line, wire.JSONRPC)
	if err != nil {
		if refusal, unreadable := wire.ParseReply(line, wire.Version1); unreadable == nil && refusal.ID == 0 && refusal.Err != nil {
			return refusal, nil
		}
	}
	return reply, err
}

// vanished tells whether a call failed since the daemon ended before it had taken the
// request, and gives the reason. What the daemon said counts, however soon the
// connection ended behind it.
func (c *connection) vanished(err error) (bool, error) {
	if errors.Is(err, errNotSent) {
		err = c.why // it has ended
	}
	if !c.ended() || err != c.why {
		return false, err
	}
	kind := messages.KindOf(err)
	return kind != messages.KindBusy && kind != messages.KindProtocol, err
}

// listen names who hears of notifications, before anything is asked that brings some.
func (c *connection) listen(notices func(wire.Reply)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notices = notices
}

func (c *connection) notice(notification wire.Reply) {
	c.mu.Lock()
	notices := c.notices
	c.mu.Unlock()
	if notices != nil {
		notices(notification)
	}
}

// end closes the connection; why is what waiting calls are told, nil for that it ended.
func (c *connection) end(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why != nil {
		return
	}
	if c.why = why; why == nil {
		c.why = messages.Errorf(messages.KindOutcomeUnknown,
			"the connection to the daemon closed after request dispatch; the request was not retried")
	}
	_ = c.conn.Close()
	close(c.done)
}

func (c *connection) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (c *connection) begin() (id uint64, answer chan wire.Reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	answer = make(chan wire.Reply, 1)
	c.pending[c.last] = answer
	return c.last, answer
}

func (c *connection) forget(id uint64) chan wire.Reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	answer := c.pending[id]
	delete(c.pending, id)
	return answer
}

// call sends one request and waits for its answer. Its error is errNotSent where
// nothing of it left; then it may be sent on another connection.
func (c *connection) call(ctx context.Context, method string, params, result any) error {
	began := time.Now()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	id, answer := c.begin()
	defer c.forget(id)
	line, err := wire.Call(wire.JSONRPC, id, method, params)
	if err != nil {
		return err
	}
	if err := c.send(ctx, line); err != nil {
		return err
	}
	select {
	case reply := <-answer:
		return accept(reply, result)
	case <-c.done:
	case <-ctx.Done():
		return c.giveUp(ctx, began, id, answer, result)
	}
	return c.lost(answer, result)
}

// lost is for a connection that has ended: the answer may have come before that.
func (c *connection) lost(answer chan wire.Reply, result any) error {
	select {
	case reply := <-answer:
		return accept(reply, result)
	default:
		return c.why
	}
}

// giveUp cancels a request whose caller waits no longer, and gives the daemon a moment
// to say what became of it.
func (c *connection) giveUp(ctx context.Context, began time.Time, id uint64, answer chan wire.Reply, result any) error {
	grace := cancelGrace
	late := errors.Is(ctx.Err(), context.DeadlineExceeded)
	if late {
		grace = deadlineGrace
	}
	go c.cancel(id) // where the daemon takes nothing it waits longer than its caller may
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case reply := <-answer:
		if late && messages.KindOf(reply.Err) == messages.KindCancelled {
			return &messages.TimeoutError{After: time.Since(began)} // the daemon knows of our cancel alone
		}
		return accept(reply, result)
	case <-c.done:
		return c.lost(answer, result)
	case <-timer.C:
		return messages.Errorf(messages.KindOutcomeUnknown, "the daemon did not say in time what became of the request: %w", context.Cause(ctx))
	}
}

// cancel tells the daemon that nobody waits for a request any more.
func (c *connection) cancel(id uint64) {
	if line, err := wire.Notification(wire.MethodCancel, struct {
		ID uint64 `json:"id"`
	}{id}); err == nil {
		_ = c.send(context.Background(), line) // where it can't be sent the connection has ended, and so has the request
	}
}

func accept(reply wire.Reply, result any) error {
	if reply.Err != nil || result == nil {
		return reply.Err
	}
	if err := json.Unmarshal(reply.Result, result); err != nil {
		return &messages.ProtocolError{Message: "the daemon's result can't be used: " + err.Error()}
	}
	return nil
}

// send writes one message. One that was written in part ends the connection: so does a
// caller's end, a moment later, where the daemon has stopped to read amid its message.
func (c *connection) send(ctx context.Context, line []byte) error {
	select {
	case c.writing <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-c.writing }()
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	cut := make(chan struct{})
	callOff := context.AfterFunc(ctx, func() {
		defer close(cut)
		_ = c.conn.SetWriteDeadline(time.Now().Add(deadlineGrace))
	})
	n, err := c.conn.Write(line)
	if !callOff() {
		<-cut // else it would cut the next one short
	}
	if err == nil {
		return nil
	}
	c.end(nil)
	if n == 0 {
		return errNotSent
	}
	return c.why
}
