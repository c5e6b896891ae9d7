package lsp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/jsonrpc2"
)

const (
	keepBuffer  = 64 << 10              // a larger one is given back after its frame
	writeSlice  = 20 * time.Millisecond // how long a blocked write goes without looking at its context
	headRoom    = 32                    // for "Content-Length: N\r\n\r\n" before a body
	firstBuffer = 4 << 10
)

// DeadlineWriter is the end of a pipe that leads to a server's standard input.
type DeadlineWriter interface {
	io.WriteCloser
	// SetWriteDeadline is as of net.Conn and os.File.
	SetWriteDeadline(time.Time) error
}

// Stream is jsonrpc2's Stream over a server's pipes, in LSP's framing. Both
// directions are bounded in memory; writing is bounded in time. Its first error is its
// last state: from then on every write fails with it and both pipes are closed.
type Stream struct {
	out    io.ReadCloser
	in     DeadlineWriter
	stall  time.Duration
	frame  func()       // told of every whole frame
	noise  func(string) // told of every line that belongs to no frame
	reader *bufio.Reader
	body   []byte

	waiting atomic.Int32 // writers without the turn

	turn  chan struct{} // holds one token while somebody writes
	write []byte        // composing buffer of whoever holds the turn
	rest  []byte        // what an ended caller's frame still lacks; before any other byte

	once sync.Once
	err  error         // set before down is closed
	down chan struct{} // closed by the first error or Close
}

var _ jsonrpc2.Stream = (*Stream)(nil)

// NewStream frames messages on a server's output and input. A server that takes no
// byte for stall while somebody writes ends the stream.
func NewStream(out io.ReadCloser, in DeadlineWriter, stall time.Duration, frame func(), noise func(string)) *Stream {
	s := &Stream{
		out: out, in: in, stall: stall, frame: frame, noise: noise,
		reader: bufio.NewReaderSize(out, maxHeader),
		turn:   make(chan struct{}, 1),
		down:   make(chan struct{}),
	}
	if err := in.SetWriteDeadline(time.Now()); err != nil {
		s.end(&StreamError{Reason: "the pipe to the language server knows no deadlines", Err: err})
	}
	return s
}

// Read is ReadFrame, decoded.
func (s *Stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	body, n, err := s.ReadFrame(ctx)
	if err != nil {
		return nil, 0, err
	}
	msg, err := jsonrpc2.DecodeMessage(body)
	return msg, n, err
}

// ReadFrame returns the next frame's body, which is valid until the next call. Every
// error is a *StreamError that names what was wrong and ends the stream.
func (s *Stream) ReadFrame(ctx context.Context) ([]byte, int64, error) {
	if cap(s.body) > keepBuffer {
		s.body = nil
	}
	length, err := readHeader(s.reader, s.noise)
	if err == nil {
		err = s.readBody(length)
	}
	if err != nil {
		s.end(err)
		return nil, 0, s.err
	}
	s.frame()
	return s.body, int64(length), nil
}

// readBody grows the buffer as bytes arrive: a length that a header only claims
// allocates nothing.
func (s *Stream) readBody(length int) error {
	s.body = s.body[:0]
	for len(s.body) < length {
		if len(s.body) == cap(s.body) {
			size := min(max(2*cap(s.body), firstBuffer), length)
			s.body = append(make([]byte, 0, size), s.body...)
		}
		have := len(s.body)
		s.body = s.body[:min(cap(s.body), length)]
		n, err := io.ReadFull(s.reader, s.body[have:])
		if err != nil {
			return bodyEnd(have+n, length, err)
		}
	}
	if first := bytes.TrimLeft(s.body, " \t\r\n"); len(first) == 0 || first[0] != '{' && first[0] != '[' {
		return &StreamError{Reason: fmt.Sprintf("a frame that isn't a JSON object: %q", clip(s.body))}
	}
	return nil
}

