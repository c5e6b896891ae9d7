package actors_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/test/actortest"
)

// got is an actor that notes what it is sent.
func got(h *actortest.Harness, name string, into *[]any) *actors.Handle {
	return h.Spawn("got", name, behave(func(_ *actors.Self, msg any) { *into = append(*into, msg) }))
}

func TestForwardedMessage(t *testing.T) {
	bubble(t, "arrives in its order, once the sender's turn is over", func(t *testing.T, h *actortest.Harness) {
		var seen []any
		receiver := got(h, "a", &seen)
		inTurn := -1
		sender := h.Spawn("sender", "a", behave(func(self *actors.Self, _ any) {
			self.Forward(receiver.Ref(), 1)
			self.Send(receiver.Ref(), 2)
			self.Forward(receiver.Ref(), 3)
			inTurn = len(seen)
		}))
		sender.Send("go")
		synctest.Wait()
		assert.Zero(t, inTurn)
		assert.Equal(t, []any{1, 2, 3}, seen)
	})
	bubble(t, "does not wait for what else the sender has to do", func(t *testing.T, h *actortest.Harness) {
		var first, second []any
		one, two := got(h, "a", &first), got(h, "b", &second)
		gate, busy := make(chan struct{}), make(chan struct{})
		sender := h.Spawn("sender", "a", behave(func(self *actors.Self, msg any) {
			switch msg {
			case "collect":
				<-gate // so that the next two are in one batch
			case "forward":
				self.Forward(one.Ref(), 1)
				self.Forward(two.Ref(), 2)
			case "busy":
				<-busy
			}
		}))
		sender.Send("collect")
		synctest.Wait()
		sender.Send("forward")
		sender.Send("busy")
		close(gate)
		synctest.Wait()
		assert.Equal(t, []any{1}, first)
		assert.Equal(t, []any{2}, second)
		close(busy)
	})
	bubble(t, "to nobody, to oneself and to an actor that has ended is harmless", func(t *testing.T, h *actortest.Harness) {
		var seen, own []any
		ended := got(h, "a", &seen)
		ended.Stop()
		synctest.Wait()
		sender := h.Spawn("sender", "a", behave(func(self *actors.Self, msg any) {
			own = append(own, msg)
			if msg == "go" {
				self.Forward(nil, 1)
				self.Forward(ended.Ref(), 2)
				self.Forward(self.Ref(), 3)
			}
		}))
		sender.Send("go")
		synctest.Wait()
		assert.Empty(t, seen)
		assert.Equal(t, []any{"go", 3}, own)
	})
	for name, fault := range faults {
		bubble(t, "arrives although its sender ends in a "+name, func(t *testing.T, h *actortest.Harness) {
			var seen []any
			receiver := got(h, "a", &seen)
			worked := false
			sender := h.Spawn("sender", "a", behave(func(self *actors.Self, _ any) {
				self.Forward(receiver.Ref(), 1)
				actors.Go(self, context.Background(), func(context.Context) (int, error) { worked = true; return 0, nil },
					func(int, error) any { return nil }, nil)
				fault()
			}))
			sender.Send("go")
			synctest.Wait()
			assert.Equal(t, []any{1}, seen)
			assert.True(t, worked)
		})
	}
}

// TestWorkersOutcomeArrivesHoweverItEnded: a worker that returns lets its actor have the
// next turn on its own goroutine, and one that ends that goroutine must not.
func TestWorkersOutcomeArrivesHoweverItEnded(t *testing.T) {
	for name, end := range map[string]func(){"return": func() {}, "panic": func() { panic("boom") }, "goexit": runtime.Goexit} {
		bubble(t, name, func(t *testing.T, h *actortest.Harness) {
			var outcomes []any
			actor := h.Spawn("actor", "a", behave(func(self *actors.Self, msg any) {
				if msg != "go" {
					outcomes = append(outcomes, msg)
					return
				}
				for range 3 {
					actors.Go(self, context.Background(), func(context.Context) (int, error) { end(); return 0, nil },
						func(_ int, err error) any { return err == nil }, nil)
				}
			}))
			actor.Send("go")
			synctest.Wait()
			fine := name == "return"
			assert.Equal(t, []any{fine, fine, fine}, outcomes)
		})
	}
}
