package mcp

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Read reads the input and notes its end: a session that is closed reads one, too.
func (a *adapter) Read(p []byte) (int, error) {
	n, err := a.input.Read(p)
	if err != nil {
		a.atEnd.Store(true)
	}
	return n, err
}

// counted is a transport whose requests are counted until they are answered.
type counted struct {
	adapter *adapter
	sdk.Transport
}

func (c counted) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := c.Transport.Connect(ctx)
	return countedConn{c.adapter, conn}, err
}

type countedConn struct {
	adapter *adapter
	sdk.Connection
}

// Read tells the session of the input's end only when the calls that came before have
// had a moment to finish, since the session cancels them then.
func (c countedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
		c.adapter.asked.Add(1)
	}
	if (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) && c.adapter.atEnd.Load() {
		c.adapter.awaitAnswers()
		close(c.adapter.ended)
	}
	return message, err
}

func (c countedConn) Write(ctx context.Context, message jsonrpc.Message) error {
	err := c.Connection.Write(ctx, message)
	if _, ok := message.(*jsonrpc.Response); ok {
		c.adapter.asked.Add(-1)
	}
	return err
}

// awaitAnswers blocks until everything is answered, or has had its time, or the session is
// over. The time of tools at work begins when there is nothing else left.
func (a *adapter) awaitAnswers() {
	began := time.Now()
	for alone := began; a.asked.Load() > 0 && time.Since(began) < lastCallsBegin && time.Since(alone) < lastCalls; {
		select {
		case <-time.After(lastCallsPoll):
		case <-a.over:
			return
		}
		if a.asked.Load() > a.calls.Load() {
			alone = time.Now()
		}
	}
}
