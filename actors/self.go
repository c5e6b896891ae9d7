package actors

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// Self is what an actor has of itself: its address, its workers, its timers and
// its children. It is safe to use from a worker, but for Spawn, Go,
// Forward and PublishForward.
type Self struct {
	sys    *System
	handle *Handle
	ctx    context.Context
	cancel context.CancelFunc
	out    int // workers that have not answered; touched only on the actor's goroutine
	// published is set while the Observer may know a snapshot of the actor.
	published atomic.Bool
}

// Ref is the actor's own name.
func (s *Self) Ref() messages.Ref { return s.handle.pid }

// ID is the actor's own id.
func (s *Self) ID() string { return s.handle.ID() }

// Handle is the actor's own address.
func (s *Self) Handle() *Handle { return s.handle }

// System is the runtime's set of actors.
func (s *Self) System() *System { return s.sys }

// Parent is the name of the actor's parent, nil for the root.
func (s *Self) Parent() messages.Ref {
	if s.handle.parent == nil {
		return nil
	}
	return s.handle.parent.pid
}

// Context ends when the actor fails or is stopped. Work that belongs to nobody's
// operation derives from it.
func (s *Self) Context() context.Context { return s.ctx }

// Log is the runtime's logger with the actor's id.
func (s *Self) Log() *slog.Logger { return s.sys.log.With("actor", s.handle.ID()) }

// Workers is how many workers of the actor have not answered yet.
func (s *Self) Workers() int { return s.out }

// Send sends to another actor. It never blocks; to nil it does nothing.
func (s *Self) Send(to messages.Ref, msg any) {
	if to != nil {
		s.sys.engine.Send(to, msg)
	}
}

// Forward sends as Send does, and lets the receiver have its turn when this one is over,
// on the same goroutine: that costs less than to wake another. It is for what a caller
// waits for. It is called only from the actor's own goroutine.
func (s *Self) Forward(to messages.Ref, msg any) {
	if to != nil {
		s.sys.engine.Send(to, forwarded{msg, s.handle.actor})
	}
}

// Tell sends to the actor itself, behind what its mailbox holds already.
func (s *Self) Tell(msg any) { s.handle.Send(msg) }

// TellParent sends to the actor's parent.
func (s *Self) TellParent(msg any) {
	if s.handle.parent != nil {
		s.handle.parent.Send(msg)
	}
}

// TellSupervisor sends to the Supervisor.
func (s *Self) TellSupervisor(msg any) { s.sys.tellSupervisor(msg) }

// soonest is the least that a timer waits. One that is due at once is run by whoever
// sets it, in a synctest bubble beside the bubble's own, in the race detector's one
// context for both, which crashes it (https://go.dev/issue/78156).
const soonest = time.Nanosecond

// After sends msg to the actor itself once d has passed. A timer that belongs to a
// state is [Machine.After]'s.
func (s *Self) After(d time.Duration, msg any) *time.Timer {
	return time.AfterFunc(max(d, soonest), func() { s.handle.Send(msg) })
}

// Expire sends msg to the actor itself when ctx ends. The returned function calls
// it off; it is false where the message is on its way already.
func (s *Self) Expire(ctx context.Context, msg any) (callOff func() bool) {
	return context.AfterFunc(ctx, func() { s.handle.Send(msg) })
}

// Publish hands the actor's snapshot to the Observer.
func (s *Self) Publish(snapshot messages.Snapshot) {
	s.published.Store(true)
	s.sys.tellObserver(messages.Publish{Key: s.handle.ID(), Snapshot: snapshot})
}

// PublishForward is Publish as Forward is Send. Until the actor's turn is over nobody is
// answered by the Observer, so it is for the end of a turn.
func (s *Self) PublishForward(snapshot messages.Snapshot) {
	s.published.Store(true)
	if h := s.sys.observer.Load(); h != nil {
		s.Forward(h.pid, messages.Publish{Key: s.handle.ID(), Snapshot: snapshot})
	}
}

// Retract makes the Observer forget the actor's snapshot.
// What an actor has published is also retracted when it is stopped.
func (s *Self) Retract() {
	s.published.Store(false)
	s.sys.tellObserver(messages.Retract{Key: s.handle.ID()})
}

// Event tells the Observer of something that happened.
func (s *Self) Event(kind messages.EventKind, key messages.Key, detail string) {
	s.sys.tellObserver(messages.Event{At: time.Now(), Kind: kind, Actor: s.handle.ID(), Key: key, Detail: detail})
}

// Snapshot fills the part that every actor's snapshot has.
func (s *Self) Snapshot(state string, since time.Time) messages.ActorSnapshot {
	snapshot := messages.ActorSnapshot{Actor: s.handle.ID(), State: state, Since: since}
	if s.handle.parent != nil {
		snapshot.Parent = s.handle.parent.ID()
	}
	return snapshot
}
