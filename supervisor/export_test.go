package supervisor

import (
	"context"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// Machine is what a supervisor under test runs on.
type Machine struct {
	Launcher procscan.Launcher
	Table    procscan.Table
	Grace    procscan.Grace
	Sample   func(context.Context) (map[string]procscan.TreeSample, error)
	Members  func(context.Context, procscan.Mark) (procscan.Look, error) // of a watched build

	// Guard plays a guard process, which says that it watches and lasts until it
	// returns; nil: none is asked for.
	Guard func(ctx context.Context, watching func()) error
	// Leftovers plays a sweep of what dead runtimes left; nil: none is made.
	Leftovers func(context.Context) ([]Leftover, error)
	Reaper    Reaper
}

// Reaper is what a supervisor asks of a procscan.Reaper.
type Reaper = reaper

func (m Machine) keep() keep {
	k := keep{sweepLeftovers: m.Leftovers, reaper: m.Reaper}
	if m.Guard != nil {
		k.leash = newLeash(func(ctx context.Context, tell func(guardStep)) error {
			return m.Guard(ctx, func() { tell(guardStep{pid: 7, watching: true}) })
		})
	}
	return k
}

// The bounds of what keeps watch.
const (
	HoldLimit    = holdLimit
	GuardBackoff = guardBackoffFirst
	GuardProven  = guardProven
	LookInterval = sampleInterval
)

// Child is a permanent child of a supervisor under test.
type Child struct {
	Name     string
	Create   func(*actors.Self) actors.Behaviour
	Observer bool
	at       permanent
}

// Handle is the child's present incarnation.
func (c *Child) Handle() *actors.Handle { return c.at.handle.Load() }

// AbortGrace is that of supervisors under test.
const AbortGrace = 5 * time.Second

// SpawnSupervisor starts a supervisor over made-up children.
func SpawnSupervisor(sys *actors.System, m Machine, fail func(error), children ...*Child) *actors.Handle {
	opts := options{launcher: m.Launcher, table: m.Table, grace: m.Grace, sample: m.Sample, members: m.Members,
		mark: procscan.NewMark(procscan.RuntimeVar), abortGrace: AbortGrace, fail: fail, keep: m.keep()}
	for _, c := range children {
		opts.children = append(opts.children, childSpec{name: c.Name, create: c.Create, at: &c.at, observer: c.Observer})
	}
	return sys.SpawnRoot("supervisor", "main", newSupervisor(opts))
}

// Shutdown and Abort ask a supervisor under test to end.
func Shutdown(ctx context.Context, root *actors.Handle) messages.ReplyTo[struct{}] {
	reply := messages.NewReplyTo[struct{}]()
	root.Send(shutdown{ctx, reply})
	return reply
}

func Abort(root *actors.Handle) messages.ReplyTo[struct{}] {
	reply := messages.NewReplyTo[struct{}]()
	root.Send(abort{reply})
	return reply
}

// On runs the runtime on a made-up machine.
func On(m Machine) Option {
	return func(s *settings) {
		s.launcher, s.table, s.grace, s.sample, s.members = m.Launcher, m.Table, m.Grace, m.Sample, m.Members
	}
}

// FailRoot makes the runtime's supervisor panic: no context bounds this shutdown.
func (rt *Runtime) FailRoot() { rt.supervisor.Send(shutdown{}) }

// FailObserver makes the runtime's observer panic.
func (rt *Runtime) FailObserver() { rt.observer.handle.Load().Send(unrefusable{}) }

// unrefusable is an operation that nobody serves, and that can't be refused either.
type unrefusable struct{ messages.Head }

func (unrefusable) Refuse(error) { panic("unrefusable") }

// WithoutGuardMain runs do as in a program whose main didn't begin with GuardMain.
func WithoutGuardMain(do func()) {
	guardMainRan.Store(false)
	defer guardMainRan.Store(true)
	do()
}

// GuardProcess is what a guard process does, with its input and output.
var GuardProcess = guard
