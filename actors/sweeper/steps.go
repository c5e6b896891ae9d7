package sweeper

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

func (s *Sweeper) onLaunched(outcome launchOutcome) {
	if !s.machine.In(launching) {
		s.machine.Unexpected(launched{outcome})
		return
	}
	if outcome.err != nil {
		s.onLaunchFailed(outcome.err)
		return
	}
	s.child = outcome.child
	s.tellLaunched()
	s.watchLeader()
	if s.wanted {
		s.begin()
		return
	}
	s.machine.Become(watching)
}

func (s *Sweeper) onLaunchFailed(err error) {
	s.machine.Become(done)
	s.self.Retract()
	if s.late { // the owner was told already that nothing comes of it
		s.tellBoth(messages.LeaderReaped{Tree: s.cfg.Tree})
		return
	}
	s.tellBoth(messages.LaunchFailed{Tree: s.cfg.Tree, Err: err})
}

func (s *Sweeper) tellLaunched() {
	msg := messages.Launched{Tree: s.cfg.Tree, Identity: s.child.Identity(), Mark: s.cfg.Mark, Began: s.started, Pipes: messages.Pipes{
		Stdin: s.child.Stdin(), Stdout: s.child.Stdout(), Stderr: s.child.Stderr()}}
	s.self.Event(messages.EventLaunched, s.cfg.Key, fmt.Sprintf("%s %d", s.cfg.Role, msg.Identity.PID))
	s.self.Send(s.cfg.Owner, msg)
	msg.Child = s.child
	s.self.TellParent(msg)
}

// watchLeader waits for the leader's exit. The wait ends with the Sweeper's own
// context too: a leader that can't be seen to exit must not keep a worker out.
func (s *Sweeper) watchLeader() {
	ctx, cancel := context.WithCancel(s.self.Context())
	s.endWatch = cancel
	child := s.child
	actors.Go(s.self, ctx, child.Exited,
		func(status procscan.Status, err error) any { return leaderExited{status, err} }, nil)
}

func (s *Sweeper) onLate() {
	s.wanted, s.late = true, true
	s.self.Send(s.cfg.Owner, messages.LaunchLate{Tree: s.cfg.Tree})
}

func (s *Sweeper) onSweep() {
	switch s.machine.State() {
	case launching:
		s.wanted = true
	case watching:
		s.begin()
	default: // it joins the end that has begun
	}
}

// onSignal passes a signal on to the leader's group. One that comes too early or too
// late meets nothing, or an end that has begun.
func (s *Sweeper) onSignal(signal os.Signal) {
	if !s.machine.In(watching) {
		return
	}
	if err := s.child.SignalGroup(signal); err != nil {
		s.self.Log().Debug("not signalled", "signal", signal.String(), "reason", err)
	}
}

func (s *Sweeper) onLeaderExited(msg leaderExited) {
	if msg.err == nil {
		s.status = msg.status
	}
	switch {
	case s.machine.In(watching) && msg.err == nil:
		s.self.Send(s.cfg.Owner, messages.LeaderDown{Tree: s.cfg.Tree, Status: msg.status})
	case s.machine.In(watching): // no descriptor was left for it, for example; some owners learn of the end by nothing else
		s.endWatch()
		s.machine.After(backoffLast, watchDue{})
	case s.reaped:
		s.finish()
	}
}

func (s *Sweeper) begin() {
	s.attempt = 1
	s.machine.Become(retiring)
	s.step()
}

// step starts the work of the present state.
func (s *Sweeper) step() {
	child, cfg := s.child, s.cfg
	switch s.machine.State() {
	case retiring:
		actors.Go(s.self, s.self.Context(), func(ctx context.Context) (struct{}, error) {
			// A child that waits at its stdin leaves by itself, and one that holds
			// the other end open can't be kept alive by us.
			_ = child.CloseStdin()
			return struct{}{}, procscan.RetireGroup(ctx, child, cfg.Grace)
		}, func(_ struct{}, err error) any { return groupRetired{err} }, nil)
	case sweeping:
		target := procscan.Target{Mark: cfg.Mark, Leader: child.Identity(), Cage: child.Cage()}
		actors.Go(s.self, s.self.Context(), func(ctx context.Context) (struct{}, error) {
			return struct{}{}, procscan.Sweep(ctx, cfg.Table, target, cfg.Grace)
		}, func(_ struct{}, err error) any { return sweepDone{err} }, nil)
	case reaping:
		s.self.Tell(messages.ReapLeader{})
	}
}

// onStepDone goes on to the next step, or to the back-off from which the failed one
// is tried again. The step that failed is known from the child: a retired group is
// never signalled again.
func (s *Sweeper) onStepDone(err error, next state) {
	if err != nil {
		s.retryLater(err)
		return
	}
	s.machine.Become(next)
	s.step()
}

func (s *Sweeper) retryLater(err error) {
	s.failed++
	s.cause = &messages.SweepError{Attempt: s.attempt, Remaining: remaining(err), Err: err}
	delay := min(backoffFirst<<min(s.attempt-1, 16), backoffLast)
	s.machine.Become(backoff)
	s.machine.After(delay, messages.RetrySweep{Attempt: s.attempt})
	s.self.Event(messages.EventSweepFailed, s.cfg.Key, s.cause.Error())
	s.self.Send(s.cfg.Owner, messages.SweepFailed{Tree: s.cfg.Tree, Cause: s.cause})
}

func remaining(err error) []procscan.Identity {
	var survivors *procscan.SurvivorsError
	if errors.As(err, &survivors) {
		return survivors.Remaining
	}
	return nil
}

func (s *Sweeper) onRetry(msg messages.RetrySweep) {
	if !s.machine.In(backoff) || msg.Attempt != s.attempt {
		return
	}
	s.attempt++
	s.machine.Become(s.first())
	s.step()
}

// reap takes the leader's status: everything else of the tree is proved gone.
func (s *Sweeper) reap() {
	if !s.machine.In(reaping) {
		return
	}
	actors.Go(s.self, s.self.Context(), s.child.Reap,
		func(status procscan.Status, err error) any { return reapDone{status, err} }, nil)
}

func (s *Sweeper) onReaped(msg reapDone) {
	if msg.err != nil {
		s.retryLater(msg.err)
		return
	}
	s.status, s.reaped = msg.status, true
	s.endWatch()
	s.finish()
}

// finish says that the tree is gone, once the last worker is in: the Supervisor
// stops the Sweeper on hearing it.
func (s *Sweeper) finish() {
	if s.self.Workers() > 0 {
		return
	}
	s.machine.Become(done)
	s.self.Retract()
	s.self.Event(messages.EventReaped, s.cfg.Key, fmt.Sprintf("%s %d, %s", s.cfg.Role, s.child.Identity().PID, s.status))
	s.tellBoth(messages.LeaderReaped{Tree: s.cfg.Tree, Status: s.status})
}

func (s *Sweeper) tellBoth(msg any) {
	s.self.Send(s.cfg.Owner, msg)
	s.self.TellParent(msg)
}

func (s *Sweeper) snapshot() messages.Snapshot {
	snapshot := messages.TreeSnapshot{ActorSnapshot: s.machine.Snapshot(), Tree: s.cfg.Tree, Role: s.cfg.Role,
		Key: s.cfg.Key, Started: s.started, Attempts: s.failed}
	if s.child != nil {
		snapshot.Leader = s.child.Identity()
	}
	if s.cause != nil {
		snapshot.Remaining, snapshot.Reason = s.cause.Remaining, s.cause.Error()
	}
	return snapshot
}
