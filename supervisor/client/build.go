package client

import (
	"context"
	"encoding/json"
	"time"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// buildEndTimeout is how long the daemon may take to end a build whose caller has left.
const buildEndTimeout = 15 * time.Second

// WatchBuild is supervisor.Runtime's, in the daemon: with its environment, interval and
// grace, and without streams of the caller's. It has a connection of its own, so that
// output which onEvent is slow to take holds up nothing else; after 30 seconds the
// daemon takes such a caller for gone, and ends the build.
func (c *Client) WatchBuild(ctx context.Context, build messages.Build, onEvent func(messages.BuildEvent)) (messages.BuildReport, error) {
	report := messages.BuildReport{ExitCode: -1}
	if build.Stdio != nil {
		return report, messages.Invalidf("a build in the daemon can't have the caller's streams; leave Stdio out, or use hearth watch")
	}
	if err := c.enter(); err != nil {
		return report, err
	}
	defer c.calls.Done()
	conn, _, err := c.daemon.ensure(ctx)
	if err != nil {
		return report, err
	}
	defer conn.end(nil)
	callOff, err := c.own(conn)
	if err != nil {
		return report, err
	}
	defer callOff()
	if onEvent == nil {
		onEvent = func(messages.BuildEvent) {}
	}
	err = conn.watchBuild(ctx, wire.BuildParams{Build: build}, &report, onEvent)
	return report, err
}

// own makes Close end a connection that is one call's alone.
func (c *Client) own(conn *connection) (callOff func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, messages.ErrClosed
	}
	c.owned[conn] = struct{}{}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.owned, conn)
	}, nil
}

// watchBuild sends the request and hears of the build until its answer. The reader
// hands events over in the order of the lines, and the answer behind them.
func (c *connection) watchBuild(ctx context.Context, params wire.BuildParams, report *messages.BuildReport, onEvent func(messages.BuildEvent)) error {
	events, left := make(chan messages.BuildEvent), make(chan struct{})
	defer close(left)
	c.listen(func(notification wire.Reply) {
		var event wire.BuildEvent
		if notification.Method != wire.MethodBuildEvent || json.Unmarshal(notification.Params, &event) != nil {
			return // news that only a later build knows
		}
		select {
		case events <- event.BuildEvent:
		case <-left:
		}
	})
	id, answer := c.begin()
	defer c.forget(id)
	line, err := wire.Call(wire.JSONRPC, id, wire.MethodBuild, params)
	if err != nil {
		return err
	}
	if err := c.send(ctx, line); err != nil {
		return err
	}
	gone, late := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case event := <-events:
			onEvent(event)
		case reply := <-answer:
			return accept(reply, report)
		case <-c.done:
			return c.lost(answer, report)
		case <-gone:
			go c.cancel(id)
			gone, late = nil, time.After(buildEndTimeout)
		case <-late:
			return messages.Errorf(messages.KindOutcomeUnknown, "the daemon did not say in time that the build has ended: %w", context.Cause(ctx))
		}
	}
}
