package actors

import (
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/anthdm/hollywood/actor"

	"github.com/seed-f6977891/hearth/messages"
)

// begin makes the behaviour, on the actor's own goroutine.
type begin struct{ create func(*Self) Behaviour }

// stop ends the actor; only Handle.Stop sends it, and once.
type stop struct{}

// phase is how far a process has come. It only grows.
type phase uint8

const (
	serving phase = iota
	sealed        // it failed: it refuses, passes on, and waits to be stopped
	stopped
)

// process runs one behaviour on hollywood's engine, under guard: whatever Receive
// does, a panic and a Goexit among it, ends in this type and never in the engine.
//
//	serving | Receive returned             |                                              | serving
//	serving | Receive panicked, or Goexit  | Down -> parent, Supervisor; RefuseAll; its message, as below; cancel | sealed
//	sealed  | an operation from a caller   | refuse                                       | sealed
//	sealed  | Closed, EntryClosed          | -> Supervisor                                | sealed
//	sealed  | a worker's answer            | undelivered; the last: WorkersIn -> Supervisor | sealed
//	sealed  | Operation in Lease, others   | drop: the forwarder has the copy             | sealed
//	any     | stop                         | retract, strike out, close done              | stopped
//	stopped | an operation, an answer      | refuse, undelivered                          | stopped
//
// Its mailbox is never closed: what was on its way when the actor ended is still
// handled, as stopped, and so nothing that was sent can vanish in it.
type process struct {
	self      *Self
	mail      mailbox
	behaviour Behaviour
	phase     phase
	batch     []any // what the runner took, and how far it has come with it
	next      int
	inHand    *answer
	after     turn // has the runner next; touched in the turn alone
}

func (p *process) PID() *actor.PID { return p.self.handle.pid }

// Start is called by the engine once the process is in its registry: messages that the
// first turn makes others send to it must find it.
func (p *process) Start() { p.self.sys.runners.start(p) }

// Shutdown does nothing: Handle.Stop ends an actor.
func (p *process) Shutdown() {}

// Invoke is how hollywood's own inbox would hand over a batch; the kit has its own.
func (p *process) Invoke(batch []actor.Envelope) {
	for _, envelope := range batch {
		p.post(envelope.Msg)
	}
}

// Send takes a message that was addressed by a Ref.
func (p *process) Send(_ *actor.PID, msg any, _ *actor.PID) {
	handed, ok := msg.(forwarded)
	if !ok {
		p.post(msg)
		return
	}
	if p.mail.put(handed.msg) {
		handed.by.follow(p)
	}
}

// forwarded is a message on its way from an actor that is in its turn.
type forwarded struct {
	msg any
	by  *process
}

func (p *process) post(msg any) {
	if p.mail.put(msg) {
		p.self.sys.runners.start(p)
	}
}

// follow has t run after this turn, on its runner. That has room for one.
func (p *process) follow(t turn) {
	if p.after != nil {
		p.self.sys.runners.start(t)
		return
	}
	p.after = t
}

// spread lets another runner have what was to follow: this turn goes on.
func (p *process) spread() {
	if t := p.after; t != nil {
		p.after = nil
		p.self.sys.runners.start(t)
	}
}

// run is one turn: it handles what the mailbox holds until it is empty. It goes on
// where a Goexit has cut the turn before off.
func (p *process) run() (next turn) {
	for {
		for p.next < len(p.batch) {
			p.spread()
			msg := p.batch[p.next]
			p.next++
			p.handle(msg)
		}
		spent := p.batch
		p.batch, p.next = nil, 0
		after := p.after
		p.after = nil
		batch, some := p.mail.take(spent)
		if !some {
			return after // another runner may be at work on this from here on
		}
		p.batch, p.after = batch, after
	}
}

// handle outlives one message. A Goexit can't be recovered: its goroutine ends, also
// where a panic on the way out was recovered. The deferred call then lets another
// runner go on with the turn.
func (p *process) handle(msg any) {
	returned := false
	defer func() {
		if !returned {
			p.self.sys.runners.start(p)
		}
	}()
	p.guarded(msg)
	returned = true
}

