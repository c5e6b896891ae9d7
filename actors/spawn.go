package actors

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/anthdm/hollywood/actor"

	"github.com/seed-f6977891/hearth/messages"
)

// System is one runtime's actors: an engine of its own, so that two runtimes in
// one process share nothing.
type System struct {
	engine     *actor.Engine
	runners    runners
	log        *slog.Logger
	roster     Roster
	ids        atomic.Uint64
	supervisor atomic.Pointer[Handle]
	observer   atomic.Pointer[Handle]
	fail       func(error)
}

// NewSystem makes an engine without actors. fail is called, on the failing actor's
// goroutine, when the root itself fails: nobody is left above it to be told.
func NewSystem(log *slog.Logger, fail func(error)) (*System, error) {
	engine, err := actor.NewEngine(actor.NewEngineConfig())
	if err != nil {
		return nil, fmt.Errorf("cannot start the actor engine: %w", err)
	}
	return &System{engine: engine, log: log, fail: fail}, nil
}

// Roster lists the live actors.
func (sys *System) Roster() *Roster { return &sys.roster }

// SetSupervisor names the actor that Adopt, Sweep and every Down go to.
func (sys *System) SetSupervisor(h *Handle) { sys.supervisor.Store(h) }

// SetObserver names the actor that snapshots and events go to.
func (sys *System) SetObserver(h *Handle) { sys.observer.Store(h) }

// NextID gives a number that this runtime never gives again: a generation, a tree
// or an operation.
func (sys *System) NextID() uint64 { return sys.ids.Add(1) }

// Behaviour is an actor's state and its single entry. Receive is called for one
// message at a time and never blocks.
type Behaviour interface {
	Receive(msg any)
}

// Refuser is a Behaviour that holds operations. RefuseAll answers each with the
// reason that is true for it; the guard calls it once, when the actor has failed.
type Refuser interface {
	RefuseAll(cause error)
}

// SpawnRoot starts an actor that has no parent.
func (sys *System) SpawnRoot(kind, name string, create func(*Self) Behaviour) *Handle {
	return sys.spawn(nil, kind, name, create)
}

// Spawn starts a child of this actor and returns at once. create runs on the
// child's own goroutine, so that a child that can't be made takes nobody down: its
// failure arrives as Down. The child's id is kind/name#generation; a slash in name
// is replaced, since hollywood joins kind and id with one.
func (s *Self) Spawn(kind, name string, create func(*Self) Behaviour) *Handle {
	return s.sys.spawn(s.handle, kind, name, create)
}

// Stopper is a Behaviour that wants to know of its end. Stopped is its last call;
// an actor that has failed gets none.
type Stopper interface {
	Stopped()
}

func (sys *System) spawn(parent *Handle, kind, name string, create func(*Self) Behaviour) *Handle {
	id := fmt.Sprintf("%s/%s#%d", kind, strings.ReplaceAll(name, "/", "-"), sys.NextID())
	h := &Handle{pid: actor.NewPID(sys.engine.Address(), id), parent: parent, done: make(chan struct{})}
	if parent != nil {
		h.depth = parent.depth + 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.actor = &process{self: &Self{sys: sys, handle: h, ctx: ctx, cancel: cancel}}
	h.actor.mail.put(begin{create}) // before anybody can find it; Start lets it begin, once it can be found
	sys.roster.enter(h)
	sys.runners.enter()
	sys.engine.SpawnProc(h.actor)
	return h
}

func sortDeepestFirst(handles []*Handle) {
	slices.SortStableFunc(handles, func(a, b *Handle) int { return b.depth - a.depth })
}

// Supervisor is the handle of the root, nil before SetSupervisor.
func (sys *System) Supervisor() *Handle { return sys.supervisor.Load() }

func (sys *System) tellSupervisor(msg any) {
	if h := sys.supervisor.Load(); h != nil {
		h.Send(msg)
	}
}

func (sys *System) tellObserver(msg any) {
	if h := sys.observer.Load(); h != nil {
		h.Send(msg)
	}
}

var _ actor.Processer = (*process)(nil)

// Down is the message that the guard sends of a failed actor.
func (p *process) down(reason error, stack string) messages.Down {
	down := messages.Down{From: p.self.handle.pid, Reason: reason, Stack: stack, Workers: p.self.out}
	if p.self.handle.parent != nil {
		down.Parent = p.self.handle.parent.pid
	}
	return down
}
