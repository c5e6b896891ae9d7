package repl

import (
	"context"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// workerConfig is one Worker's.
type workerConfig struct {
	PoolConfig
	warm []string // what Warm gave
}

// Worker owns one REPL child from its launch to its end, and beside it, while a header
// is checked, the tree of the header command.
//
//	Launching | Launched(repl)             | Go(warm up)                                           | Warming
//	Launching | LaunchFailed, LaunchLate   | StartFailed -> Pool                                   | Closing
//	Warming   | warmed(ok)                 | Ready -> Pool; Go(watch)                              | Idle
//	Warming   | warmed(err), over memory   | StartFailed with the reason and stderr's tail; Sweep  | Closing
//	Warming   | LeaderDown                 | warmed gets exitWait, then as warmed(err)             | Warming, Closing
//	Idle      | assignment                 | header known or nothing to check: Go(run); else Adopt(header) | Running, Checking
//	Idle      | LeaderDown, watched(err), over memory | Ending -> Pool; Sweep                      | Closing
//	Checking  | Launched(header)           | Go(ask)                                               | Checking
//	Checking  | asked and LeaderDown(header): the verdict | run: Sweep(header); refused: answer; Sweep(header) | Checking
//	Checking  | LaunchFailed(header), LaunchLate(header), asked(err), expired | answer: nothing was sent; Sweep(header) | Checking
//	Checking  | LeaderReaped(header), LaunchFailed(header) | run: Go(run); answered: Settled Healthy | Running, Idle
//	Checking  | LeaderDown(repl), watched(err), over memory | answer: never sent; Sweep both        | Closing
//	Running   | ran(a whole, valid reply)  | answer; Settled                                       | Idle, or Closing (fresh, limits)
//	Running   | ran(err, nothing sent)     | its time over: answer; else Settled Returned; Sweep   | Idle, Closing
//	Running   | ran(err), over memory      | answer: outcome unknown; Sweep                        | Closing
//	Running   | LeaderDown                 | ran gets exitWait, then as ran(err)                   | Running, Closing
//	Running   | measureDue                 | Go(measure); again after measureInterval              | Running
//	any before Closing | LeaderReaped(repl) | as LeaderDown (Launching: StartFailed), without Sweep | Closing
//	any before Closing | Close             | Running, Checking: after the call; Sweep              | Closing
//	any before Closing | Abort             | answer ErrAborted; Sweep                              | Closing
//	Closing   | all trees reaped (or LaunchFailed) and the last worker in | Closed -> Pool         | Closed
//	Closing, Closed | assignment           | Settled Returned -> Pool                              | same
//
// To answer is to send answered to the Pool; what its child is good for afterwards
// follows as Settled. A child whose output ended has exitWait to bring its exit
// status, which says more; and one that exited may still have its reply in the pipe.
type Worker struct {
	cfg        workerConfig
	self       *actors.Self
	machine    *actors.Machine[workerState]
	generation uint64
	born       time.Time

	repl     tree
	protocol Protocol
	client   *Client
	cut      context.CancelFunc // ends the warm-up, or the watch
	watching *watch             // nil: none, or called off
	members  []procscan.Identity
	uses     int

	call    *workerCall // nil: none, or answered
	header  *tree       // nil: none, or reaped
	output  *HeaderOutput
	pending *Request // to be sent when the header's tree is reaped
	peak    int64    // of the call's memory
	sizing  bool     // a measurement is out
	cause   error    // of an end that still waits for a better reason
	closing bool     // Close came amid a call
}

// tree is a process tree of the Worker.
type tree struct {
	id       messages.TreeID
	identity procscan.Identity
	pipes    messages.Pipes
	status   *procscan.Status // of its leader, once that has exited
	gone     bool
}

// workerCall is the call that the Worker has not answered.
type workerCall struct {
	assignment
	free    context.CancelFunc // ends the call's work
	callOff func() bool
}

type workerState uint8

const (
	workerLaunching workerState = iota
	workerWarming
	workerIdle
	workerChecking
	workerRunning
	workerClosing
	workerClosed
)

func (s workerState) String() string {
	return [...]string{"launching", "warming", "idle", "checking", "running", "closing", "closed"}[s]
}

var workerLegal = actors.Legal[workerState]{
	workerLaunching: {workerWarming, workerClosing},
	workerWarming:   {workerIdle, workerClosing},
	workerIdle:      {workerChecking, workerRunning, workerClosing},
	workerChecking:  {workerIdle, workerRunning, workerClosing},
	workerRunning:   {workerIdle, workerClosing},
	workerClosing:   {workerClosed},
}

type (
	warmed struct {
		members []procscan.Identity
		err     error
	}
	watched struct{ err error }
	ran     struct {
		outcome outcome
		err     error
	}
	asked struct {
		tree   messages.TreeID
		stdout []byte
		err    error
	}
	exitKnown  struct{} // the exit status had its time to arrive
	measureDue struct{}
	measured   struct {
		id     messages.OperationID
		sample procscan.TreeSample
		err    error
	}
)

// outcome is what a run came to, with the memory that its tree had at its end.
type outcome struct {
	report messages.RunReport
	rss    int64
}

func newWorker(cfg workerConfig) func(*actors.Self) actors.Behaviour {
	return func(self *actors.Self) actors.Behaviour {
		w := &Worker{cfg: cfg, self: self, generation: self.System().NextID(), born: time.Now(), cut: func() {}}
		w.repl.id = messages.TreeID(self.System().NextID())
		w.machine = actors.NewMachine(self, workerLaunching, workerLegal, w.snapshot)
		w.machine.Publish()
		w.adopt(w.repl.id, messages.RoleREPL, cfg.Spec, cfg.Start)
		return w
	}
}

func (w *Worker) adopt(id messages.TreeID, role messages.Role, spec procscan.Spec, start messages.Start) {
	start.Limit = w.cfg.Startup
	w.self.TellSupervisor(messages.Adopt{Owner: w.self.Ref(), Tree: id, Role: role, Key: w.cfg.Key, Spec: spec, Start: start})
}

// Receive dispatches by message.
func (w *Worker) Receive(msg any) {
	msg, current := w.machine.Unwrap(msg)
	if !current {
		return
	}
	switch msg := msg.(type) {
	case assignment:
		w.onAssignment(msg)
	case messages.Launched, messages.LaunchFailed, messages.LaunchLate, messages.LeaderDown, messages.LeaderReaped:
		w.onTree(msg)
	case warmed, watched, exitKnown:
		w.onChild(msg)
	case ran:
		w.onRan(msg)
	case asked:
		w.onAsked(msg)
	case expired:
		w.onExpired(msg.id)
	case measureDue, measured, messages.Sampled:
		w.onMemory(msg)
	case messages.Close:
		w.onClose()
	case messages.Abort:
		w.onAbort()
	case messages.SweepFailed: // the tree's own snapshot shows it
	case messages.Republish:
		w.machine.Publish()
	default:
		w.machine.Unexpected(msg)
	}
	w.finish()
}

func (w *Worker) snapshot() messages.Snapshot {
	return messages.WorkerSnapshot{ActorSnapshot: w.machine.Snapshot(), Key: w.cfg.Key, Tree: w.repl.id, Uses: w.uses}
}
