package actors_test

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
)

var discard = slog.New(slog.NewTextHandler(io.Discard, nil))

func ask(ctx context.Context, h *actors.Handle) (messages.Status, error) {
	reply := messages.NewReplyTo[messages.Status]()
	return actors.Ask(ctx, h, messages.StatusQuery{Reply: reply}, reply)
}

func TestAskGivesTheFirstAnswer(t *testing.T) {
	bubble(t, "first", func(t *testing.T, h *actortest.Harness) {
		at := time.Now()
		a := h.Spawn("a", "a", behave(func(_ *actors.Self, msg any) {
			query := msg.(messages.StatusQuery)
			query.Reply.Send(messages.Status{At: at})
			query.Refuse(messages.ErrAborted)
			query.Refuse(messages.ErrAborted)
		}))
		status, err := ask(t.Context(), a)
		assert.NoError(t, err)
		assert.Equal(t, at, status.At)
	})
}

func TestAskOfAnActorThatEndsIsRefusedAtOnce(t *testing.T) {
	bubble(t, "ended", func(t *testing.T, h *actortest.Harness) {
		a := h.Spawn("a", "a", behave(func(*actors.Self, any) {}))
		a.Stop()
		began := time.Now()
		_, err := ask(t.Context(), a)
		assert.ErrorIs(t, err, messages.ErrClosing)
		assert.Zero(t, time.Since(began))
	})
}

func TestAskWaitsForTheTypedReasonWhenTheCallersTimeEnds(t *testing.T) {
	held := func(h *actortest.Harness) *actors.Handle {
		return h.Spawn("a", "a", behave(func(*actors.Self, any) {}))
	}
	bubble(t, "typed", func(t *testing.T, h *actortest.Harness) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		busy := &messages.BusyError{Reason: messages.Slot}
		a := h.Spawn("a", "a", behave(func(self *actors.Self, msg any) {
			if op, ok := msg.(messages.Operation); ok {
				self.Expire(ctx, func() { op.Refuse(busy) })
				return
			}
			msg.(func())()
		}))
		_, err := ask(ctx, a)
		assert.Equal(t, error(busy), err)
	})
	bubble(t, "typed after a cancel", func(t *testing.T, h *actortest.Harness) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		left := messages.Errorf(messages.KindCancelled, "left")
		a := h.Spawn("a", "a", behave(func(self *actors.Self, msg any) {
			if op, ok := msg.(messages.Operation); ok {
				self.Expire(ctx, func() {
					time.Sleep(99 * time.Millisecond)
					op.Refuse(left)
				})
				return
			}
			msg.(func())()
		}))
		_, err := ask(ctx, a)
		assert.Equal(t, error(left), err)
	})
	bubble(t, "deadline without an answer", func(t *testing.T, h *actortest.Harness) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		_, err := ask(ctx, held(h))
		assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(err))
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Minute+time.Second, time.Since(began))
	})
	bubble(t, "cancel without an answer", func(t *testing.T, h *actortest.Harness) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		began := time.Now()
		_, err := ask(ctx, held(h))
		assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(err))
		assert.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, time.Minute+100*time.Millisecond, time.Since(began))
	})
}
