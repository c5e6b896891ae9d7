package lsp

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Most servers publish an empty, unversioned list a moment after a document is closed.
func TestTheEchoOfAClosingIsNotTheNewTextsAnswer(t *testing.T) {
	ask(t, CompleteQuiet, pushing, func(a *asking) {
		a.w.on["textDocument/didClose"] = func(context.Context, json.RawMessage) (any, error) {
			a.at(20*time.Millisecond, func() { a.w.publish(aPath, 0, `[]`) })
			return nil, nil
		}
		a.sync(PlanReopen, aPath, 2)
		a.at(1500*time.Millisecond, func() { a.w.publish(aPath, 0, finding("real")) })
		a.expect(2500*time.Millisecond, "real")
	})
}

// On a slow machine the server reads the closing late, and answers what it was asked behind
// it later still.
func TestTheEchoOfASlowServerIsNotTheNewTextsAnswer(t *testing.T) {
	ask(t, CompleteQuiet, pushing, func(a *asking) {
		const late = 1800 * time.Millisecond
		a.w.on["textDocument/didClose"] = func(context.Context, json.RawMessage) (any, error) {
			a.at(late-time.Millisecond, func() { a.w.publish(aPath, 0, `[]`) })
			return nil, nil
		}
		a.w.on[barrierMethod] = answersAfter(late)
		a.sync(PlanReopen, aPath, 2)
		a.at(1500*time.Millisecond, func() { a.w.publish(aPath, 0, finding("real")) })
		a.expect(2500*time.Millisecond, "real")
	})
}

// Some servers leave unknown requests unanswered. That is waited for once.
func TestAServerThatAnswersNoBarrierHoldsUpItsOpeningsOnce(t *testing.T) {
	ask(t, CompleteQuiet, pushing, func(a *asking) {
		version := int32(1)
		for _, c := range []struct{ answers, takes time.Duration }{
			{time.Hour, echoBarrier}, {time.Hour, echoDeaf}, {time.Hour, echoDeaf},
			{150 * time.Millisecond, 150 * time.Millisecond}, {time.Millisecond, echoTime}, {time.Hour, echoBarrier},
		} {
			a.w.on[barrierMethod] = answersAfter(c.answers)
			version++
			began := time.Now()
			a.sync(PlanReopen, aPath, version)
			assert.Equal(a, c.takes, time.Since(began), "version %d", version)
		}
	})
}

func answersAfter(d time.Duration) func(context.Context, json.RawMessage) (any, error) {
	return func(ctx context.Context, _ json.RawMessage) (any, error) {
		select {
		case <-time.After(d):
			return nil, &ResponseError{Code: codeMethodNotFound}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
