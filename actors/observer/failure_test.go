package observer_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/observer"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
)

// failing is the observer with a message on which it fails.
type failing struct {
	actors.Behaviour
	fault func()
}

type fault struct{}

func (f failing) Receive(msg any) {
	if msg == (fault{}) {
		f.fault()
	}
	f.Behaviour.Receive(msg)
}

// publisher shows itself whenever it is told to.
type publisher struct{ self *actors.Self }

func (p publisher) Receive(msg any) {
	if msg == (messages.Republish{}) {
		p.self.Publish(messages.SessionSnapshot{ActorSnapshot: p.self.Snapshot("Ready", time.Now())})
	}
}

func TestFailedObserverRefusesStatusAndItsSuccessorIsFilledByRepublish(t *testing.T) {
	for name, fails := range map[string]func(){"panic": func() { panic("boom") }, "goexit": runtime.Goexit} {
		bubble(t, name, func(t *testing.T, h *actortest.Harness, _ *actors.Handle) {
			first := h.Spawn("observer", "runtime", func(self *actors.Self) actors.Behaviour {
				return failing{observer.New()(self), fails}
			})
			h.System.SetObserver(first)
			session := h.Spawn("session", "a", func(self *actors.Self) actors.Behaviour { return publisher{self} })
			session.Send(messages.Republish{})
			first.Send(fault{})
			assert.Equal(t, first.Ref(), actortest.Find[messages.Down](t, h.Supervisor).From)
			began := time.Now()
			_, err := ask(t.Context(), first, "")
			assert.ErrorIs(t, err, messages.ErrClosing)
			assert.Zero(t, time.Since(began))

			first.Stop()
			second := h.Spawn("observer", "runtime", observer.New())
			h.System.SetObserver(second)
			assert.Empty(t, status(t, second, "").Sessions)
			for _, live := range h.System.Roster().Live() {
				live.Send(messages.Republish{}) // to the Observer too
			}
			h.Parent.Take()
			sessions := status(t, second, "").Sessions
			assert.Len(t, sessions, 1)
			assert.Equal(t, session.ID(), sessions[0].Actor)
		})
	}
}

func TestObserverRefusesOperationsThatItCannotAnswer(t *testing.T) {
	bubble(t, "hover", func(t *testing.T, _ *actortest.Harness, o *actors.Handle) {
		reply := messages.NewReplyTo[messages.HoverReport]()
		_, err := actors.Ask(t.Context(), o, messages.Hover{Reply: reply}, reply)
		assert.Equal(t, messages.KindInternal, messages.KindOf(err))
		o.Send("what nobody sends")
		status(t, o, "")
	})
}

func TestStormOfSnapshotsLeavesNothingBehindAndHidesNothing(t *testing.T) {
	bubble(t, "storm", func(t *testing.T, _ *actortest.Harness, o *actors.Handle) {
		const rounds = 100_000
		for i := range rounds {
			publish(o, "s", messages.SessionSnapshot{Active: i})
		}
		assert.Equal(t, []messages.SessionSnapshot{{Active: rounds - 1}}, status(t, o, "").Sessions)
	})
}
