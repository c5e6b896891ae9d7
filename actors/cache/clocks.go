package cache

import (
	"context"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// clocks end the wait of one operation for its resource: when its caller's context
// ends, and at a time. Both come as the same message, and only what is true when it
// is handled counts, so that a message that was on its way already does no harm.
type clocks struct {
	timer   *time.Timer
	callOff func() bool
}

func arm(self *actors.Self, ctx context.Context, at time.Time, msg any) clocks {
	return clocks{timer: self.After(time.Until(at), msg), callOff: self.Expire(ctx, msg)}
}

func (c clocks) armed() bool { return c.timer != nil }

func (c clocks) stop() {
	if c.armed() {
		c.timer.Stop()
		c.callOff()
	}
}

// expired says that one of an operation's clocks has run out.
type expired struct{ id messages.OperationID }

// outOfTime is the answer to an operation whose wait has ended: Busy at a deadline,
// whosever it was, since nothing was started; Cancelled after a cancel.
func outOfTime(head *messages.Head, since time.Time, reason messages.BusyReason) error {
	if err := head.Ctx.Err(); err != nil && messages.KindOf(err) == messages.KindCancelled {
		return messages.Errorf(messages.KindCancelled, "the caller left while it waited for %s: %w", head.Key.Root, context.Cause(head.Ctx))
	}
	return &messages.BusyError{Project: head.Key.Root, Waited: time.Since(since), Reason: reason}
}

// mayHaveRun is the answer to an operation that was passed on to an actor that failed.
func mayHaveRun(cause error) error {
	return messages.Errorf(messages.KindOutcomeUnknown, "it may have run: %w", cause)
}
