//go:build linux

package soak_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// tap is a connection that many agents share and that keeps count: an answer to what
// wasn't asked, or was answered already, is a breach, and so is a request that has none
// when a connection ends which nobody had a reason to end.
type tap struct {
	conn    *net.UnixConn
	writing sync.Mutex
	done    chan struct{}

	mu       sync.Mutex
	last     uint64
	pending  map[uint64]chan wire.Reply
	breaches []string
}

func openTap(socket string) (*tap, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, err
	}
	t := &tap{conn: conn, done: make(chan struct{}), pending: map[uint64]chan wire.Reply{}}
	go t.read()
	return t, nil
}

func (t *tap) read() {
	defer close(t.done)
	reader := wire.NewReader(t.conn)
	for {
		line, err := reader.Next()
		if err != nil {
			return
		}
		reply, err := wire.ParseReply(line, wire.JSONRPC)
		if err != nil {
			t.breach("no reply: %v", err)
			continue
		}
		t.mu.Lock()
		answer := t.pending[reply.ID]
		delete(t.pending, reply.ID)
		t.mu.Unlock()
		if answer == nil {
			t.breach("a second answer, or one to nothing: %.200s", line)
			continue
		}
		answer <- reply
	}
}

func (t *tap) breach(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.breaches = append(t.breaches, fmt.Sprintf(format, args...))
}

// found gives the breaches so far, once each.
func (t *tap) found() (list []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list, t.breaches = t.breaches, nil
	return list
}

var errTapEnded = messages.Errorf(messages.KindOutcomeUnknown, "the shared connection closed before the answer")

// Call waits for the daemon's answer also when it was cancelled.
func (t *tap) Call(ctx context.Context, method string, params, result any) error {
	answer := make(chan wire.Reply, 1)
	t.mu.Lock()
	t.last++
	id := t.last
	t.pending[id] = answer
	t.mu.Unlock()
	line, err := wire.Call(wire.JSONRPC, id, method, params)
	if err != nil {
		return err
	}
	if err := t.write(line); err != nil {
		return errTapEnded
	}
	select {
	case reply := <-answer:
		return accept(reply, result)
	case <-t.done:
		return errTapEnded
	case <-ctx.Done():
	}
	cancel, err := wire.Notification(wire.MethodCancel, map[string]uint64{"id": id})
	if err == nil {
		err = t.write(cancel)
	}
	if err != nil {
		return errTapEnded
	}
	select {
	case reply := <-answer:
		return accept(reply, result)
	case <-t.done:
		return errTapEnded
	case <-time.After(patience):
		t.breach("a cancelled %s had no answer in %v", method, patience)
		return context.Cause(ctx)
	}
}

func accept(reply wire.Reply, result any) error {
	if reply.Err != nil {
		return reply.Err
	}
	return json.Unmarshal(reply.Result, result)
}

func (t *tap) write(line []byte) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	_, err := t.conn.Write(line)
	return err
}

// Close ends the connection.
func (t *tap) Close() error {
	err := t.conn.Close()
	<-t.done
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