func (p *process) guarded(msg any) {
	normal := false
	defer func() {
		if normal {
			return
		}
		cause := recover()
		if cause == nil {
			cause = "runtime.Goexit"
		}
		p.failed(msg, cause, string(debug.Stack()))
	}()
	p.dispatch(msg)
	normal = true
}

func (p *process) dispatch(msg any) {
	switch msg := msg.(type) {
	case begin:
		p.behaviour = msg.create(p.self)
	case stop:
		p.stop()
	case *answer:
		p.answered(msg)
	default:
		if p.phase == serving {
			p.behaviour.Receive(msg)
		} else {
			p.afterwards(msg)
		}
	}
}

func (p *process) answered(a *answer) {
	p.self.out--
	if p.phase != serving {
		p.shielded("undelivered", a.undelivered)
		p.lastWorkerIn()
		return
	}
	p.inHand = a
	p.behaviour.Receive(a.msg)
	p.inHand = nil
}

// afterwards handles what reaches an actor that has failed or was stopped.
func (p *process) afterwards(msg any) {
	switch msg := msg.(type) {
	case messages.Operation:
		msg.Refuse(messages.ErrClosing)
	case messages.Closed, messages.EntryClosed:
		if p.self.handle != p.self.sys.supervisor.Load() { // to itself it would go round for ever
			p.self.sys.tellSupervisor(msg)
		}
	}
}

// failed seals the actor over the message that it had in hand. That one is not lost
// either: a child says only once that it has closed.
func (p *process) failed(msg, cause any, stack string) {
	if hand := p.inHand; hand != nil {
		p.inHand = nil
		p.shielded("undelivered", hand.undelivered)
	}
	if p.phase != serving {
		p.self.Log().Error("a failed actor failed again", "cause", fmt.Sprint(cause))
		return
	}
	p.phase = sealed
	reason := &messages.PanicError{Actor: p.self.handle.ID(), Value: fmt.Sprint(cause)}
	p.self.Log().Error("actor failed", "reason", reason, "stack", stack)
	p.tellDown(p.down(reason, stack))
	if refuser, ok := p.behaviour.(Refuser); ok {
		p.shielded("RefuseAll", func() { refuser.RefuseAll(reason) })
	}
	if _, forwarded := msg.(messages.Operation); !forwarded { // its forwarder has the copy
		p.afterwards(msg)
	}
	p.self.cancel()
}

func (p *process) tellDown(down messages.Down) {
	switch parent := p.self.handle.parent; {
	case parent == nil:
		p.self.sys.fail(down.Reason)
	case parent == p.self.sys.supervisor.Load(): // told as the parent, and not twice
		parent.Send(down)
	default:
		parent.Send(down)
		p.self.sys.tellSupervisor(down)
	}
}

// shielded calls what an actor wants to have done at its end. Its state may be what
// broke, so the call is recovered, and has a goroutine of its own: a Goexit in it
// must not cut the turn off.
func (p *process) shielded(name string, call func()) {
	var done sync.WaitGroup
	done.Go(func() {
		normal := false
		defer func() {
			if cause := recover(); !normal {
				p.self.Log().Error("failed at its end", "call", name, "cause", fmt.Sprint(cause))
			}
		}()
		call()
		normal = true
	})
	done.Wait()
}

func (p *process) lastWorkerIn() {
	if p.self.out == 0 {
		p.self.sys.tellSupervisor(messages.WorkersIn{From: p.self.handle.pid})
	}
}

func (p *process) stop() {
	h := p.self.handle
	if p.self.out > 0 {
		p.self.Log().Error("stopped while workers are out", "workers", p.self.out)
	}
	if stopper, ok := p.behaviour.(Stopper); ok && p.phase == serving {
		p.shielded("Stopped", stopper.Stopped)
	}
	p.phase = stopped
	p.self.cancel()
	if p.self.published.Load() { // by a failed actor, or for an Observer that came too late
		p.self.Retract()
	}
	p.self.sys.engine.Registry.Remove(h.pid)
	p.self.sys.roster.strike(h)
	p.self.sys.runners.leave()
	p.self.sys.tellSupervisor(messages.Stopped{From: h.pid, Parent: p.self.Parent()})
	close(h.done)
}
