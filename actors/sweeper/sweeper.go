package sweeper

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// Between two attempts to end a tree: doubling from the first to the last.
const (
	backoffFirst = 10 * time.Millisecond
	backoffLast  = time.Second
)

// Config is one tree's.
type Config struct {
	Tree     messages.TreeID
	Owner    messages.Ref // who adopted it
	Role     messages.Role
	Key      messages.Key
	Mark     procscan.Mark // the tree's own, found in every process of it
	Launcher procscan.Launcher
	Table    procscan.Table
	Grace    procscan.Grace
	// Child is the leader of a tree whose former Sweeper has failed: the successor
	// goes on with its end, at the step that Child has reached.
	Child procscan.Child
}

// Sweeper owns one process tree.
//
//	Launching | launched                     | Launched -> owner, Supervisor; wait for the leader's exit    | Watching
//	Launching | launched, after Sweep or late | as above; close stdin, retire the group                      | Retiring
//	Launching | launchFailed                 | LaunchFailed -> owner, Supervisor (late: LeaderReaped)       | Reaped
//	Launching | time-out                     | LaunchLate -> owner; from here as after Sweep                | Launching
//	Launching | Sweep                        | remember                                                     | Launching
//	Watching  | leaderExited                 | LeaderDown -> owner                                          | Watching
//	Watching  | leaderExited(err)            | wait for the exit again, after a while                       | Watching
//	Watching  | Sweep                        | close stdin, retire the group                                | Retiring
//	Retiring  | groupRetired(ok)             | sweep                                                        | Sweeping
//	Retiring, Sweeping | groupRetired(err), sweepDone(err) | SweepFailed -> owner; RetrySweep after a back-off | Backoff
//	Backoff   | RetrySweep of this attempt   | the next attempt, at the step that failed                    | Retiring, Sweeping, Reaping
//	Sweeping  | sweepDone(ok)                | ReapLeader -> itself                                         | Reaping
//	Reaping   | ReapLeader                   | reap                                                         | Reaping
//	Reaping   | reaped, and the last worker in | LeaderReaped -> owner, Supervisor; retract                 | Reaped
//	Reaping   | reaped(err)                  | SweepFailed -> owner; RetrySweep after a back-off            | Backoff
//	any       | leaderExited                 | note the status                                              | same
//	any       | Sweep                        | join                                                         | same
//	Watching  | SignalTree                   | signal the leader's group                                    | Watching
//
// Stopped anywhere but in Reaped is a fault of the program: it kills the group, if
// that may still be signalled, and says so.
type Sweeper struct {
	cfg     Config
	self    *actors.Self
	machine *actors.Machine[state]

	child    procscan.Child
	started  time.Time
	wanted   bool // Sweep, or LaunchLate, came before the launch was over
	late     bool
	attempt  int
	failed   int // attempts
	cause    *messages.SweepError
	status   procscan.Status
	reaped   bool
	endWatch context.CancelFunc
}

type state uint8

const (
	launching state = iota
	watching
	retiring
	sweeping
	backoff
	reaping
	done
)

func (s state) String() string {
	return [...]string{"launching", "watching", "retiring", "sweeping", "backoff", "reaping", "reaped"}[s]
}

var legal = actors.Legal[state]{
	launching: {watching, retiring, done},
	watching:  {retiring},
	retiring:  {sweeping, backoff},
	sweeping:  {reaping, backoff},
	backoff:   {retiring, sweeping, reaping},
	reaping:   {done, backoff},
}

type (
	launched     struct{ outcome launchOutcome }
	launchLimit  struct{}
	leaderExited struct {
		status procscan.Status
		err    error
	}
	watchDue     struct{}
	groupRetired struct{ err error }
	sweepDone    struct{ err error }
	reapDone     struct {
		status procscan.Status
		err    error
	}
)

type launchOutcome struct {
	child procscan.Child
	err   error
}

