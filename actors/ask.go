package actors

import (
	"context"
	"errors"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// How long Ask goes on waiting for the typed answer once the caller's context has
// ended: whoever holds the operation was told by the same context and answers with
// the reason. After a cancel nobody reads it, so it may be short.
const (
	deadlineGrace = time.Second
	cancelGrace   = 100 * time.Millisecond
)

// Ask sends an operation to an actor and waits for its one answer. It returns
// early, with ErrClosing, when the asked actor has ended without answering, and
// with KindOutcomeUnknown when ctx has ended and no answer came within the grace.
//
// It blocks: it is for callers at the edge, never for an actor.
func Ask[T any](ctx context.Context, to *Handle, op messages.Operation, reply messages.ReplyTo[T]) (T, error) {
	to.Send(op)
	select {
	case result := <-reply.Answer():
		return result.Value, result.Err
	case <-to.Done():
		return lastAnswer(reply, messages.ErrClosing)
	case <-ctx.Done():
	}
	grace := time.NewTimer(graceFor(ctx))
	defer grace.Stop()
	select {
	case result := <-reply.Answer():
		return result.Value, result.Err
	case <-to.Done():
		return lastAnswer(reply, messages.ErrClosing)
	case <-grace.C:
		return lastAnswer(reply, messages.Errorf(messages.KindOutcomeUnknown,
			"no answer in time, it may have run: %w", context.Cause(ctx)))
	}
}

// lastAnswer prefers an answer that arrived together with the end of the wait.
func lastAnswer[T any](reply messages.ReplyTo[T], otherwise error) (T, error) {
	select {
	case result := <-reply.Answer():
		return result.Value, result.Err
	default:
		var none T
		return none, otherwise
	}
}

func graceFor(ctx context.Context) time.Duration {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return deadlineGrace
	}
	return cancelGrace
}
