package actors_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
)

// The Supervisor sends to whomever it finds in the roster, also while somebody else
// spawns.
func TestActorThatIsFoundInTheRosterCanTakeMessages(t *testing.T) {
	var failed atomic.Int64
	sys, err := actors.NewSystem(discard, func(error) { failed.Add(1) })
	require.NoError(t, err)
	var over atomic.Bool
	var looking sync.WaitGroup
	looking.Go(func() {
		for !over.Load() {
			for _, h := range sys.Roster().Live() {
				h.Send(messages.Republish{})
			}
			runtime.Gosched()
		}
	})
	for range 5_000 {
		h := sys.SpawnRoot("a", "a", behave(func(*actors.Self, any) {}))
		h.Stop()
		<-h.Done()
	}
	over.Store(true)
	looking.Wait()
	assert.Zero(t, failed.Load())
}

// A parent that fails over its child's last word would else leave everybody waiting
// for it: the child says it once.
func TestLastWordInHandWhenTheParentFailsIsPassedOn(t *testing.T) {
	for name, fault := range faults {
		bubble(t, name, func(t *testing.T, h *actortest.Harness) {
			failing := h.Spawn("failing", "a", behave(func(_ *actors.Self, _ any) { fault() }))
			failing.Send(messages.EntryClosed{From: h.Observer.Ref()})
			actortest.Next[messages.Down](t, h.Supervisor)
			h.Supervisor.ExpectExactly(t, messages.EntryClosed{From: h.Observer.Ref()})
		})
	}
}

// unstoppable fails in its last call.
type unstoppable struct {
	receiver
	fault func()
}

func (u unstoppable) Stopped() { u.fault() }

func TestActorThatFailsInItsLastCallHasEnded(t *testing.T) {
	for name, fault := range faults {
		bubble(t, name, func(t *testing.T, h *actortest.Harness) {
			a := h.Spawn("a", "a", func(*actors.Self) actors.Behaviour {
				return unstoppable{func(any) {}, fault}
			})
			a.Stop()
			synctest.Wait()
			select {
			case <-a.Done():
			default:
				assert.Fail(t, "it has not ended")
			}
			assert.Nil(t, h.System.Roster().Lookup(a.Ref()))
		})
	}
}

// What a deferred call of a Receive does while a Goexit runs doesn't undo the Goexit.
func TestPanicOnTheWayOutOfAGoexitLosesNothing(t *testing.T) {
	bubble(t, "both", func(t *testing.T, h *actortest.Harness) {
		a := h.Spawn("a", "a", behave(func(*actors.Self, any) {
			defer func() { panic("on the way out") }()
			runtime.Goexit()
		}))
		a.Send("fail")
		a.Send(messages.Closed{From: h.Observer.Ref()})
		actortest.Next[messages.Down](t, h.Supervisor)
		h.Supervisor.ExpectExactly(t, messages.Closed{From: h.Observer.Ref()})
		a.Stop()
		synctest.Wait()
		assert.Nil(t, h.System.Roster().Lookup(a.Ref()))
	})
}

func TestNothingThatEndedIsInStatus(t *testing.T) {
	snapshot := messages.SessionSnapshot{}
	bubble(t, "in order", func(t *testing.T, h *actortest.Harness) {
		a := h.Spawn("a", "a", behave(func(self *actors.Self, _ any) { self.Publish(snapshot) }))
		a.Send(messages.Republish{}) // an Observer's restart, behind the actor's own Retract
		a.Stop()
		h.Observer.ExpectExactly(t, messages.Publish{Key: a.ID(), Snapshot: snapshot}, messages.Retract{Key: a.ID()})
	})
	bubble(t, "after a failure", func(t *testing.T, h *actortest.Harness) {
		a := h.Spawn("a", "a", behave(func(self *actors.Self, _ any) {
			self.Publish(snapshot)
			panic("boom")
		}))
		a.Send("fail")
		a.Stop()
		h.Observer.ExpectExactly(t, messages.Publish{Key: a.ID(), Snapshot: snapshot}, messages.Retract{Key: a.ID()})
	})
}

// What is passed on to the Supervisor must not come back to it: it would go round
// for ever.
func TestFailedSupervisorDropsWhatOthersPassOn(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sys, err := actors.NewSystem(discard, func(error) {})
				require.NoError(t, err)
				root := sys.SpawnRoot("supervisor", "s", behave(func(*actors.Self, any) { fault() }))
				sys.SetSupervisor(root)
				root.Send(messages.Closed{From: root.Ref()})
				root.Send(messages.Closed{From: root.Ref()})
				synctest.Wait()
				root.Stop()
				root.Send(messages.EntryClosed{From: root.Ref()})
				synctest.Wait()
				assert.Empty(t, sys.Roster().Live())
			})
		})
	}
}
