package supervisor

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// permanent is the address of a child that is restarted when it fails. Callers
// load it for each call; only the supervisor swaps it.
type permanent struct {
	handle atomic.Pointer[actors.Handle]
	lost   atomic.Bool // it failed too often
}

// childSpec describes a permanent child.
type childSpec struct {
	name   string
	create func(*actors.Self) actors.Behaviour
	at     *permanent
	// observer: its end does not end the runtime, and it ends last.
	observer bool
}

// options are what the supervisor needs from outside.
type options struct {
	launcher   procscan.Launcher
	table      procscan.Table
	grace      procscan.Grace
	sample     func(context.Context) (map[string]procscan.TreeSample, error)
	mark       procscan.Mark // the runtime's own, in every child
	children   []childSpec   // in their order of start
	abortGrace time.Duration
	limits     []string    // what this platform can't promise
	fail       func(error) // the runtime has failed: later calls are refused with it
	members    func(context.Context, procscan.Mark) (procscan.Look, error)
	bootID     string
	keep
}

// supervisor is the root: it starts and restarts the permanent children, owns the
// census of process trees, and ends everything.
//
//	Running, Stopping | Adopt                        | census row; spawn a Sweeper; Launch             | same
//	Running, Stopping | Adopt, while held            | keep it until the guard is there and the leftovers are gone, or the limit | same
//	otherwise, or the owner is at or below a dead actor | Adopt | LaunchFailed{closing} -> owner, no row | same
//	any      | Launched / LaunchFailed, LeaderReaped | the census learns the Child / row out, stop the Sweeper | same
//	any      | Sweep, SignalTree                     | -> the tree's Sweeper of the day                | same
//	Running  | WatchBuild                            | spawn a BuildWatch; keep a copy until Settled   | same
//	otherwise | WatchBuild                           | refuse                                          | same
//	any      | Down of no Sweeper                    | Abort to its children, Sweep to the trees at or below it | same
//	any      | a dead actor's part is empty          | stop it and what is below, TreesGone -> parent; Permanent: restart, unless everything is ending: then it counts as closed | same
//	Running  | the same, of a permanent child over the intensity | Abort -> caches, build watches; of the Observer: status is lost | Failed, or same
//	any      | Down of a Sweeper                     | a successor over the same Child                 | same
//	Running  | shutdown                              | Close -> caches, build watches                  | Stopping
//	Running, Stopping, Failed | abort, or the shutdown's context ended | Abort -> caches, build watches; abort grace | Aborting
//	Stopping, Aborting | all closed, census and roster empty | stop the Observer; answer nil           | Stopped
//	Aborting | the abort grace is over               | answer *UnreapedError                           | Aborting
type supervisor struct {
	options
	self    *actors.Self
	machine *actors.Machine[state]
	census  census
	keeping

	permanents []*permanentChild
	temporary  map[messages.Ref]*temporary
	dead       map[messages.Ref]*fallen
	waiting    []waiter
	sampling   bool
	restarts   map[string]int
}

// permanentChild is the present incarnation of a childSpec.
type permanentChild struct {
	childSpec
	handle *actors.Handle
	window window
	gone   bool // it has closed, and is not coming back
}

// fallen is an actor that failed and is not cleared away yet.
type fallen struct {
	ref, parent messages.Ref
	workersOut  bool
	trees       int                   // owned at or below it
	open        map[messages.Ref]bool // its children that have not closed
}

// waiter is who asked for the end. callOff ends the watch over a shutdown's context.
type waiter struct {
	reply   messages.ReplyTo[struct{}]
	callOff func() bool
}

type state uint8

const (
	running state = iota
	stopping
	aborting
	failed
	stopped
)

func (s state) String() string {
	return [...]string{"running", "stopping", "aborting", "failed", "stopped"}[s]
}

