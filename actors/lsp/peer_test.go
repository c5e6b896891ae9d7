package lsp

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// generous bounds waits for what must come; it is never waited out when all is well.
const generous = 30 * time.Second

// peer is the server's end of a Wire over real pipes, played by the test.
type peer struct {
	t      *testing.T
	in     *os.File // what the client wrote
	out    *os.File // what the client reads
	frames *Stream
	events chan Event
	Wire
	hungUp error // the Wire's reason when it closed its pipes
}

// closing is a pipe whose closing is noticed.
type closing struct {
	io.ReadCloser
	notice func()
}

func (c closing) Close() error {
	c.notice()
	return c.ReadCloser.Close()
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// newPeer connects a Wire that is not yet started.
func newPeer(t *testing.T, stall time.Duration, answers Answers) *peer {
	fromServer, out, err := os.Pipe()
	require.NoError(t, err)
	in, toServer, err := os.Pipe()
	require.NoError(t, err)
	p := &peer{t: t, in: in, out: out, events: make(chan Event, 1<<16)}
	p.frames = source(in, func(line string) { assert.Fail(t, "the client wrote noise", line) })
	p.Wire = NewWire(closing{fromServer, func() { p.hungUp = p.Err() }}, toServer, stall, answers)
	t.Cleanup(func() {
		assert.NoError(t, p.Close(context.Background()))
		_ = in.Close()
		_ = out.Close()
	})
	return p
}

// started is a started peer whose events but Frame are kept.
func started(t *testing.T, answers Answers) *peer {
	p := newPeer(t, generous, answers)
	p.Start(func(e Event) {
		if _, frame := e.(Frame); !frame {
			p.events <- e
		}
	})
	return p
}

// receive is the client's next message; nothing in it where the pipe has ended.
func (p *peer) receive() (m message, raw string) {
	body, _, err := p.frames.ReadFrame(context.Background())
	if err != nil {
		return m, ""
	}
	assert.NoError(p.t, json.Unmarshal(body, &m))
	return m, string(body)
}

func (p *peer) send(body string) { p.raw(frame(body)) }

func (p *peer) raw(bytes string) {
	_, err := io.WriteString(p.out, bytes)
	assert.NoError(p.t, err)
}

func (p *peer) event() Event {
	select {
	case e := <-p.events:
		return e
	case <-time.After(generous):
		require.Fail(p.t, "no event came")
		return nil
	}
}

// answering runs a call while the peer answers it with reply(its id).
func (p *peer) answering(params any, reply func(id string) string) (json.RawMessage, error) {
	type result struct {
		raw json.RawMessage
		err error
	}
	done := make(chan result, 1)
	go func() {
		raw, err := p.Call(context.Background(), "test/call", params)
		done <- result{raw, err}
	}()
	m, _ := p.receive()
	p.raw(reply(string(m.ID)))
	select {
	case r := <-done:
		return r.raw, r.err
	case <-time.After(generous):
		require.Fail(p.t, "the call did not return")
		return nil, nil
	}
}
