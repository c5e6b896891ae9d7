package repl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// exitWait is how long after the end of a child's output its exit status may take to
// be known, or after its exit its last reply to be read. On a slow machine it takes a
// while, and a child that closes its output and lives on is rare.
const exitWait = time.Second

// onTree handles what is told of either tree; that of another is long gone.
func (w *Worker) onTree(msg any) {
	switch msg := msg.(type) {
	case messages.Launched:
		w.onLaunched(msg)
	case messages.LaunchFailed:
		if w.ofREPL(msg.Tree) {
			w.repl.gone = true
			w.launchFailed(msg.Err)
		} else if w.ofHeader(msg.Tree) {
			w.header.gone = true
			w.refuse(msg.Err)
			w.headerGone()
		}
	case messages.LaunchLate:
		late := &messages.TimeoutError{After: w.cfg.Startup, Progress: "starting a process"}
		if w.ofREPL(msg.Tree) {
			w.launchFailed(late)
		} else if w.ofHeader(msg.Tree) {
			w.refuse(late)
		}
	case messages.LeaderDown:
		w.onLeaderDown(msg)
	case messages.LeaderReaped:
		w.onReaped(msg)
	}
}

func (w *Worker) ofREPL(id messages.TreeID) bool { return id == w.repl.id }

func (w *Worker) ofHeader(id messages.TreeID) bool { return w.header != nil && id == w.header.id }

func (w *Worker) onLaunched(msg messages.Launched) {
	if w.ofHeader(msg.Tree) {
		w.header.identity, w.header.pipes = msg.Identity, msg.Pipes
		w.ask()
		return
	}
	if !w.ofREPL(msg.Tree) || !w.machine.In(workerLaunching) {
		return // it is being ended; its pipes are closed when it is reaped
	}
	w.repl.identity, w.repl.pipes = msg.Identity, msg.Pipes
	w.protocol = w.cfg.Protocol(w.cfg.warm)
	w.client = NewClient(msg.Pipes.Stdin, msg.Pipes.Stdout)
	w.machine.Become(workerWarming)
	w.warmUp()
}

// errStartup is the cause of a warm-up's context whose time was over.
var errStartup = errors.New("its time to start was over")

// warmUp derives from the Worker's own context: a caller that waits for it may leave.
// Who is in the group is known before the first call, since a wrapper's child may be
// all that grows, and quick calls could be over before the next sample.
func (w *Worker) warmUp() {
	ctx, cut := context.WithDeadlineCause(w.self.Context(), w.born.Add(w.cfg.Startup), errStartup)
	w.cut = cut
	client, protocol, memory, leader := w.client, w.protocol, w.cfg.Memory, w.repl.identity
	actors.Go(w.self, ctx, func(ctx context.Context) ([]procscan.Identity, error) {
		if err := protocol.Warmup(ctx, client); err != nil || memory.Limit == 0 {
			return nil, err
		}
		sample, err := memory.sample(ctx, leader, nil)
		if err != nil {
			return nil, fmt.Errorf("cannot measure its memory: %w", err)
		}
		return sample.Members, nil
	}, func(members []procscan.Identity, err error) any { return warmed{members, err} }, nil)
}

// onChild handles what the child told, or failed to tell, while it has no call.
func (w *Worker) onChild(msg any) {
	switch msg := msg.(type) {
	case warmed:
		w.onWarmed(msg)
	case watched:
		if msg.err == nil {
			return // the watch was called off
		}
		if w.machine.In(workerIdle, workerChecking) {
			w.broken(w.explain(msg.err))
		}
	case exitKnown:
		w.broken(w.explain(w.cause))
	}
}

func (w *Worker) onWarmed(msg warmed) {
	switch {
	case !w.machine.In(workerWarming):
	case msg.err == nil && w.repl.status != nil:
		w.broken(w.exit())
	case msg.err == nil:
		w.members = msg.members
		w.machine.Become(workerIdle)
		w.watch()
		w.self.TellParent(messages.Ready{From: w.self.Ref()})
	case ended(msg.err):
		w.await(msg.err)
	default:
		w.broken(w.explain(msg.err))
	}
}

// watch reads while nobody asks, so that what an idle child says is its own end and
// not the next caller's answer.
type watch struct {
	done chan struct{} // closed when the client is free again
	err  error         // what was heard
}

func (w *Worker) watch() {
	w.cut()
	ctx, cut := context.WithCancel(w.self.Context())
	client, watching := w.client, &watch{done: make(chan struct{})}
	w.cut, w.watching = cut, watching
	actors.Go(w.self, ctx, func(ctx context.Context) (struct{}, error) {
		defer close(watching.done)
		watching.err = client.Watch(ctx)
		return struct{}{}, watching.err
	}, func(_ struct{}, err error) any { return watched{err} }, nil)
}

func (w *Worker) launchFailed(err error) {
	if !w.machine.In(workerLaunching) {
		return
	}
	w.self.TellParent(messages.StartFailed{From: w.self.Ref(), Err: err})
	w.machine.Become(workerClosing) // one that is late the Sweeper ends by itself
}

// onLeaderDown hears that a leader exited. The header command's exit is its normal
// end. Of a REPL's child a warm-up, or a running call, may still find a reply in the pipe.
func (w *Worker) onLeaderDown(msg messages.LeaderDown) {
	if w.ofHeader(msg.Tree) {
		w.header.status = &msg.Status
		w.judge()
		return
	}
	if !w.ofREPL(msg.Tree) {
		return
	}
	w.repl.status = &msg.Status
	switch {
	case !w.machine.In(workerWarming, workerRunning):
		w.broken(w.exit())
	case w.cause != nil: // the warm-up, or the run, has ended already
		w.broken(w.explain(w.cause))
	default:
		w.await(w.exit())
	}
}

// await gives the better reason for a child's end its time to arrive.
func (w *Worker) await(cause error) {
	if w.cause != nil {
		w.broken(w.explain(cause))
		return
	}
	w.cause = cause
	w.machine.After(exitWait, exitKnown{})
}

// onReaped also hears of trees that somebody else ended: the Supervisor, or another's
// sweep of a mark that this tree inherited.
func (w *Worker) onReaped(msg messages.LeaderReaped) {
	switch {
	case w.ofHeader(msg.Tree):
		w.refuseUnlessPending()
		w.headerGone()
	case w.ofREPL(msg.Tree):
		w.repl.gone, w.repl.status = true, &msg.Status
		if w.machine.In(workerLaunching) {
			w.launchFailed(w.exit())
			return
		}
		w.broken(w.exit())
	}
}
