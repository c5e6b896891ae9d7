package buildwatch

import (
	"context"
	"io"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// outputGrace is how long a process that no sweep could find, since it cleared its
// environment, may go on holding the output of a build that has ended.
const outputGrace = time.Second

// Config is one build's.
type Config struct {
	Op     messages.WatchBuild
	Match  Match
	Look   func(context.Context, procscan.Mark) (procscan.Look, error)
	BootID string
	// Patience is how long the end of a tree may take, beside its grace, before the
	// caller is told that it isn't over. It is ended all the same.
	Patience time.Duration
}

// BuildWatch runs one build, looks at its tree and ends it at a limit.
//
//	Launching | Launched                     | arm the whole build's limit; look                        | Watching
//	Launching | LaunchFailed                 | note the reason                                          | Ending
//	Launching | cancelled by an Interrupt    | note the reason; grace                                    | Ending
//	Launching | cancelled, Abort             | note the reason; Sweep (the Sweeper remembers it)         | Ending
//	Watching  | looked(ok), nothing over     | tell; look again after the interval                       | Watching
//	Watching  | looked(ok), the leader is stopped and has the terminal | SIGCONT to its group; as above  | Watching
//	Watching  | looked(ok), files over, limitOver | tell; Sweep                                          | Ending
//	Watching  | looked(err)                  | note the reason; Sweep                                    | Ending
//	Watching  | LeaderDown                   | Sweep                                                     | Ending
//	Watching  | cancelled by an Interrupt    | note the reason; the same signal to its group; grace      | Ending
//	Watching  | cancelled, Abort             | note the reason; Sweep                                    | Ending
//	Launching, Watching | Close              | an admitted build is finished first                       | same
//	Launching, Watching | LeaderReaped       | as LeaderDown, without Sweep                              | Ending
//	Ending    | Launched, after an Interrupt | the same signal to its group                              | Ending
//	Ending    | LeaderDown, graceOver, Abort | Sweep (it joins)                                          | Ending
//	Ending    | overdue                      | report, with what is left; Settled                        | Ending
//	Ending    | overdue, but only for a caller that is slow to take the output | wait on              | Ending
//	Ending    | LaunchFailed, LeaderReaped, and the last worker in | report; Settled, Closed -> Supervisor | Done
//
// Nothing that a look shows after LeaderDown is held against the build.
type BuildWatch struct {
	cfg     Config
	self    *actors.Self
	machine *actors.Machine[state]
	tree    messages.TreeID
	mark    procscan.Mark
	leader  procscan.Identity
	gate    *gate
	callOff func() bool // the wait for the caller's end

	launched time.Time           // zero: it never was
	ended    time.Time           // the leader's end
	reaped   bool                // nothing is left of the tree
	draining bool                // its output is not read to the end
	answered bool                // before the tree's end was proved
	left     []procscan.Identity // what outlived the last attempt to end it
	status   procscan.Status
	breaches []messages.Breach
	err      error          // why it is ended, where that is neither a limit nor its own end
	tail     *procscan.Ring // of its output, where that is ours
}

type state uint8

const (
	launching state = iota
	watching
	ending
	done
)

func (s state) String() string {
	return [...]string{"launching", "watching", "ending", "done"}[s]
}

var legal = actors.Legal[state]{
	launching: {watching, ending},
	watching:  {ending},
	ending:    {done},
}

type (
	looked struct {
		look procscan.Look
		err  error
	}
	lookDue   struct{}
	limitOver struct{}
	cancelled struct{}
	graceOver struct{}
	overdue   struct{}
	drained   struct{}
)

// New makes the watcher of one build, which begins at once.
func New(cfg Config) func(*actors.Self) actors.Behaviour {
	return func(self *actors.Self) actors.Behaviour {
		w := &BuildWatch{cfg: cfg, self: self, tree: messages.TreeID(self.System().NextID()),
			gate: newGate(cfg.Match, cfg.Op.Build.Dir, cfg.Op.Build.PerFile)}
		w.machine = actors.NewMachine(self, launching, legal, w.snapshot)
		w.machine.Publish()
		w.callOff = self.Expire(cfg.Op.Ctx, cancelled{})
		self.TellSupervisor(messages.Adopt{Owner: self.Ref(), Tree: w.tree, Role: messages.RoleWatch, Key: cfg.Op.Key,
			Spec: cfg.Op.Spec, Grace: cfg.Op.Build.Grace})
		w.drain()
		return w
	}
}

// Receive dispatches by message.
func (w *BuildWatch) Receive(msg any) {
	msg, current := w.machine.Unwrap(msg)
	if !current {
		return
	}
	if w.machine.In(done) {
		w.machine.Unexpected(msg)
		return
	}
	switch msg := msg.(type) {
	case messages.Launched, messages.LaunchFailed, messages.LeaderDown, messages.LeaderReaped:
		w.onTree(msg)
	case looked:
		w.onLooked(msg)
	case lookDue:
		w.look()
	case limitOver:
		w.onLimit()
	case cancelled:
		w.onCancelled()
	case graceOver:
		w.sweep()
	case overdue:
		w.onOverdue()
	case drained:
		w.draining = false
		w.finish()
	case messages.Abort:
		w.fail(messages.ErrAborted)
	case messages.Close: // an admitted build is finished first
	case messages.SweepFailed:
		w.left = msg.Cause.Remaining
	case messages.Republish:
		w.machine.Publish()
	default:
		w.machine.Unexpected(msg)
	}
}

// RefuseAll answers the caller when the watcher itself has failed.
func (w *BuildWatch) RefuseAll(cause error) { w.cfg.Op.Refuse(MayHaveRun(cause)) }

// MayHaveRun is the answer to the caller of a build whose watcher is lost.
func MayHaveRun(cause error) error {
	return messages.Errorf(messages.KindOutcomeUnknown, "the build was ended, it may have run in part: %w", cause)
}

// drain hands on what the command prints, where that comes to us.
func (w *BuildWatch) drain() {
	output, events := w.cfg.Op.Output, w.cfg.Op.Events
	if output == nil {
		return
	}
	tail := &procscan.Ring{}
	w.tail, w.draining = tail, true
	actors.Go(w.self, w.self.Context(), func(ctx context.Context) (struct{}, error) {
		copyText(func(text string) { events.SendOutput(ctx, text) }, io.TeeReader(&rest{file: output, left: restMost}, tail))
		return struct{}{}, nil
	}, func(struct{}, error) any { return drained{} }, nil)
}

// closeOutput lets go of the ends that the command has inherited, or never will:
// else its output would have no end.
func (w *BuildWatch) closeOutput() {
	if w.cfg.Op.Output == nil {
		return
	}
	stdio := w.cfg.Op.Spec.Stdio
	_ = stdio.Stdin.Close() // fails only when the caller has closed it: it left
	_ = stdio.Stdout.Close()
}

func (w *BuildWatch) snapshot() messages.Snapshot {
	return messages.BuildSnapshot{ActorSnapshot: w.machine.Snapshot(), Tree: w.tree, Command: commandLine(w.cfg.Op.Build.Argv),
		Running: w.gate.running(), Done: w.gate.ended}
}
