package actors_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
)

type lamp uint8

const (
	off lamp = iota
	on
	broken
)

func (l lamp) String() string { return [...]string{"off", "on", "broken"}[l] }

// light is a machine that passes on what its timers say.
type light struct {
	self    *actors.Self
	machine *actors.Machine[lamp]
}

func newLight(self *actors.Self) actors.Behaviour {
	l := &light{self: self}
	l.machine = actors.NewMachine(self, off, actors.Legal[lamp]{off: {on}, on: {off, broken}}, func() messages.Snapshot {
		return messages.SessionSnapshot{ActorSnapshot: l.machine.Snapshot()}
	})
	return l
}

func (l *light) Receive(msg any) {
	msg, current := l.machine.Unwrap(msg)
	if !current {
		return
	}
	switch msg := msg.(type) {
	case lamp:
		l.machine.Become(msg)
	case time.Duration:
		l.machine.After(msg, "rang in "+l.machine.State().String())
	case string:
		l.self.TellParent(msg)
	default:
		l.machine.Unexpected(msg)
	}
}

func TestStepThatTheTableDoesNotAllowEndsTheActor(t *testing.T) {
	bubble(t, "illegal", func(t *testing.T, h *actortest.Harness) {
		a := h.Spawn("light", "a", newLight)
		a.Send(broken)
		assert.ErrorContains(t, actortest.Next[messages.Down](t, h.Parent).Reason, "illegal step off -> broken")
	})
}

func TestEveryStepIsPublishedOnceWithItsTime(t *testing.T) {
	bubble(t, "published", func(t *testing.T, h *actortest.Harness) {
		a := h.Spawn("light", "a", newLight)
		time.Sleep(time.Minute)
		a.Send(on)
		published := actortest.Next[messages.Publish](t, h.Observer)
		assert.Equal(t, messages.ActorSnapshot{Actor: a.ID(), Parent: h.Parent.Handle.ID(), State: "on", Since: time.Now()},
			published.Snapshot.(messages.SessionSnapshot).ActorSnapshot)
		h.Observer.ExpectNothing(t)
	})
}

func TestTimerEndsWithItsState(t *testing.T) {
	bubble(t, "timers", func(t *testing.T, h *actortest.Harness) {
		a := h.Spawn("light", "a", newLight)
		a.Send(time.Minute)
		a.Send(on)
		a.Send(time.Minute)
		a.Send(off)
		a.Send(on) // the same state again is another visit
		time.Sleep(time.Hour)
		h.Parent.ExpectNothing(t)
		a.Send(time.Minute)
		time.Sleep(time.Minute)
		h.Parent.ExpectExactly(t, "rang in on")
	})
}

func TestTimerThatRingsAsItsStateIsLeftIsDropped(t *testing.T) {
	bubble(t, "stale", func(t *testing.T, h *actortest.Harness) {
		var leave func()
		a := h.Spawn("light", "a", func(self *actors.Self) actors.Behaviour {
			l := newLight(self).(*light)
			leave = func() { l.machine.Become(on) }
			return receiver(func(msg any) {
				if msg == "leave slowly" {
					time.Sleep(2 * time.Minute) // the timer rings meanwhile: its message waits behind this one
					leave()
					return
				}
				l.Receive(msg)
			})
		})
		a.Send(time.Minute)
		a.Send("leave slowly")
		time.Sleep(time.Hour)
		h.Parent.ExpectNothing(t)
	})
}

func TestUnexpectedMessageIsDroppedAndAnOperationRefused(t *testing.T) {
	bubble(t, "unexpected", func(t *testing.T, h *actortest.Harness) {
		a := h.Spawn("light", "a", newLight)
		a.Send(42)
		reply := messages.NewReplyTo[messages.Status]()
		a.Send(messages.StatusQuery{Reply: reply})
		h.Parent.ExpectNothing(t)
		require.Len(t, reply.Answer(), 1)
		assert.ErrorIs(t, (<-reply.Answer()).Err, messages.ErrClosing)
	})
}
