package repl

import (
	"context"
	"errors"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// stderrLines is how many of a failed child's last lines an error carries.
const stderrLines = 10

// ended tells the errors that a dead child gives, for which its exit status says more.
func ended(err error) bool { return errors.Is(err, ErrExited) || errors.Is(err, ErrClosedStdin) }

// exit is the child's end, with its status.
func (w *Worker) exit() error {
	return &messages.ExitError{Identity: w.repl.identity, Status: w.repl.status.String(), StderrTail: w.stderr()}
}

func (w *Worker) stderr() string {
	if w.repl.pipes.Stderr == nil {
		return ""
	}
	return w.repl.pipes.Stderr.Tail(stderrLines)
}

// explain turns what the client says into an error for callers, with what the child
// last wrote to its standard error.
func (w *Worker) explain(err error) error {
	var exit *messages.ExitError
	var timeout *messages.TimeoutError
	switch {
	case w.call != nil && errors.As(err, &timeout): // the child's own word, with what it had printed
		return &messages.TimeoutError{After: time.Since(w.call.arrived), Partial: timeout.Partial}
	case w.call != nil && w.call.ctx.Err() != nil && errors.Is(err, context.Cause(w.call.ctx)):
		return w.timedOut()
	case errors.Is(err, errStartup):
		return &messages.TimeoutError{After: w.cfg.Startup, Progress: w.withStderr("warming up")}
	case errors.Is(err, ErrProtocol):
		return &messages.ProtocolError{Message: w.withStderr(err.Error())}
	case errors.As(err, &exit), messages.KindOf(err) != messages.KindInternal:
		return err
	case ended(err) && w.repl.status != nil:
		return w.exit()
	case !errors.As(err, new(*messages.PanicError)):
		return messages.Errorf(messages.KindProcess, "%w%s", err, w.withStderr(""))
	}
	return err
}

func (w *Worker) withStderr(text string) string {
	if tail := w.stderr(); tail != "" {
		text += "; its last words: " + tail
	}
	return text
}

// timedOut is the reason of a call that was sent and whose time ended first.
func (w *Worker) timedOut() error {
	cause := context.Cause(w.call.ctx)
	if messages.KindOf(cause) == messages.KindCancelled {
		return messages.Errorf(messages.KindCancelled, "cancelled while it ran: %w", cause)
	}
	return overtime(w.call, "")
}

// broken ends the child for cause: the Pool, and whoever waits, are told.
func (w *Worker) broken(cause error) {
	switch w.machine.State() {
	case workerLaunching, workerWarming:
		w.self.TellParent(messages.StartFailed{From: w.self.Ref(), Err: cause})
		w.end()
	case workerIdle:
		w.self.TellParent(messages.Ending{From: w.self.Ref(), Err: cause})
		w.end()
	case workerChecking:
		w.answer(messages.RunReport{}, cause) // it was never sent
		w.spend(cause)
	case workerRunning:
		w.answer(messages.RunReport{}, &messages.RunError{Sent: true, Err: cause})
		w.spend(cause)
	}
}

// spend ends a child after its call. Without a cause it was simply used up.
func (w *Worker) spend(cause error) {
	w.end()
	w.self.TellParent(messages.Settled{From: w.self.Ref(), Verdict: messages.Broken, Cause: cause})
}

// end begins the end of what the Worker owns.
func (w *Worker) end() {
	w.machine.Become(workerClosing)
	w.cut()
	w.pending = nil
	w.sweep(&w.repl)
	w.sweep(w.header)
}

func (w *Worker) sweep(t *tree) {
	if t != nil && !t.gone {
		w.self.TellSupervisor(messages.Sweep{Tree: t.id})
	}
}

// onClose lets a call end first, however it does.
func (w *Worker) onClose() {
	switch w.machine.State() {
	case workerLaunching, workerWarming, workerIdle:
		w.end()
	case workerChecking:
		w.closing = true
		if w.call == nil {
			w.spend(nil)
		}
	case workerRunning:
		w.closing = true
	}
}

func (w *Worker) onAbort() {
	switch w.machine.State() {
	case workerLaunching, workerWarming, workerIdle:
		w.end()
	case workerChecking:
		w.answer(messages.RunReport{}, messages.ErrAborted)
		w.spend(messages.ErrAborted)
	case workerRunning:
		w.answer(messages.RunReport{}, &messages.RunError{Sent: true, Err: messages.ErrAborted})
		w.spend(messages.ErrAborted)
	}
}

// finish says Closed once both trees are reaped and the last worker is in.
func (w *Worker) finish() {
	if !w.machine.In(workerClosing) || !w.repl.gone || w.header != nil || w.self.Workers() > 0 {
		return
	}
	w.machine.Become(workerClosed)
	w.self.Retract()
	w.self.TellParent(messages.Closed{From: w.self.Ref()})
}
