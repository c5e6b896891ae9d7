package actors_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
)

// bubble runs one subtest in a bubble of its own.
func bubble(t *testing.T, name string, test func(*testing.T, *actortest.Harness)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, actortest.New(t)) })
	})
}

// receiver makes a behaviour of a function.
type receiver func(msg any)

func (r receiver) Receive(msg any) { r(msg) }

func behave(receive func(self *actors.Self, msg any)) func(*actors.Self) actors.Behaviour {
	return func(self *actors.Self) actors.Behaviour {
		return receiver(func(msg any) { receive(self, msg) })
	}
}

// faults are the ways in which Receive may fail to return.
var faults = map[string]func(){
	"panic":     func() { panic("boom") },
	"nil panic": func() { panic(nil) }, //nolint:govet // the point
	"goexit":    runtime.Goexit,
}

func TestFailedActorIsReportedToItsParentAndThenToTheSupervisor(t *testing.T) {
	for name, fault := range faults {
		bubble(t, name, func(t *testing.T, h *actortest.Harness) {
			failing := h.Spawn("failing", "a", behave(func(_ *actors.Self, _ any) { fault() }))
			failing.Send("anything")
			down := actortest.Next[messages.Down](t, h.Parent)
			assert.Equal(t, failing.Ref(), down.From)
			assert.Equal(t, h.Parent.Handle.Ref(), down.Parent)
			assert.Equal(t, messages.KindInternal, messages.KindOf(down.Reason))
			assert.Equal(t, down, actortest.Next[messages.Down](t, h.Supervisor))
			h.Parent.ExpectNothing(t)
		})
	}
}

func TestNothingBehindAFaultIsLost(t *testing.T) {
	for name, fault := range faults {
		bubble(t, name, func(t *testing.T, h *actortest.Harness) {
			gate := make(chan struct{})
			failing := h.Spawn("failing", "a", behave(func(_ *actors.Self, msg any) {
				if msg == "wait" {
					<-gate // lets one batch collect behind this message
					return
				}
				fault()
			}))
			child := messages.Ref(h.Parent.Handle.Ref())
			reply := messages.NewReplyTo[messages.Status]()
			failing.Send("wait")
			synctest.Wait()
			failing.Send("fail")
			failing.Send(messages.Closed{From: child})
			failing.Send(messages.StatusQuery{Reply: reply})
			close(gate)
			synctest.Wait()
			require.Len(t, reply.Answer(), 1, "an operation behind the fault is refused")
			assert.ErrorIs(t, (<-reply.Answer()).Err, messages.ErrClosing)
			actortest.Next[messages.Down](t, h.Supervisor)
			assert.Equal(t, messages.Closed{From: child}, actortest.Next[messages.Closed](t, h.Supervisor))
		})
	}
}

func TestFailedActorAnswersWhatItHeldAndNothingElseEndsWithIt(t *testing.T) {
	for name, fault := range faults {
		bubble(t, name, func(t *testing.T, h *actortest.Harness) {
			held := &holder{fault: fault}
			failing := h.Spawn("holder", "a", func(*actors.Self) actors.Behaviour { return held })
			other := h.Spawn("other", "b", behave(func(self *actors.Self, msg any) { self.TellParent(msg) }))
			failing.Send("fail")
			synctest.Wait()
			assert.Equal(t, 1, held.refused)
			h.Parent.Take()
			other.Send("alive")
			h.Parent.ExpectExactly(t, "alive")
			failing.Stop()
			<-failing.Done()
		})
	}
}

type holder struct {
	fault   func()
	refused int
}

func (h *holder) Receive(any)     { h.fault() }
func (h *holder) RefuseAll(error) { h.refused++; h.fault() }

func TestBehaviourThatCannotBeMadeTakesNobodyDown(t *testing.T) {
	for name, fault := range faults {
		bubble(t, name, func(t *testing.T, h *actortest.Harness) {
			h.Spawn("failing", "a", func(*actors.Self) actors.Behaviour { fault(); return nil })
			actortest.Next[messages.Down](t, h.Parent)
		})
	}
}

func TestFaultOfTheRootIsToldToTheRuntime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 1)
		sys, err := actors.NewSystem(discard, func(err error) { failed <- err })
		require.NoError(t, err)
		root := sys.SpawnRoot("root", "r", behave(func(*actors.Self, any) { panic("boom") }))
		root.Send("x")
		assert.ErrorContains(t, <-failed, "boom")
		root.Stop()
		<-root.Done()
	})
}

