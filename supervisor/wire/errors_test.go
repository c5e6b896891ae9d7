package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

var someone = procscan.Identity{PID: 12, StartTicks: 1 << 60}

// samples has every type of error that leaves a runtime, with all its fields set.
var samples = []error{
	&messages.BusyError{Project: "/p", Waited: 1500 * time.Millisecond, Reason: messages.Slot},
	&messages.BusyError{Project: "/p", Reason: messages.CreationBudget},
	&messages.BusyError{Project: "/p", Waited: time.Minute, Reason: messages.SessionQueue},
	&messages.BusyError{Waited: time.Nanosecond, Reason: messages.WorkerQueue},
	&messages.BusyError{Reason: messages.Operations},
	&messages.BusyError{Reason: messages.Connections},
	&messages.TimeoutError{After: 30 * time.Second, Progress: "elaborating"},
	&messages.TimeoutError{After: 1, Partial: "some text"},
	&messages.TimeoutError{After: 1, Partial: []messages.Diagnostic{{Message: "m", Severity: messages.SeverityError}}},
	&messages.TimeoutError{After: 1, Partial: messages.DiagnosticsReport{File: "/p/A.lean", Version: 3}},
	&messages.TimeoutError{After: 1, Partial: messages.RunReport{Output: "out", Generation: 2}},
	&messages.ProtocolError{Method: "initialize", Code: -32801, Message: "content modified"},
	&messages.ProtocolError{Message: "no header"},
	&messages.LaunchError{Argv0: "lake", Dir: "/p", Diagnosis: "not found in PATH; install elan"},
	&messages.ExitError{Identity: someone, Status: "signal: killed", StderrTail: "a\nb"},
	&messages.SweepError{Attempt: 2, Remaining: []procscan.Identity{someone}, Err: messages.Errorf(messages.KindInternal, "still there")},
	&messages.UnreapedError{Stuck: []string{"session/a#1"}, Trees: []messages.TreeSnapshot{{
		ActorSnapshot: messages.ActorSnapshot{State: "Backoff"}, Tree: 9, Role: messages.RoleLSP,
		Key: messages.Key{Root: "/p", Language: "lean"}, Leader: someone, Attempts: 3,
		Remaining: []procscan.Identity{someone}, Reason: "unreadable",
	}}},
	&messages.ConfigError{Setting: "idle", Value: "soon", Want: "a duration"},
	&messages.ImportError{Disallowed: []string{"Evil"}, Allowed: []string{"Mathlib", "Aesop"}},
	&messages.BreachError{File: "A.lean", Elapsed: 601 * time.Second, Limit: 600 * time.Second},
	&messages.PanicError{Actor: "session/a#1", Value: "boom"},
	&wire.RequestError{Code: wire.CodeUnknownMethod, Text: "unknown method: x"},
	messages.Invalidf("project_dir must be absolute"),
	messages.Errorf(messages.KindMemory, "the worker went over 16 GiB"),
	messages.Errorf(messages.KindOutcomeUnknown, "no answer: %w", context.DeadlineExceeded),
	messages.Errorf(messages.KindProcess, "cannot start: %w", &messages.ExitError{Identity: someone, Status: "exit status 1"}),
	messages.ErrClosed, messages.ErrClosing, messages.ErrAborted,
	context.DeadlineExceeded, context.Canceled,
	&messages.RunError{Sent: true, Err: &messages.TimeoutError{After: time.Second}},
	&messages.RunError{Err: &messages.ImportError{Disallowed: []string{"Evil"}}},
}

func overTheWire(t *testing.T, protocol wire.Protocol, err error) error {
	t.Helper()
	return ask(t, protocol, func(r wire.Request) []byte { return r.Refuse(err) }).Err
}

func TestJSONRPCGivesTheSameTypedErrorAtTheOtherEnd(t *testing.T) {
	for _, err := range samples {
		t.Run(fmt.Sprintf("%T", err), func(t *testing.T) {
			assert.Equal(t, err, overTheWire(t, wire.JSONRPC, err))
		})
	}
}

