package repl

import (
	"context"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// onAssignment takes a call. One that crossed the child's end goes back.
func (w *Worker) onAssignment(msg assignment) {
	if !w.machine.In(workerIdle) {
		w.self.TellParent(messages.Settled{From: w.self.Ref(), ID: msg.op.ID, Verdict: messages.Returned})
		return
	}
	w.call = &workerCall{assignment: msg}
	w.call.ctx, w.call.free = context.WithCancel(msg.ctx)
	w.call.callOff = w.self.Expire(msg.ctx, expired{msg.op.ID})
	w.peak = 0
	if msg.decision.Check {
		w.check()
		return
	}
	w.run(*msg.decision.Run)
}

// check has the header command launched; the code goes to it when it is.
func (w *Worker) check() {
	w.header, w.output = &tree{id: messages.TreeID(w.self.System().NextID())}, nil
	w.machine.Become(workerChecking)
	w.adopt(w.header.id, messages.RoleHeader, w.cfg.Header.Spec, w.cfg.Header.Start)
}

func (w *Worker) ask() {
	if w.call == nil {
		return // it was answered meanwhile, and the tree is being swept
	}
	id, pipes, code := w.header.id, w.header.pipes, w.call.op.Code
	actors.Go(w.self, w.call.ctx, func(ctx context.Context) ([]byte, error) {
		return AskHeader(ctx, pipes.Stdin, pipes.Stdout, code)
	}, func(stdout []byte, err error) any { return asked{id, stdout, err} }, nil)
}

func (w *Worker) onAsked(msg asked) {
	switch {
	case !w.ofHeader(msg.tree) || w.call == nil: // answered meanwhile
	case w.call.ctx.Err() != nil:
		w.outOfTime()
	case msg.err != nil:
		w.refuse(messages.Errorf(messages.KindProcess, "the header check failed: %w", msg.err))
	default:
		w.output = &HeaderOutput{Stdout: msg.stdout}
		w.judge()
	}
}

// headerLines is how many of a header command's last lines may hold the first error.
const headerLines = 100

// judge decides once the header command has said everything and has exited.
func (w *Worker) judge() {
	if w.call == nil || w.pending != nil || w.output == nil {
		return
	}
	if w.header.status == nil && len(w.output.Stdout) <= HeaderLimit {
		return // of one that prints more than is read the exit can't be waited for
	}
	out := w.header.finish(*w.output)
	headers := NewHeaders(w.cfg.warm, w.cfg.Header.Allowed, true)
	decision := headers.Learn(w.call.op.Code, out)
	w.self.TellParent(learned{w.call.op.Code, out})
	if decision.Refused != nil {
		w.refuse(&messages.RunError{Err: decision.Refused})
		return
	}
	w.pending = decision.Run
	w.sweep(w.header)
}

// finish adds what is known of the header command beside its standard output.
func (t *tree) finish(out HeaderOutput) HeaderOutput {
	if stderr := t.pipes.Stderr; stderr != nil {
		out.Stderr = stderr.Tail(headerLines)
		out.Beyond = max(0, stderr.Total()-int64(len(out.Stderr)))
	}
	switch {
	case t.status == nil:
	case t.status.Signal != nil:
		out.Signal = t.status.Signal.String()
	default:
		out.Status = t.status.Code
	}
	return out
}

// refuse answers a call whose header check came to nothing, and ends the check.
func (w *Worker) refuse(err error) {
	w.answer(messages.RunReport{}, err)
	w.pending = nil
	w.sweep(w.header)
}

// refuseUnlessPending answers a call whose header command was ended by somebody else.
func (w *Worker) refuseUnlessPending() {
	if w.call != nil && w.pending == nil {
		w.answer(messages.RunReport{}, messages.Errorf(messages.KindProcess, "the header check was ended before it had answered"))
	}
}

// headerGone goes on when nothing is left of the header command.
func (w *Worker) headerGone() {
	w.header = nil
	switch {
	case !w.machine.In(workerChecking):
	case w.pending != nil:
		request := *w.pending
		w.pending = nil
		w.run(request)
	default:
		w.idle()
	}
}

// onExpired ends the wait of a call in its header check. One that runs ends by the
// same context, and brings its own answer.
func (w *Worker) onExpired(id messages.OperationID) {
	if w.machine.In(workerChecking) && w.call != nil && w.call.op.ID == id {
		w.outOfTime()
	}
}

func (w *Worker) outOfTime() {
	w.refuse(overtime(w.call, "while its header was checked; the code was not run"))
}
