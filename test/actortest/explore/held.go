package explore

import (
	"sync"

	"github.com/seed-f6977891/hearth/actors"
)

// Held is an actor that the search can look into, and hold up. A World embeds it.
type Held struct {
	inner  actors.Behaviour
	deaf   func(msg any) bool
	handle *actors.Handle
}

// hold makes the actor wait, amid its mailbox, until the channel is closed.
type hold chan struct{}

// look makes the actor show itself: nobody else may read its fields.
type look struct {
	at   func()
	done chan struct{}
}

// Wrap makes the actor of create a held one.
func (h *Held) Wrap(create func(*actors.Self) actors.Behaviour) func(*actors.Self) actors.Behaviour {
	return func(self *actors.Self) actors.Behaviour {
		h.inner, h.handle = create(self), self.Handle()
		return h
	}
}

// Receive passes on to the actor.
func (h *Held) Receive(msg any) {
	switch msg := msg.(type) {
	case hold:
		<-msg
	case look:
		msg.at()
		close(msg.done)
	default:
		if h.deaf == nil || !h.deaf(msg) {
			h.inner.Receive(msg)
		}
	}
}

// Deafen keeps from the actor what to says, so that a test sees its search fail.
func (h *Held) Deafen(to func(msg any) bool) { h.Look(func() { h.deaf = to }) }

// Any tells messages of one type, for Deafen.
func Any[T any](msg any) bool {
	_, is := msg.(T)
	return is
}

// Actor is the behaviour; see Look.
func (h *Held) Actor() any { return h.inner }

// Tell sends to the actor.
func (h *Held) Tell(msg any) { h.handle.Send(msg) }

// Look calls at while the actor stands still.
func (h *Held) Look(at func()) {
	done := make(chan struct{})
	h.handle.Send(look{at, done})
	<-done
}

// Hold makes the actor wait until it is released.
func (h *Held) Hold() (release func()) {
	until := make(hold)
	h.handle.Send(until)
	return sync.OnceFunc(func() { close(until) })
}