var legal = actors.Legal[state]{
	running:  {stopping, aborting, failed},
	stopping: {aborting, stopped},
	failed:   {aborting},
	aborting: {stopped},
}

type (
	// shutdown asks for an orderly end, which ctx bounds.
	shutdown struct {
		ctx   context.Context
		reply messages.ReplyTo[struct{}]
	}
	// abort asks for the end now.
	abort struct{ reply messages.ReplyTo[struct{}] }

	// started is answered once the permanent children have their addresses.
	started struct{ reply messages.ReplyTo[struct{}] }

	shutdownOver struct{}
	graceOver    struct{}
	sampleDue    struct{}
	sampled      struct {
		at    time.Time
		trees map[string]procscan.TreeSample
		err   error
	}
	sweptAnyway struct {
		tree   messages.TreeID
		status procscan.Status
		err    error
	}
	sweepAnywayDue struct{ tree messages.TreeID }
)

func newSupervisor(opts options) func(*actors.Self) actors.Behaviour {
	return func(self *actors.Self) actors.Behaviour {
		s := &supervisor{options: opts, self: self, census: newCensus(), temporary: make(map[messages.Ref]*temporary),
			dead: make(map[messages.Ref]*fallen), restarts: make(map[string]int)}
		s.machine = actors.NewMachine(self, running, legal, s.snapshot)
		self.System().SetSupervisor(self.Handle()) // before there is a child that could need it
		s.beginKeeping()
		for _, spec := range opts.children {
			child := &permanentChild{childSpec: spec}
			s.permanents = append(s.permanents, child)
			s.start(child)
		}
		s.machine.Publish()
		return s
	}
}

// start spawns a permanent child and makes it known.
func (s *supervisor) start(child *permanentChild) {
	child.handle = s.self.Spawn(child.name, "main", child.create)
	child.at.handle.Store(child.handle)
	if child.observer {
		s.self.System().SetObserver(child.handle)
	}
}

// Receive dispatches by message.
func (s *supervisor) Receive(msg any) {
	msg, current := s.machine.Unwrap(msg)
	if !current {
		return
	}
	switch msg := msg.(type) {
	case messages.Adopt:
		s.adopt(msg)
	case messages.Launched, messages.LaunchFailed, messages.LeaderReaped, messages.Sweep, messages.SignalTree,
		messages.LaunchOrphaned, sweptAnyway, sweepAnywayDue:
		s.onTree(msg)
	case messages.WatchBuild:
		s.watch(msg)
	case messages.Settled:
		s.onSettled(msg.From)
	case messages.Down:
		s.onDown(msg)
	case messages.WorkersIn:
		s.onWorkersIn(msg.From)
	case messages.Stopped:
		s.noLongerOpen(msg.From, msg.Parent)
		s.settle()
	case messages.Closed:
		s.onClosed(msg.From)
	case messages.EntryClosed:
		s.onClosed(msg.From)
	case shutdown, shutdownOver, abort, graceOver:
		s.onEnd(msg)
	case sampleDue, sampled:
		s.onSample(msg)
	case guardDue, guardTold, guardEnded:
		s.onGuard(msg)
	case holdOver, reaperEnded, reapDue, adoptedDue, adoptedSeen, adoptedEnded, leftoversDue, leftoversSwept, settleDue, cleanedUp:
		s.onKeep(msg)
	case started:
		msg.reply.Send(struct{}{})
	case messages.Republish:
		s.machine.Publish()
	default:
		s.machine.Unexpected(msg)
	}
}

func (s *supervisor) snapshot() messages.Snapshot {
	restarts := make(map[string]int, len(s.restarts))
	for name, n := range s.restarts {
		restarts[name] = n
	}
	return messages.RuntimeSnapshot{ActorSnapshot: s.machine.Snapshot(), Trees: len(s.census.trees),
		Restarts: restarts, Guard: s.guard.state, Leftovers: s.leftovers, Adopted: s.adopted, Limits: s.limits}
}