func TestAPartialResultThatIsTooLargeIsLeftOut(t *testing.T) {
	err := &messages.RunError{Sent: true, Err: &messages.TimeoutError{After: time.Second,
		Partial: messages.RunReport{Output: strings.Repeat("<", 3<<20)}}} // each is six bytes of JSON
	assert.Equal(t, &messages.RunError{Sent: true, Err: &messages.TimeoutError{After: time.Second}}, overTheWire(t, wire.JSONRPC, err))
}

func TestWrappingGoesOverTheWireAsWordsAlone(t *testing.T) {
	for _, err := range samples {
		t.Run(fmt.Sprintf("%T", err), func(t *testing.T) {
			wrapped := fmt.Errorf("hover of A.lean: %w", err)
			got := overTheWire(t, wire.JSONRPC, wrapped)
			assert.EqualError(t, got, wrapped.Error())
			assert.Equal(t, err, errors.Unwrap(got))
			assert.Equal(t, messages.KindOf(err), messages.KindOf(got))
			assert.Equal(t, messages.Retryable(err), messages.Retryable(got))
			assert.Equal(t, wire.Code(err), wire.Code(got))
		})
	}
}

func TestSentinelsAreTheSameAtTheOtherEnd(t *testing.T) {
	got := overTheWire(t, wire.JSONRPC, fmt.Errorf("run: %w", messages.ErrAborted))
	assert.ErrorIs(t, got, messages.ErrAborted)
	assert.ErrorIs(t, got, messages.ErrClosed)
	assert.NotErrorIs(t, got, messages.ErrClosing)
	got = overTheWire(t, wire.JSONRPC, samples[24])
	assert.ErrorIs(t, got, context.DeadlineExceeded)
	assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(got))
	got = overTheWire(t, wire.JSONRPC, errors.New("plain"))
	assert.Equal(t, &messages.Error{Kind: messages.KindInternal, Text: "plain"}, got)
	var exit *messages.ExitError
	require.ErrorAs(t, overTheWire(t, wire.JSONRPC, samples[25]), &exit)
	assert.Equal(t, someone, exit.Identity)
}

func TestVersion1GivesTheWordAndTheLine(t *testing.T) {
	for _, err := range samples {
		got := overTheWire(t, wire.Version1, err)
		assert.EqualError(t, got, err.Error())
		if wire.Type(err) != "RuntimeError" && wire.Type(err) != "TimeoutError" {
			assert.Equal(t, messages.KindOf(err), messages.KindOf(got))
		}
		if !messages.Retryable(err) {
			assert.False(t, messages.Retryable(got), "%v: a word that stands for many is never taken for the retryable one", err)
		}
	}
}

func TestErrorsShowAsTheContractsTableSays(t *testing.T) {
	busy := func(reason messages.BusyReason) error { return &messages.BusyError{Reason: reason} }
	of := func(kind messages.Kind) error { return messages.Errorf(kind, "x") }
	for _, row := range []struct {
		err  error
		word string
		code int
		exit int
	}{
		{of(messages.KindInvalid), "ValueError", -32602, 2},
		{busy(messages.Slot), "ProjectResourceBusyError", -32001, 4},
		{busy(messages.CreationBudget), "ProjectResourceBusyError", -32001, 4},
		{busy(messages.SessionQueue), "LspBusyError", -32001, 4},
		{busy(messages.WorkerQueue), "TimeoutError", -32002, 4},
		{busy(messages.Connections), "Busy", -32001, 4},
		{busy(messages.Operations), "Busy", -32001, 4},
		{of(messages.KindBusy), "Busy", -32001, 4},
		{of(messages.KindTimeout), "TimeoutError", -32002, 4},
		{of(messages.KindProtocol), "LspProtocolError", -32004, 3},
		{of(messages.KindProcess), "RuntimeError", -32003, 3},
		{of(messages.KindMemory), "RuntimeError", -32003, 3},
		{of(messages.KindClosed), "RuntimeError", -32005, 3},
		{of(messages.KindOutcomeUnknown), "RuntimeError", -32006, 3},
		{of(messages.KindCancelled), "RuntimeError", -32800, 4},
		{of(messages.KindUnreaped), "RuntimeError", -32603, 3},
		{of(messages.KindInternal), "RuntimeError", -32603, 3},
		{of(200), "RuntimeError", -32603, 3},
		{errors.New("plain"), "RuntimeError", -32603, 3},
		{context.Canceled, "RuntimeError", -32800, 4},
	} {
		assert.Equal(t, row.word, wire.Type(row.err), "%v", row.err)
		assert.Equal(t, row.code, wire.Code(row.err), "%v", row.err)
		assert.Equal(t, row.exit, wire.ExitCode(row.err), "%v", row.err)
	}
	assert.Zero(t, wire.ExitCode(nil))
}

