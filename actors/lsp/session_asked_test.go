package lsp_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
)

// asked is one call with what its caller sees.
type asked[T any] struct {
	id    messages.OperationID
	reply messages.ReplyTo[T]
}

// got is the answer that the call has by now, and has once.
func (a asked[T]) got(t testing.TB) (T, error) {
	t.Helper()
	synctest.Wait()
	require.Len(t, a.reply.Answer(), 1, "no answer")
	result := <-a.reply.Answer()
	return result.Value, result.Err
}

func (a asked[T]) err(t testing.TB) error {
	t.Helper()
	_, err := a.got(t)
	require.Error(t, err)
	return err
}

func (a asked[T]) ok(t testing.TB) T {
	t.Helper()
	value, err := a.got(t)
	require.NoError(t, err)
	return value
}

func (a asked[T]) pending(t testing.TB) {
	t.Helper()
	synctest.Wait()
	assert.Empty(t, a.reply.Answer(), "it has an answer")
}

func (b *bench) head(with []func(*messages.Head)) messages.Head {
	head := messages.Head{ID: messages.OperationID(b.System.NextID()), Key: b.cfg.Key, Ctx: b.t.Context(), Timeout: timeout}
	for _, change := range with {
		change(&head)
	}
	return head
}

func within(d time.Duration) func(*messages.Head) { return func(h *messages.Head) { h.Timeout = d } }

func under(ctx context.Context) func(*messages.Head) { return func(h *messages.Head) { h.Ctx = ctx } }

func send[T any](b *bench, id messages.OperationID, op messages.Operation, reply messages.ReplyTo[T]) asked[T] {
	b.session.Send(op)
	synctest.Wait()
	return asked[T]{id, reply}
}

func (b *bench) hover(path string, with ...func(*messages.Head)) asked[messages.HoverReport] {
	reply, head := messages.NewReplyTo[messages.HoverReport](), b.head(with)
	return send(b, head.ID, messages.Hover{Head: head, Target: messages.Target{Path: path, LanguageID: "go"}, Reply: reply}, reply)
}

func (b *bench) diagnose(path string, with ...func(*messages.Head)) asked[messages.DiagnosticsReport] {
	reply, head := messages.NewReplyTo[messages.DiagnosticsReport](), b.head(with)
	return send(b, head.ID, messages.Diagnostics{Head: head, Target: messages.Target{Path: path, LanguageID: "go"}, Reply: reply}, reply)
}

func (b *bench) query(query messages.Query, with ...func(*messages.Head)) asked[messages.QueryReport] {
	query.Reply, query.Head = messages.NewReplyTo[messages.QueryReport](), b.head(with)
	return send(b, query.ID, query, query.Reply)
}
