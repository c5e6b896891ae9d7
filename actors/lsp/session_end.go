package lsp

import (
	"context"
	"errors"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// onNews handles what the server, or the watching of it, told by itself.
func (s *Session) onNews(msg any) {
	switch msg := msg.(type) {
	case news:
		s.onServerNews(s.client.TakeNews())
	case probed:
		s.onProbed(msg)
	case exitKnown:
		s.giveUp()
	case watching:
		s.watcher = msg.watcher
		s.updateWatch() // the server may have wished for more meanwhile
	case filesChanged:
		s.docs.FilesChanged(msg.number, msg.paths, msg.unwatched)
	case watchEnded:
		s.watcher = nil
		if msg.err != nil && s.machine.In(initializing, ready) {
			s.self.Log().Warn("files are not watched", "reason", msg.err)
		}
	}
}

func (s *Session) onServerNews(n News) {
	if n.Registrations && s.machine.In(ready, initializing) {
		s.updateWatch()
	}
	if n.Progress {
		s.publishSoon()
	}
	if n.Down != nil {
		s.breakdown(n.Down)
	}
}

// leaveReady goes to a state of the end. It answers and settles every call: with the
// reason where the server may have seen it, and Returned, unanswered, where it can't
// have; after an abort nothing goes back to be served again.
func (s *Session) leaveReady(next state, reason error) {
	s.queue, s.active = nil, 0
	if s.timer != nil {
		s.timer.Stop()
	}
	if s.unwatch != nil {
		s.unwatch()
	}
	s.machine.Become(next)
	for _, c := range s.inOrder() {
		verdict := messages.Broken
		switch {
		case c.phase == callAnswered:
		case !c.sent && !errors.Is(reason, messages.ErrAborted):
			verdict = messages.Returned
		default:
			c.phase = callAnswered
			c.op.Refuse(reason)
		}
		s.forget(c, verdict, reason)
	}
}

// RefuseAll answers what the session holds when it has failed itself, and calls off the
// workers that would otherwise go on for as long as their callers have time.
func (s *Session) RefuseAll(cause error) {
	for _, c := range s.inOrder() {
		c.release()
		switch {
		case c.phase == callAnswered:
		case c.sent:
			c.op.Refuse(messages.Errorf(messages.KindOutcomeUnknown, "the request may have reached the server: %w", cause))
		default:
			c.op.Refuse(cause)
		}
	}
}

// onTree handles what the tree's Sweeper tells.
func (s *Session) onTree(msg any) {
	switch msg := msg.(type) {
	case messages.LaunchFailed:
		s.onLaunchFailed(msg.Err)
	case messages.LaunchLate:
		if s.machine.In(launching) { // the Sweeper ends it by itself
			s.fail(&messages.TimeoutError{After: s.cfg.Start.Limit, Progress: "starting " + s.cfg.Spec.Argv[0]})
		}
	case messages.LeaderDown:
		s.onLeaderDown(msg)
	case messages.SweepFailed:
		s.step = msg.Cause.Error()
		s.publish()
	case messages.LeaderReaped:
		s.onReaped(msg)
	}
}

func (s *Session) onLaunchFailed(err error) {
	s.reaped = true
	if s.machine.In(launching) {
		s.fail(err)
	}
}

func (s *Session) onLeaderDown(msg messages.LeaderDown) {
	switch s.machine.State() {
	case initializing, ready:
		s.exit = &msg.Status
		if s.cause == nil {
			s.ending(s.exited(msg.Status))
		}
	case shuttingDown:
		s.endNow()
	}
}

// onReaped also hears of trees that somebody else ended: the Supervisor, or another's
// sweep of a mark that this tree inherited.
func (s *Session) onReaped(msg messages.LeaderReaped) {
	if s.reaped {
		return
	}
	s.reaped = true
	switch s.machine.State() {
	case launching, initializing, ready:
		s.fail(s.exited(msg.Status))
	case shuttingDown:
		s.leaveReady(sweeping, nil)
	}
	if s.client == nil {
		return
	}
	client := s.client
	actors.Go(s.self, s.self.Context(), func(ctx context.Context) (struct{}, error) {
		return struct{}{}, client.Close(ctx) // bounded by itself
	}, func(_ struct{}, err error) any { return wireClosed{err} }, nil)
}

// onEnd handles being told to end, and the steps of an orderly end.
func (s *Session) onEnd(msg any) {
	switch msg := msg.(type) {
	case messages.Close:
		s.onClose()
	case messages.Abort:
		s.onAbort()
	case shutdownDone:
		if s.machine.In(shuttingDown) {
			s.step = "waiting for its exit"
			s.machine.After(s.cfg.Exit, exitOver{})
			s.machine.Publish()
		}
	case exitOver:
		s.endNow()
	case wireClosed:
		if msg.err != nil {
			s.self.Log().Debug("closing the connection", "reason", msg.err)
		}
	}
}

func (s *Session) onClose() {
	switch {
	case s.machine.In(launching, initializing):
		s.endNow()
	case s.machine.In(ready) && s.cause != nil: // a broken connection can't be asked
		s.giveUp()
	case s.machine.In(ready):
		s.step = "asking it to shut down"
		s.leaveReady(shuttingDown, messages.ErrClosing) // mostly without calls: it is closed at 0 leases
		client, bound := s.client, s.cfg.Exit
		actors.Go(s.self, s.self.Context(), func(ctx context.Context) (struct{}, error) {
			ctx, stop := context.WithTimeout(ctx, bound)
			defer stop()
			return struct{}{}, client.Shutdown(ctx)
		}, func(_ struct{}, err error) any { return shutdownDone{err} }, nil)
	}
}

func (s *Session) onAbort() {
	switch s.machine.State() {
	case launching, initializing, shuttingDown:
		s.endNow()
	case ready:
		s.cause = messages.ErrAborted
		s.leaveReady(sweeping, s.cause)
		s.sweep()
	}
}

// endNow goes on to the sweep without asking the server.
func (s *Session) endNow() {
	s.leaveReady(sweeping, nil)
	s.sweep()
}

func (s *Session) sweep() { s.self.TellSupervisor(messages.Sweep{Tree: s.tree}) }

// finish says Closed once the tree is reaped and the last worker is in.
func (s *Session) finish() {
	if !s.machine.In(sweeping) || !s.reaped || s.self.Workers() > 0 {
		return
	}
	s.machine.Become(closed)
	s.self.Retract()
	s.self.TellParent(messages.Closed{From: s.self.Ref()})
}
