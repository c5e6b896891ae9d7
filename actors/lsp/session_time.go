package lsp

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// errOutOfTime is the cause of a call's context whose own Timeout was over.
var errOutOfTime = errors.New("its time was over")

// limit sets the end of a call's time. One timer serves all calls: nearly every call
// is over long before it, and a timer of its own would cost as much as the rest of it.
func (s *Session) limit(c *call, head messages.Head) {
	c.ends, c.reason = c.arrived.Add(head.Timeout), errOutOfTime
	if deadline, ok := head.Ctx.Deadline(); ok && deadline.Before(c.ends) {
		c.ends, c.reason = deadline, context.DeadlineExceeded
	}
	s.alarmAt(c.ends)
}

// alarmAt has the calls looked through at a time, unless that happens earlier anyway.
func (s *Session) alarmAt(when time.Time) {
	if !s.alarm.IsZero() && !when.Before(s.alarm) {
		return
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = s.self.After(time.Until(when), alarm{})
	s.alarm = when
}

func (s *Session) onAlarm() {
	if !s.machine.In(ready) {
		return
	}
	now := time.Now()
	s.alarm = time.Time{}
	for _, c := range s.inOrder() {
		switch {
		case c.ends.IsZero():
		case c.ends.After(now):
			s.alarmAt(c.ends)
		default:
			c.ends = time.Time{}
			c.cancel(c.reason)
			s.onExpired(c)
		}
	}
}

// wait notes that a call stands in the queue. There nobody but the session notices that
// its caller leaves; a call that has begun has a worker that does.
func (s *Session) wait(c *call) {
	c.waited = true
	if c.callOff == nil {
		c.callOff = s.self.Expire(c.ctx, expired{c.id})
	}
}

// release ends the call's clocks, and its workers by them.
func (c *call) release() {
	if c.callOff != nil {
		c.callOff()
	}
	c.cancel(nil)
}

// cancelled tells whether the call's time ended because its caller left.
func (c *call) cancelled() bool {
	cause := context.Cause(c.ctx)
	return errors.Is(c.ctx.Err(), context.Canceled) &&
		!errors.Is(cause, errOutOfTime) && !errors.Is(cause, context.DeadlineExceeded)
}

// onExpired handles the end of a call's time. Its worker, if it has one, is told by the
// call's context and brings the better answer.
func (s *Session) onExpired(c *call) {
	switch c.phase {
	case callQueued:
		s.refuseQueued(c)
	case callBegun:
		s.self.After(workerGrace, overdue{c.id})
	}
}

// onOverdue answers a call whose worker did not in its grace. What the worker still does
// is waited for in answered. A call that has gone back into the queue meanwhile expires
// there.
func (s *Session) onOverdue(c *call) {
	if c.phase == callBegun {
		c.phase = callAnswered
		s.noteCrash(c, nil)
		c.op.Refuse(s.timeoutError(c, nil))
		s.judge(c)
	}
}

func (s *Session) refuseQueued(c *call) {
	s.queue = slices.DeleteFunc(s.queue, func(other *call) bool { return other == c })
	s.machine.Publish()
	c.phase = callAnswered
	c.op.Refuse(s.queueError(c))
	s.forget(c, messages.Healthy, nil)
}

// publishSoon publishes what nobody waits for: calls that come, and all that servers say
// of their progress, together with what else changes in that time.
func (s *Session) publishSoon() {
	if !s.publishing {
		s.publishing = true
		s.self.After(publishDelay, publishDue{})
	}
}

func (s *Session) onPublishDue() {
	s.publishing = false
	s.publish()
}
