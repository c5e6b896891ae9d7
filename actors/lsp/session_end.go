package lsp

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// stderrLines is how many of a failed server's last lines an error carries.
const stderrLines = 10

// onNews handles what the server, or the watching of it, told by itself.
func (s *Session) onNews(msg any) {
	switch msg := msg.(type) {
	case news:
		s.onServerNews(s.client.TakeNews())
	case probed:
		s.onProbed(msg.alive)
	case exitKnown:
		s.broken(s.cause)
	case watchEnded:
		s.watcher = nil
		if msg.err != nil && s.machine.In(ready) {
			s.self.Log().Warn("files are no longer watched", "reason", msg.err)
		}
	}
	s.finish()
}

func (s *Session) onServerNews(n News) {
	if n.Down != nil {
		s.breakdown(n.Down)
	}
	if n.Registrations && s.machine.In(ready, initializing) {
		s.updateWatch()
	}
	if n.Progress {
		s.machine.Publish()
	}
}

// breakdown begins the end of a server that failed. A broken connection is mostly the
// first sign of a dead process: its exit status says more, and gets a moment to arrive.
func (s *Session) breakdown(err error) {
	if !s.machine.In(initializing, ready) || s.cause != nil {
		return
	}
	s.cause = err
	var stream *StreamError
	if errors.As(err, &stream) {
		s.machine.After(exitWait, exitKnown{})
		return
	}
	s.broken(err)
}

// broken ends the server for cause: everybody who waits on it is told.
func (s *Session) broken(cause error) {
	if !s.machine.In(initializing, ready) {
		return
	}
	s.cause = s.explain(cause)
	s.tellCause()
	s.machine.Become(sweeping)
	s.endCalls(s.cause)
	s.sweep()
}

func (s *Session) tellCause() {
	s.self.Event(messages.EventBroken, s.cfg.Key, s.cause.Error())
	if s.machine.In(ready) {
		s.self.TellParent(messages.Ending{From: s.self.Ref(), Err: s.cause})
	} else {
		s.self.TellParent(messages.StartFailed{From: s.self.Ref(), Err: s.cause})
	}
}

// explain turns a failure of the client's layer into an error for callers, with what
// the server last wrote to its standard error.
func (s *Session) explain(cause error) error {
	if messages.KindOf(cause) != messages.KindInternal {
		return cause
	}
	text := cause.Error()
	if errors.Is(cause, context.DeadlineExceeded) {
		text = "no answer to initialize within " + s.cfg.Startup.String()
	}
	if tail := s.stderr(); tail != "" {
		text += "; its last words: " + tail
	}
	return &messages.ProtocolError{Message: text}
}

func (s *Session) stderr() string {
	if s.pipes.Stderr == nil {
		return ""
	}
	return s.pipes.Stderr.Tail(stderrLines)
}

// endCalls answers and settles every call: with the reason where the server may have
// seen it, and Returned, unanswered, where it can't have.
func (s *Session) endCalls(cause error) {
	calls := make([]*call, 0, len(s.calls))
	for _, c := range s.calls {
		calls = append(calls, c)
	}
	slices.SortFunc(calls, func(a, b *call) int { return cmp.Compare(a.id, b.id) })
	aborted := errors.Is(cause, messages.ErrAborted)
	for _, c := range calls {
		verdict := messages.Broken
		switch {
		case c.phase == callAnswered:
		case c.phase <= callReading && !aborted:
			verdict = messages.Returned
		default:
			c.op.Refuse(cause)
		}
		s.forget(c, verdict)
	}
	s.queue, s.active = nil, 0
	if s.unwatch != nil {
		s.unwatch()
	}
}

// RefuseAll answers what the session holds when it has failed itself.
func (s *Session) RefuseAll(cause error) {
	for _, c := range s.calls {
		if c.phase == callAnswered {
			continue
		}
		if c.phase <= callReading {
			c.op.Refuse(cause)
			continue
		}
		c.op.Refuse(messages.Errorf(messages.KindOutcomeUnknown, "the request may have reached the server: %w", cause))
	}
}

// onTree handles what the tree's Sweeper tells.
func (s *Session) onTree(msg any) {
	switch msg := msg.(type) {
	case messages.LaunchFailed:
		s.onLaunchFailed(msg.Err)
	case messages.LaunchLate:
		if s.machine.In(launching) {
			s.cause = &messages.TimeoutError{After: s.cfg.Start.Limit, Progress: "starting " + s.cfg.Spec.Argv[0]}
			s.tellCause()
			s.machine.Become(sweeping) // the Sweeper ends it by itself
		}
	case messages.LeaderDown:
		s.onLeaderDown(msg)
	case messages.SweepFailed:
		s.step = msg.Cause.Error()
		s.machine.Publish()
	case messages.LeaderReaped:
		s.onReaped(msg)
	}
	s.finish()
}

func (s *Session) onLaunchFailed(err error) {
	s.reaped = true
	if !s.machine.In(launching) {
		return
	}
	s.cause = err
	s.tellCause()
	s.machine.Become(closed)
	s.self.Retract()
	s.self.TellParent(messages.Closed{From: s.self.Ref()})
}

func (s *Session) onLeaderDown(msg messages.LeaderDown) {
	switch s.machine.State() {
	case initializing, ready:
		s.broken(&messages.ExitError{Identity: s.identity, Status: msg.Status.String(), StderrTail: s.stderr()})
	case shuttingDown:
		s.endNow()
	}
}

// onReaped also hears of trees that somebody else ended: the Supervisor, or another's
// sweep of a mark that this tree inherited.
func (s *Session) onReaped(msg messages.LeaderReaped) {
	s.reaped = true
	if s.machine.In(launching, initializing, ready) {
		s.cause = &messages.ExitError{Identity: s.identity, Status: msg.Status.String(), StderrTail: s.stderr()}
		s.tellCause()
	}
	if !s.machine.In(sweeping) {
		s.machine.Become(sweeping)
		s.endCalls(s.cause)
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
	s.finish()
}

func (s *Session) onClose() {
	switch s.machine.State() {
	case launching, initializing:
		s.endNow()
	case ready:
		s.step = "asking it to shut down"
		s.machine.Become(shuttingDown)
		s.endCalls(messages.ErrClosing) // none is there: it is closed at 0 leases
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
		s.machine.Become(sweeping)
		s.endCalls(messages.ErrAborted)
		s.sweep()
	}
}

// endNow goes on to the sweep without asking the server.
func (s *Session) endNow() {
	if s.machine.In(sweeping, closed) {
		return
	}
	s.machine.Become(sweeping)
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