func bodyEnd(have, length int, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &StreamError{
			Reason: fmt.Sprintf("the output ended inside a frame, after %d of %d bytes", have, length),
			Err:    io.ErrUnexpectedEOF,
		}
	}
	return &StreamError{Reason: "reading a frame", Err: err}
}

// Write frames msg. An error of ctx means that no byte of it was written. Once a byte
// is out the frame is committed: if ctx ends then, Write returns nil at once and the
// rest goes before whatever is written next.
func (s *Stream) Write(ctx context.Context, msg jsonrpc2.Message) (int64, error) {
	return s.writeFrame(ctx, func(buf []byte) []byte { return jsonrpc2.AppendMessage(buf, msg) })
}

// WriteFrame is Write for an encoded body.
func (s *Stream) WriteFrame(ctx context.Context, body []byte) (int64, error) {
	return s.writeFrame(ctx, func(buf []byte) []byte { return append(buf, body...) })
}

func (s *Stream) writeFrame(ctx context.Context, appendBody func([]byte) []byte) (int64, error) {
	if err := s.take(ctx); err != nil {
		return 0, err
	}
	defer func() { <-s.turn }()
	if left, err := s.push(ctx, s.rest); err != nil {
		s.rest = left
		return 0, err
	}
	s.rest = nil
	frame := s.compose(appendBody)
	left, err := s.push(ctx, frame)
	if len(left) == len(frame) || err != nil && !isEnd(ctx, err) {
		return 0, err
	}
	s.rest = bytes.Clone(left)
	return int64(len(frame)), nil
}

// take waits for the turn to write.
func (s *Stream) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.waiting.Add(1)
	defer s.waiting.Add(-1)
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.down:
		return s.err
	}
	select {
	case <-s.down:
		<-s.turn
		return s.err
	default:
		return nil
	}
}

// compose puts the header right before the body, whose length is known only after.
func (s *Stream) compose(appendBody func([]byte) []byte) []byte {
	if cap(s.write) > keepBuffer || s.write == nil {
		s.write = make([]byte, 0, firstBuffer)
	}
	s.write = appendBody(s.write[:headRoom])
	head := fmt.Appendf(make([]byte, 0, headRoom), "Content-Length: %d\r\n\r\n", len(s.write)-headRoom)
	start := headRoom - len(head)
	copy(s.write[start:], head)
	return s.write[start:]
}

// push writes data until all is out, ctx ends or the stream does, and returns what is
// left. The pipe always has a deadline, and it is armed anew only when it has passed: one
// timer call serves many small writes.
func (s *Stream) push(ctx context.Context, data []byte) (left []byte, err error) {
	moved := time.Time{}
	for len(data) > 0 {
		n, err := s.in.Write(data)
		data = data[n:]
		if err == nil {
			continue
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return data, s.end(&StreamError{Reason: "writing", Err: err})
		}
		if err := ctx.Err(); err != nil {
			return data, err
		}
		now := time.Now()
		if n > 0 || moved.IsZero() {
			moved = now
		}
		if now.Sub(moved) >= s.stall {
			return data, s.end(&StreamError{Reason: fmt.Sprintf("the language server has read nothing for %v", s.stall)})
		}
		if err := s.in.SetWriteDeadline(now.Add(writeSlice)); err != nil {
			return data, s.end(&StreamError{Reason: "writing", Err: err})
		}
	}
	return nil, nil
}

func isEnd(ctx context.Context, err error) bool { return ctx.Err() != nil && errors.Is(err, ctx.Err()) }

// Close ends the stream and closes both pipes; it never blocks and is idempotent, as
// jsonrpc2 calls it under its lock.
func (s *Stream) Close() error {
	s.end(&StreamError{Reason: "closed"})
	return nil
}

// end makes err the stream's last state, unless it has one, and returns that.
func (s *Stream) end(err error) error {
	s.once.Do(func() {
		s.err = err
		close(s.down)
		_ = s.in.Close()
		_ = s.out.Close()
	})
	return s.err
}
