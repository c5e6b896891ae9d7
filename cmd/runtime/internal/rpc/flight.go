package rpc

import (
	"context"
	"sync"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// mostInFlight is how many requests one connection may have in flight; further ones are
// refused as busy. As many as there may be connections, since programs put on one what
// others put on many.
const mostInFlight = 1024

// flight is what a JSON-RPC connection has in flight.
type flight struct {
	ctx   context.Context // of all of it
	abort context.CancelFunc

	mu     sync.Mutex
	count  int
	byID   map[string]context.CancelFunc
	idle   *sync.Cond
	onIdle func() // nil: nobody asked
}

func newFlight(base context.Context) *flight {
	f := &flight{byID: make(map[string]context.CancelFunc)}
	f.ctx, f.abort = context.WithCancel(base)
	f.idle = sync.NewCond(&f.mu)
	return f
}

// begin counts a request in. Its id must not be that of another one in flight: the
// client could not tell their answers apart.
func (f *flight) begin(request wire.Request, cancel context.CancelFunc) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := string(request.ID)
	if _, taken := f.byID[id]; taken {
		return &wire.RequestError{Code: wire.CodeInvalidRequest, Text: "the id is that of a request in flight"}
	}
	if f.count >= mostInFlight {
		return &messages.BusyError{Reason: messages.Operations}
	}
	f.count++
	if request.ID != nil && id != "null" { // no such id can be named again
		f.byID[id] = cancel
	}
	return nil
}

func (f *flight) finish(request wire.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.byID, string(request.ID))
	if f.count--; f.count == 0 {
		f.idle.Broadcast()
		if f.onIdle != nil {
			f.onIdle()
		}
	}
}

// cancel cancels one request. One that was answered meanwhile is not there any more.
func (f *flight) cancel(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if cancel := f.byID[id]; cancel != nil {
		cancel()
	}
}

// whenIdle calls do once nothing is in flight, at once if that is so.
func (f *flight) whenIdle(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.onIdle = do; f.count == 0 {
		do()
	}
}

// wait blocks until nothing is in flight.
func (f *flight) wait() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.count > 0 {
		f.idle.Wait()
	}
}

// take begins a request of JSON-RPC, and gives what is left to be done for it. What needs
// no waiting is answered in place, so that a ping comes through however much is in flight.
func (c *connection) take(request wire.Request) (do func()) {
	if c.flight == nil {
		c.flight = newFlight(withTeller(c.server.base, c.tell))
	}
	switch request.Method {
	case wire.MethodCancel:
		params, err := wire.DecodeCancel(request.Params)
		if err != nil {
			c.write(request.Refuse(err))
			return nil
		}
		c.flight.cancel(string(params.ID))
		c.write(request.Reply(nil)) // of a notification, as it should be, there is none
		return nil
	case wire.MethodPing:
		c.write(c.server.answer(c.flight.ctx, request))
		return nil
	}
	ctx, cancel := context.WithCancel(c.flight.ctx)
	if err := c.flight.begin(request, cancel); err != nil {
		cancel()
		c.write(request.Refuse(err))
		return nil
	}
	return func() {
		defer cancel()
		defer c.flight.finish(request)
		defer c.server.survive(request.Method)
		c.write(c.server.answer(ctx, request))
	}
}
