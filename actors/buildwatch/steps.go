package buildwatch

import (
	"context"
	"errors"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// tailLines is how much of the output a report repeats.
const tailLines = 50

func (w *BuildWatch) onTree(msg any) {
	switch msg := msg.(type) {
	case messages.Launched:
		w.onLaunched(msg)
	case messages.LaunchFailed:
		if w.err == nil {
			w.err = msg.Err
		}
		w.closeOutput()
		w.onGone()
	case messages.LeaderDown:
		w.status, w.ended = msg.Status, time.Now()
		w.sweep()
		w.end()
	case messages.LeaderReaped:
		w.status = msg.Status
		w.onGone()
	}
}

func (w *BuildWatch) onLaunched(msg messages.Launched) {
	w.closeOutput()
	w.launched, w.mark, w.leader = msg.Began, msg.Mark, msg.Identity
	if !w.machine.In(launching) {
		w.passOn() // it is being ended, and may run for a moment
		return
	}
	w.machine.Become(watching)
	if limit := w.cfg.Op.Build.Limit; limit > 0 {
		w.machine.After(limit-time.Since(w.launched), limitOver{})
	}
	w.look()
}

// look is one look at the tree. Its context is the actor's own: a look takes
// milliseconds, and its answer counts only while Watching.
func (w *BuildWatch) look() {
	look, mark := w.cfg.Look, w.mark
	actors.Go(w.self, w.self.Context(), func(ctx context.Context) (procscan.Look, error) { return look(ctx, mark) },
		func(l procscan.Look, err error) any { return looked{l, err} }, nil)
}

func (w *BuildWatch) onLooked(msg looked) {
	switch {
	case !w.machine.In(watching):
		if msg.err == nil {
			w.gate.look(msg.look) // the last times, for the report
		}
		w.finish()
	case msg.err != nil:
		w.fail(messages.Errorf(messages.KindInternal, "cannot monitor the build's processes: %w; it was ended", msg.err))
	default:
		if over := w.gate.look(msg.look); len(over) > 0 {
			w.breach(over)
			return
		}
		w.resume(msg.look)
		w.tell(nil)
		w.machine.Publish()
		w.machine.After(w.gate.next(w.cfg.Op.Build.Interval), lookDue{})
	}
}

// resume sets a build going again that Ctrl-Z has stopped. It has the terminal, and we
// run on: the shell would give its user nothing to continue it by.
func (w *BuildWatch) resume(look procscan.Look) {
	if w.cfg.Op.Build.Stdio != nil && look.Stopped(w.leader) {
		w.self.TellSupervisor(messages.SignalTree{Tree: w.tree, Signal: procscan.Continue})
	}
}

func (w *BuildWatch) onLimit() {
	w.breach([]messages.Breach{{Elapsed: time.Since(w.launched).Seconds(), Limit: w.cfg.Op.Build.Limit.Seconds()}})
}

// breach ends the build for its limits. The caller hears of it first.
func (w *BuildWatch) breach(over []messages.Breach) {
	w.breaches = over
	w.tell(over)
	w.sweep()
	w.end()
}

func (w *BuildWatch) tell(over []messages.Breach) {
	w.cfg.Op.Events.Send(messages.BuildEvent{Running: w.gate.running(), Compiles: w.gate.seen, Breaches: over})
}

// onCancelled ends the build since its caller has left. What a person or a CI system
// interrupts gets the very signal first: some tools tidy up for one and not for another. A
// build that runs already, without our having heard so, gets it when we do.
func (w *BuildWatch) onCancelled() {
	cause := context.Cause(w.cfg.Op.Ctx)
	if errors.As(cause, new(*messages.Interrupt)) && w.machine.In(launching, watching) {
		w.err = cause
		if w.machine.In(watching) {
			w.passOn()
		}
		w.end()
		w.machine.After(w.cfg.Op.Build.Grace, graceOver{})
		return
	}
	w.fail(messages.Errorf(messages.KindOf(cause), "the build was ended since its caller left: %w", cause))
}

// passOn gives the build the signal that interrupted it, if one has.
func (w *BuildWatch) passOn() {
	if interrupt := (*messages.Interrupt)(nil); errors.As(w.err, &interrupt) {
		w.self.TellSupervisor(messages.SignalTree{Tree: w.tree, Signal: interrupt.Signal})
	}
}

// fail ends the build for a reason that isn't a limit. The first reason counts.
func (w *BuildWatch) fail(reason error) {
	if w.machine.In(launching, watching) {
		w.err = reason
	}
	w.sweep()
	w.end()
}

// sweep ends the tree; again, it joins the end that has begun.
func (w *BuildWatch) sweep() { w.self.TellSupervisor(messages.Sweep{Tree: w.tree}) }

func (w *BuildWatch) end() {
	if w.machine.In(launching, watching) {
		w.machine.Become(ending)
		w.machine.After(2*w.cfg.Op.Build.Grace+w.cfg.Patience, overdue{})
	}
}

// onGone notes that nothing is left of the tree.
func (w *BuildWatch) onGone() {
	w.reaped = true
	if output := w.cfg.Op.Output; output != nil {
		_ = output.SetReadDeadline(time.Now().Add(outputGrace)) // a file without deadlines ends by itself
	}
	w.end()
	w.finish()
}

// finish answers, once nothing is left and no worker is out.
func (w *BuildWatch) finish() {
	if !w.machine.In(ending) || !w.reaped || w.self.Workers() > 0 {
		return
	}
	w.machine.Become(done)
	w.self.Retract()
	w.answer()
	w.self.TellParent(messages.Closed{From: w.self.Ref()})
}

// onOverdue answers before the end: a process that waits for a dead file system, for
// example, is just what takes too long, and can't be killed either. A caller who has not yet
// taken all of the output is no reason: it holds up its own answer.
func (w *BuildWatch) onOverdue() {
	if w.reaped && w.draining {
		w.machine.After(outputGrace, overdue{})
		return
	}
	if w.err == nil {
		w.err = &messages.UnreapedError{Trees: []messages.TreeSnapshot{{ActorSnapshot: w.machine.Snapshot(), Tree: w.tree,
			Role: messages.RoleWatch, Key: w.cfg.Op.Key, Leader: w.leader, Remaining: w.left}}}
	}
	w.answer()
}

// answer gives the report, once.
func (w *BuildWatch) answer() {
	if w.answered {
		return
	}
	w.answered = true
	w.callOff()
	w.gate.endAll()
	w.cfg.Op.Reply.Send(messages.BuildOutcome{Report: w.report(), Err: w.err})
	w.self.TellParent(messages.Settled{From: w.self.Ref(), ID: w.cfg.Op.ID, Verdict: messages.Healthy})
}

func (w *BuildWatch) report() messages.BuildReport {
	report := messages.BuildReport{ExitCode: -1, BootID: w.cfg.BootID, Compiles: w.gate.seen,
		// Lists that are empty, not missing: programs read the report.
		Breaches: append([]messages.Breach{}, w.breaches...), Slowest: append([]messages.Compile{}, w.gate.slowest...),
		Samples: append([]messages.Compile{}, w.gate.samples.inOrder()...)}
	if !w.launched.IsZero() {
		report.ExitCode = w.status.ExitCode()
		if w.ended.IsZero() {
			w.ended = time.Now()
		}
		report.Duration = w.ended.Sub(w.launched).Seconds()
	}
	if len(w.breaches) > 0 {
		report.ExitCode = messages.ExitBreach
	}
	if w.tail != nil {
		report.Tail = w.tail.Tail(tailLines)
	}
	return report
}
