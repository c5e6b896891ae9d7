package repl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// ReplyLimit is how many bytes one reply may have without its end mark.
const ReplyLimit = 10 << 20

// Stdin is our end of a child's standard input. os.Pipe and net.Pipe have its
// methods.
type Stdin interface {
	io.Writer
	SetWriteDeadline(time.Time) error
}

// Stdout is our end of a child's standard output.
type Stdout interface {
	io.Reader
	SetReadDeadline(time.Time) error
}

// Protocol is what a child speaks on its pipes. A value belongs to one child: it
// keeps what the warm-up left there.
type Protocol interface {
	// Warmup does all that a call should not have to wait for and then proves that
	// the child answers. After an error the child must not be used.
	Warmup(ctx context.Context, c *Client) error
	// Run sends one request, once, and gives what the child made of it. Its errors
	// are *ExchangeError, and after one the child must not be used; code that is
	// wrong, or that the child refuses, is a report.
	Run(ctx context.Context, c *Client, req Request) (messages.RunReport, error)
}

// Request is one piece of code, ready to be sent; Headers.Decide makes it for Lean.
type Request struct {
	Code   string          // what is sent
	Header messages.Header // what was cut off or found at its head
	Shift  int             // lines that were cut off, to be added to every reported place
}

// framing finds the end of a reply in what was read: the reply is buf[:end], and
// the next one would begin at buf[next]. Only buf[from:] is new since the last
// time. A negative end means that more is needed.
type framing func(buf []byte, from int) (end, next int)

// Client exchanges frames with one child. One goroutine at a time uses it, and
// after an error it refuses all further use: where a reply is missing, a late one
// would be taken for the answer to the next request.
type Client struct {
	in     Stdin
	out    Stdout
	broken bool
}

// NewClient makes the client of a child's two pipes, which stay the caller's to close.
func NewClient(in Stdin, out Stdout) *Client { return &Client{in: in, out: out} }

// Watch waits until the child says something although nobody asked, or exits. It
// returns nil when ctx ends first, and else an *ExchangeError. An idle child is
// watched so that its noise is its own end, and not the next caller's answer.
func (c *Client) Watch(ctx context.Context) error {
	release, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer release()
	var noise [tailLength]byte
	n, err := c.out.Read(noise[:])
	switch {
	case n > 0:
		return c.fail(false, protocolErrorf("REPL wrote to standard output without being asked. Tail: %s", tail(noise[:n])))
	case ctx.Err() != nil && errors.Is(err, os.ErrDeadlineExceeded):
		return nil
	}
	return c.fail(false, exited(err))
}

// exchange writes the request and reads one reply. Nothing is ever written twice.
func (c *Client) exchange(ctx context.Context, request []byte, frame framing) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, &ExchangeError{Err: fmt.Errorf("REPL request was not sent: %w", context.Cause(ctx))}
	}
	release, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if _, err := c.in.Write(request); err != nil {
		return nil, c.fail(true, cmp.Or(c.unasked(ctx), writeFailure(ctx, err)))
	}
	reply, err := c.read(ctx, frame)
	if err != nil {
		return nil, c.fail(true, err)
	}
	return reply, nil
}

// unasked is for a child that took no request: what it has said instead, which is mostly
// why it exited, and nil where it has said nothing.
func (c *Client) unasked(ctx context.Context) error {
	if ctx.Err() != nil || c.out.SetReadDeadline(time.Now().Add(exitWait)) != nil {
		return nil
	}
	var said [tailLength]byte
	n, _ := c.out.Read(said[:]) // its end is what the failed write says already
	if n == 0 {
		return nil
	}
	return protocolErrorf("REPL wrote to standard output and took no request. Tail: %s", tail(said[:n]))
}

func (c *Client) read(ctx context.Context, frame framing) ([]byte, error) {
	buf := make([]byte, 0, 4096)
	for {
		if cap(buf)-len(buf) < 512 {
			buf = slices.Grow(buf, cap(buf))
		}
		n, err := c.out.Read(buf[len(buf):cap(buf)])
		from := len(buf)
		buf = buf[:from+n]
		end, next := frame(buf, from)
		switch {
		case end > ReplyLimit || end < 0 && len(buf) > ReplyLimit:
			return nil, protocolErrorf("REPL response exceeded %d bytes. Tail: %s", ReplyLimit, tail(buf))
		case end >= 0 && next < len(buf):
			return nil, protocolErrorf("REPL wrote on behind its reply. Tail: %s", tail(buf[next:]))
		case end >= 0:
			return buf[:end], nil
		case err != nil:
			return nil, readFailure(ctx, err)
		}
	}
}

// begin opens the pipes for one use, which the end of ctx cuts off, and returns
// what must be called after it. The context's own timer serves its deadline; one
// on the pipes as well could fire first, with nothing to say which of the two
// reasons it was.
func (c *Client) begin(ctx context.Context) (release func(), err error) {
	if c.broken {
		return nil, &ExchangeError{Err: ErrBroken}
	}
	if err := c.deadline(time.Time{}); err != nil {
		return nil, c.fail(false, fmt.Errorf("REPL pipes take no deadlines: %w", err))
	}
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cut)
		_ = c.deadline(time.Unix(1, 0)) // it worked above; a pipe closed since has ended the use already
	})
	return func() {
		if !stop() {
			<-cut // else a late cut would hit the next use
		}
	}, nil
}

func (c *Client) deadline(t time.Time) error {
	return cmp.Or(c.in.SetWriteDeadline(t), c.out.SetReadDeadline(t))
}

// fail makes the client unusable.
func (c *Client) fail(sent bool, err error) error {
	c.broken = true
	return &ExchangeError{Sent: sent, Err: err}
}