func TestStopEndsAnActorOnceHoweverOftenItIsCalled(t *testing.T) {
	bubble(t, "stop", func(t *testing.T, h *actortest.Harness) {
		a := h.Spawn("a", "a", behave(func(self *actors.Self, msg any) { self.TellParent(msg) }))
		a.Send("before")
		for range 20 {
			go a.Stop()
		}
		<-a.Done()
		a.Send("after")
		h.Parent.ExpectExactly(t, "before")
		h.Supervisor.ExpectExactly(t, messages.Stopped{From: a.Ref(), Parent: h.Parent.Handle.Ref()})
		assert.Nil(t, h.System.Roster().Lookup(a.Ref()))
	})
}

func TestAnswerOfAWorkerFindsItsOwnerOrGoesToUndelivered(t *testing.T) {
	type came struct {
		value int
		err   error
	}
	worker := func(release chan struct{}, undelivered *[]int, fault func()) func(*actors.Self) actors.Behaviour {
		return behave(func(self *actors.Self, msg any) {
			switch msg := msg.(type) {
			case string:
				if msg == "fail" {
					panic("boom")
				}
				actors.Go(self, self.Context(), func(context.Context) (int, error) { <-release; fault(); return 7, nil },
					func(v int, err error) any { return came{v, err} }, func(v int) { *undelivered = append(*undelivered, v) })
			case came:
				self.TellParent(msg)
			}
		})
	}
	none := func() {}
	bubble(t, "delivered", func(t *testing.T, h *actortest.Harness) {
		var undelivered []int
		release := make(chan struct{})
		a := h.Spawn("a", "a", worker(release, &undelivered, none))
		a.Send("go")
		close(release)
		h.Parent.ExpectExactly(t, came{7, nil})
		assert.Empty(t, undelivered)
	})
	for name, fault := range faults {
		bubble(t, "worker's "+name, func(t *testing.T, h *actortest.Harness) {
			var undelivered []int
			release := make(chan struct{})
			a := h.Spawn("a", "a", worker(release, &undelivered, fault))
			a.Send("go")
			close(release)
			assert.Equal(t, messages.KindInternal, messages.KindOf(actortest.Next[came](t, h.Parent).err))
		})
	}
	bubble(t, "sealed", func(t *testing.T, h *actortest.Harness) {
		var undelivered []int
		release := make(chan struct{})
		a := h.Spawn("a", "a", worker(release, &undelivered, none))
		a.Send("go")
		a.Send("fail")
		assert.Equal(t, 1, actortest.Next[messages.Down](t, h.Supervisor).Workers)
		close(release)
		h.Supervisor.ExpectExactly(t, messages.WorkersIn{From: a.Ref()})
		assert.Equal(t, []int{7}, undelivered)
	})
}

func TestAnswerInHandWhenTheActorFailsGoesToUndelivered(t *testing.T) {
	for name, fault := range faults {
		bubble(t, name, func(t *testing.T, h *actortest.Harness) {
			var undelivered []int
			a := h.Spawn("a", "a", behave(func(self *actors.Self, msg any) {
				if msg == "go" {
					actors.Go(self, self.Context(), func(context.Context) (int, error) { return 7, nil },
						func(int, error) any { return "came" }, func(v int) { undelivered = append(undelivered, v) })
					return
				}
				fault()
			}))
			a.Send("go")
			actortest.Next[messages.Down](t, h.Parent)
			assert.Equal(t, []int{7}, undelivered)
		})
	}
}

func TestRosterKnowsWhoIsBelowWhom(t *testing.T) {
	bubble(t, "roster", func(t *testing.T, h *actortest.Harness) {
		var child *actors.Handle
		top := h.Spawn("top", "t", behave(func(self *actors.Self, _ any) {
			child = self.Spawn("child", "with/slash", behave(func(*actors.Self, any) {}))
		}))
		top.Send("spawn")
		synctest.Wait()
		assert.Equal(t, []*actors.Handle{child}, h.System.Roster().Below(top.Ref()))
		assert.Equal(t, []*actors.Handle{child, top}, h.System.Roster().Below(h.Parent.Handle.Ref()))
		assert.NotContains(t, child.ID()[len("child/"):], "/")
	})
}

func TestExpireAndAfterAreMessages(t *testing.T) {
	bubble(t, "timers", func(t *testing.T, h *actortest.Harness) {
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Minute, errors.New("late"))
		defer cancel()
		a := h.Spawn("a", "a", behave(func(self *actors.Self, msg any) {
			if msg == "arm" {
				self.Expire(ctx, "expired")
				self.After(2*time.Minute, "rang")
				assert.True(t, self.Expire(ctx, "called off")())
				return
			}
			self.TellParent(msg)
		}))
		a.Send("arm")
		h.Parent.ExpectNothing(t)
		time.Sleep(time.Minute)
		h.Parent.ExpectExactly(t, "expired")
		time.Sleep(time.Minute)
		h.Parent.ExpectExactly(t, "rang")
	})
}