func TestJSONRPCDataSaysWhatVersion1SaysAndWhetherToRetry(t *testing.T) {
	request := wire.Request{Protocol: wire.JSONRPC, ID: json.RawMessage("1")}
	line := request.Refuse(&messages.ExitError{Identity: someone, Status: "exit status 3", StderrTail: "last words"})
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"error":{"code":-32003,
		"message":"process 12 ended (exit status 3): last words",
		"data":{"type":"RuntimeError","retryable":false,"detail":{"kind":8,"error":"exit",
			"process":{"pid":12,"start_ticks":1152921504606846976},"status":"exit status 3","stderr":"last words"}}}}`, string(line))
	line = request.Refuse(&messages.BusyError{Project: "/p", Waited: 2 * time.Second, Reason: messages.SessionQueue})
	assert.Contains(t, string(line), `"data":{"type":"LspBusyError","retryable":true,"detail":{"kind":2,"error":"busy","project":"/p","reason":3,"waited":2.0}}`)
}

func TestErrorOfAnotherBuildOrProgramKeepsItsKindAndLine(t *testing.T) {
	for name, c := range map[string]struct {
		sent string
		want error
	}{
		"no data":       {`{"code":-32001,"message":"later"}`, &messages.Error{Kind: messages.KindBusy, Text: "later"}},
		"time-out":      {`{"code":-32002,"message":"late"}`, &messages.Error{Kind: messages.KindTimeout, Text: "late"}},
		"no method":     {`{"code":-32601,"message":"what"}`, &messages.Error{Kind: messages.KindInvalid, Text: "what"}},
		"left":          {`{"code":-32603,"message":"left"}`, &messages.Error{Kind: messages.KindInternal, Text: "left"}},
		"unknown code":  {`{"code":-1,"message":"odd"}`, &messages.Error{Kind: messages.KindInternal, Text: "odd"}},
		"unknown type":  {`{"code":-32603,"message":"new","data":{"detail":{"kind":3,"error":"quota","x":1}}}`, &messages.Error{Kind: messages.KindTimeout, Text: "new"}},
		"standard code": {`{"code":-32602,"message":"bad","data":{}}`, &messages.Error{Kind: messages.KindInvalid, Text: "bad"}},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := wire.ParseReply([]byte(`{"jsonrpc":"2.0","id":1,"error":`+c.sent+`}`), wire.JSONRPC)
			require.NoError(t, err)
			assert.Equal(t, c.want, reply.Err)
		})
	}
}

func TestErrorWithoutItsFieldsHasALineAllTheSame(t *testing.T) {
	names := "error request busy timeout protocol launch exit sweep unreaped config import breach panic closed closing"
	for _, name := range strings.Fields(names) {
		reply, err := wire.ParseReply([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x","data":{"detail":{"error":"`+name+`"}}}}`), wire.JSONRPC)
		require.NoError(t, err)
		assert.EqualError(t, reply.Err, "x", name)
	}
}
