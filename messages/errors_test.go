package messages_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// every is one of each error that leaves the runtime, with the kind it must have.
var every = map[messages.Kind][]error{
	messages.KindInvalid: {messages.Invalidf("no"), &messages.ConfigError{Setting: "idle", Value: "x", Want: "a duration"},
		&messages.ImportError{Disallowed: []string{"Evil"}, Allowed: []string{"Mathlib"}}},
	messages.KindBusy: {&messages.BusyError{Reason: messages.Slot}, &messages.BusyError{Reason: messages.CreationBudget},
		&messages.BusyError{Reason: messages.SessionQueue}, &messages.BusyError{Reason: messages.WorkerQueue},
		&messages.BusyError{Reason: messages.Operations}, &messages.BusyError{Reason: messages.Connections}, &messages.BusyError{}},
	messages.KindTimeout: {&messages.TimeoutError{After: time.Second, Progress: "a\nb"}, context.DeadlineExceeded,
		&messages.BreachError{File: "A.lean", Elapsed: 2 * time.Second, Limit: time.Second}, &messages.BreachError{}},
	messages.KindCancelled: {context.Canceled},
	messages.KindClosed:    {messages.ErrClosed, messages.ErrClosing, messages.ErrAborted},
	messages.KindProtocol: {&messages.ProtocolError{Message: "bad\nframe"}, &messages.ProtocolError{Method: "m", Message: "x"},
		&messages.ProtocolError{Method: "m", Code: -32601, Message: "x"}},
	messages.KindProcess: {&messages.LaunchError{Argv0: "gopls", Dir: "/p", Diagnosis: "not on PATH"},
		&messages.ExitError{Identity: procscan.Identity{PID: 7}, Status: "exit status 3", StderrTail: "a\nE-17"}, &messages.ExitError{}},
	messages.KindUnreaped: {&messages.SweepError{Attempt: 1, Err: errors.New("a\nb")}, &messages.UnreapedError{
		Trees: []messages.TreeSnapshot{{Role: messages.RoleLSP}}, Stuck: []string{"x"}}},
	messages.KindInternal: {&messages.PanicError{Actor: "a", Value: "b\nc"}, errors.New("unknown")},
}

func TestEveryErrorHasItsKindAlsoWhenWrapped(t *testing.T) {
	assert.Zero(t, messages.KindOf(nil))
	for kind, errs := range every {
		for _, err := range errs {
			assert.Equal(t, kind, messages.KindOf(err), "%T", err)
			assert.Equal(t, kind, messages.KindOf(fmt.Errorf("more: %w", err)), "%T wrapped", err)
			assert.Equal(t, kind, messages.KindOf(messages.Errorf(kind, "more: %w", err)))
		}
	}
}

func TestEveryErrorIsOneLine(t *testing.T) {
	for _, errs := range every {
		for _, err := range errs {
			assert.NotEmpty(t, err.Error())
			assert.NotContains(t, err.Error(), "\n", "%T", err)
		}
	}
}

func TestErrorKeepsItsCause(t *testing.T) {
	cause := &messages.ExitError{Status: "exit status 3"}
	var exit *messages.ExitError
	assert.ErrorAs(t, messages.Errorf(messages.KindOutcomeUnknown, "may have run: %w", cause), &exit)
	assert.ErrorAs(t, &messages.SweepError{Err: cause}, &exit)
}

func TestClosedMatchesEveryReasonOfItsKindAndNoOther(t *testing.T) {
	assert.ErrorIs(t, messages.ErrClosing, messages.ErrClosed)
	assert.ErrorIs(t, messages.ErrAborted, messages.ErrClosed)
	assert.NotErrorIs(t, messages.ErrClosed, messages.ErrAborted)
	assert.NotErrorIs(t, messages.Invalidf("no"), messages.ErrClosed)
}

func TestOnlyWhatWasNeverBegunIsRetryable(t *testing.T) {
	assert.True(t, messages.Retryable(messages.ErrClosing))
	assert.True(t, messages.Retryable(&messages.BusyError{}))
	for _, err := range []error{nil, messages.ErrAborted, &messages.TimeoutError{}, errors.New("x"),
		messages.Errorf(messages.KindOutcomeUnknown, "may have run")} {
		assert.False(t, messages.Retryable(err), "%v", err)
	}
}

func TestExitErrorCarriesTheLastWords(t *testing.T) {
	err := every[messages.KindProcess][1]
	assert.Equal(t, "process 7 ended (exit status 3): a | E-17", err.Error())
}

func TestKindsAndReasonsKeepTheirNumbers(t *testing.T) {
	assert.Equal(t, []messages.Kind{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, []messages.Kind{messages.KindInvalid, messages.KindBusy,
		messages.KindTimeout, messages.KindCancelled, messages.KindOutcomeUnknown, messages.KindClosed, messages.KindProtocol,
		messages.KindProcess, messages.KindMemory, messages.KindUnreaped, messages.KindInternal}, "they are wire format")
	assert.Equal(t, "kind 99", messages.Kind(99).String())
	for kind := messages.KindInvalid; kind <= messages.KindInternal; kind++ {
		assert.False(t, strings.HasPrefix(kind.String(), "kind "), "%d has a name", kind)
	}
}

func TestFirstAnswerWinsAndNoneBlocks(t *testing.T) {
	reply := messages.NewReplyTo[int]()
	reply.Send(1)
	reply.Send(2)
	reply.Fail(errors.New("late"))
	assert.Equal(t, messages.Result[int]{Value: 1}, <-reply.Answer())
	var nobody messages.ReplyTo[int]
	nobody.Send(1)
}

func TestOnlyANewerLookMakesAFingerprintStale(t *testing.T) {
	now := time.Now()
	old := messages.Fingerprint{Value: "a", Taken: now}
	assert.True(t, messages.Fingerprint{Value: "b", Taken: now.Add(1)}.Supersedes(old))
	assert.False(t, messages.Fingerprint{Value: "b", Taken: now.Add(-1)}.Supersedes(old), "a slow caller's older look")
	assert.False(t, messages.Fingerprint{Value: "a", Taken: now.Add(1)}.Supersedes(old))
}
