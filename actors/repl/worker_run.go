package repl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// run sends the code. The watch is called off first, and has let go of the client
// before the run takes it.
func (w *Worker) run(request Request) {
	w.machine.Become(workerRunning)
	w.cut()
	client, protocol, watching, memory, members := w.client, w.protocol, w.watching, w.cfg.Memory, w.members
	w.watching = nil
	actors.Go(w.self, w.call.ctx, func(ctx context.Context) (outcome, error) {
		<-watching.done // it was called off
		if watching.err != nil {
			return outcome{}, watching.err // too late for this call: it was never sent
		}
		report, err := protocol.Run(ctx, client, request)
		if err != nil || memory.Limit == 0 {
			return outcome{report: report}, err
		}
		rss, err := memory.Measure(ctx, members)
		if err != nil {
			rss = 0 // the reply is there; the next sample will tell
		}
		return outcome{report, rss}, nil
	}, func(done outcome, err error) any { return ran{done, err} }, nil)
	w.measureLater()
}

// onRan ends a call. What arrives in Closing was answered before.
func (w *Worker) onRan(msg ran) {
	var failed *ExchangeError
	switch {
	case !w.machine.In(workerRunning):
	case msg.err == nil:
		w.succeed(msg.outcome)
	case errors.As(msg.err, &failed) && !failed.Sent:
		w.unsent(failed)
	case ended(msg.err):
		w.await(msg.err)
	default:
		w.broken(w.explain(msg.err))
	}
}

func (w *Worker) succeed(done outcome) {
	w.uses++
	w.note(done.rss)
	report := done.report
	report.Generation, report.MemoryPeak = w.generation, w.peak
	w.answer(report, nil)
	switch memory := w.cfg.Memory; {
	case !w.cfg.Resident || w.closing:
		w.spend(nil)
	case w.repl.status != nil:
		w.spend(w.exit())
	case w.cfg.MaxUses > 0 && w.uses >= w.cfg.MaxUses:
		w.spend(fmt.Errorf("replaced after %d calls", w.uses))
	case memory.near(done.rss):
		w.spend(fmt.Errorf("replaced at %s of memory", mebibytes(done.rss)))
	default:
		w.idle()
	}
}

// unsent handles a run of which the child saw nothing. Where only the call's time was
// over the child is as good as before; else another worker may take the call.
func (w *Worker) unsent(failed *ExchangeError) {
	switch {
	case w.call.ctx.Err() != nil && !w.client.broken:
		w.answer(messages.RunReport{}, overtime(w.call, "before the code was sent"))
		w.idle()
	case messages.KindOf(failed) == messages.KindInvalid: // the code can't be put into a request
		w.answer(messages.RunReport{}, failed.Err)
		w.idle()
	default:
		id := w.call.op.ID
		w.dropCall()
		w.end()
		w.self.TellParent(messages.Settled{From: w.self.Ref(), ID: id, Verdict: messages.Returned, Cause: w.explain(failed)})
	}
}

// idle makes the worker ready for its next call.
func (w *Worker) idle() {
	if w.closing {
		w.spend(nil)
		return
	}
	w.machine.Become(workerIdle)
	if w.watching == nil { // a run had called it off
		w.watch()
	}
	w.self.TellParent(messages.Settled{From: w.self.Ref(), Verdict: messages.Healthy})
}

// answer brings the call's one answer to the Pool.
func (w *Worker) answer(report messages.RunReport, err error) {
	if w.call == nil {
		return
	}
	id := w.call.op.ID
	w.dropCall()
	w.self.TellParent(answered{from: w.self.Ref(), id: id, report: report, err: err})
}

func (w *Worker) dropCall() {
	w.call.callOff()
	w.call.free()
	w.call = nil
}

// overtime is the answer to a call whose context ended.
func overtime(c *workerCall, when string) error {
	cause := context.Cause(c.ctx)
	if messages.KindOf(cause) == messages.KindCancelled {
		return messages.Errorf(messages.KindCancelled, "cancelled %s: %w", when, cause)
	}
	return &messages.TimeoutError{After: time.Since(c.arrived), Progress: when}
}