// New makes the Sweeper of one tree. A successor begins with the end at once.
func New(cfg Config) func(*actors.Self) actors.Behaviour {
	return func(self *actors.Self) actors.Behaviour {
		s := &Sweeper{cfg: cfg, self: self, child: cfg.Child, started: time.Now(), endWatch: func() {}}
		s.machine = actors.NewMachine(self, s.first(), legal, s.snapshot)
		s.machine.Publish()
		if cfg.Child != nil {
			s.attempt = 1
			s.step()
		}
		return s
	}
}

// first is the state in which a Sweeper begins.
func (s *Sweeper) first() state {
	if s.child == nil {
		return launching
	}
	return [...]state{procscan.Running: retiring, procscan.Retired: sweeping, procscan.Reaping: reaping}[s.child.Stage()]
}

// Receive dispatches by message; each handler knows the states that it is for.
func (s *Sweeper) Receive(msg any) {
	msg, current := s.machine.Unwrap(msg)
	if !current {
		return
	}
	switch msg := msg.(type) {
	case messages.Launch:
		s.launch(msg)
	case launched:
		s.onLaunched(msg.outcome)
	case launchLimit:
		s.onLate()
	case messages.Sweep:
		s.onSweep()
	case messages.SignalTree:
		s.onSignal(msg.Signal)
	case leaderExited:
		s.onLeaderExited(msg)
	case watchDue:
		s.watchLeader()
	case groupRetired:
		s.onStepDone(msg.err, sweeping)
	case sweepDone:
		s.onStepDone(msg.err, reaping)
	case messages.RetrySweep:
		s.onRetry(msg)
	case messages.ReapLeader:
		s.reap()
	case reapDone:
		s.onReaped(msg)
	case messages.Republish:
		s.machine.Publish()
	default:
		s.machine.Unexpected(msg)
	}
}

// launch starts the leader. The work derives from the Sweeper's own context: a
// tree is shared, and no caller's end may abort it half way.
func (s *Sweeper) launch(msg messages.Launch) {
	launcher, tree, self := s.cfg.Launcher, s.cfg.Tree, s.self
	actors.Go(self, self.Context(), func(ctx context.Context) (procscan.Child, error) {
		return start(ctx, launcher, msg)
	}, func(child procscan.Child, err error) any {
		return launched{launchOutcome{child, err}}
	}, func(child procscan.Child) {
		self.TellSupervisor(messages.LaunchOrphaned{Tree: tree, Child: child})
	})
	if msg.Start.Limit > 0 {
		s.machine.After(msg.Start.Limit, launchLimit{})
	}
}

// start tries the command lines in turn, as long as programs are not found.
func start(ctx context.Context, launcher procscan.Launcher, msg messages.Launch) (procscan.Child, error) {
	spec := msg.Spec
	child, err := launcher.Launch(ctx, spec)
	for _, argv := range msg.Start.Fallbacks {
		if !notFound(err) {
			break
		}
		spec.Argv = argv
		child, err = launcher.Launch(ctx, spec)
	}
	if err != nil {
		return nil, launchError(msg, err)
	}
	return child, nil
}

func notFound(err error) bool { return errors.Is(err, fs.ErrNotExist) }

func launchError(msg messages.Launch, err error) error {
	failure := &messages.LaunchError{Argv0: msg.Spec.Argv[0], Dir: msg.Spec.Dir, Diagnosis: err.Error()}
	var start *procscan.StartError
	if errors.As(err, &start) {
		failure.Diagnosis = start.Diagnosis
	}
	if notFound(err) && msg.Start.Hint != "" {
		failure.Diagnosis += "; " + msg.Start.Hint
	}
	return failure
}

// Stopped notices an end that nobody should have asked for.
func (s *Sweeper) Stopped() {
	if s.machine.In(done) || s.child == nil {
		return
	}
	err := s.child.SignalGroup(os.Kill) // refuses a group that was retired
	s.self.Log().Error("stopped before its tree was reaped", "state", s.machine.State().String(), "kill", err)
}
