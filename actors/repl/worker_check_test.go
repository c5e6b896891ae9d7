package repl_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors/repl"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/actortest"
)

// assignExpired gives a call whose time was over on the way.
func (b *workerBench) assignExpired() {
	ctx, cancel := context.WithDeadlineCause(context.Background(), time.Now(), errLate)
	b.cancel = cancel
	b.op = messages.RunCode{Head: messages.Head{ID: messages.OperationID(b.System.NextID()), Key: key}}
	b.worker.Send(repl.Assign(ctx, b.op, repl.Decision{Run: &repl.Request{Code: "x"}}))
}

// asking brings the check to where the header command has read the code.
func (b *workerBench) asking() *workerBench {
	b.t.Helper()
	b.checking().launched(b.header)
	code, err := io.ReadAll(b.header.child.ProgramIn)
	require.NoError(b.t, err)
	require.Equal(b.t, b.op.Code, string(code))
	return b
}

// prints answers the check and exits.
func (b *workerBench) prints(text string) {
	b.t.Helper()
	b.says(b.header, text)
	b.exits(b.header, procscan.Status{})
}

const (
	goodHeader = `{"imports":[{"imports":[{"module":"Good"}],"errors":[]}]}`
	badHeader  = `{"imports":[{"imports":[{"module":"Evil"}],"errors":[]}]}`
)

// expectLearned takes what the Pool is to remember.
func (b *workerBench) expectLearned(stdout string) {
	b.t.Helper()
	assert.Equal(b.t, repl.Learn(b.op.Code, repl.HeaderOutput{Stdout: []byte(stdout)}), actortest.Next[repl.Learned](b.t, b.Parent))
}

func TestCheckedCodeRunsWhenNothingIsLeftOfTheHeaderCommand(t *testing.T) {
	workerBubble(t, "the output first", nil, func(b *workerBench) {
		b.asking().prints(goodHeader)
		b.expectRun()
	})
	workerBubble(t, "the exit first", nil, func(b *workerBench) {
		b.asking().worker.Send(messages.LeaderDown{Tree: b.header.tree})
		b.Supervisor.ExpectNothing(b.t)
		b.says(b.header, goodHeader)
		require.NoError(b.t, b.header.child.ProgramOut.Close())
		b.expectRun()
	})
}

func (b *workerBench) expectRun() {
	b.t.Helper()
	b.expectLearned(goodHeader)
	b.expectSwept(b.header)
	b.reaped(b.header)
	assert.Equal(b.t, `{"code":"import Good\nx"}`+"\n", b.hears(b.repl))
	b.expect("running")
}

func TestCodeThatIsRefusedLeavesTheChildUntouched(t *testing.T) {
	for name, c := range map[string]struct {
		befall func(*workerBench)
		kind   messages.Kind
		text   string
	}{
		"disallowed": {func(b *workerBench) { b.prints(badHeader); b.expectLearned(badHeader) },
			messages.KindInvalid, "Disallowed imports: Evil. Allowed roots: Good"},
		"its exit status": {func(b *workerBench) {
			b.header.child.WriteStderr("toolchain is missing\n")
			b.exits(b.header, procscan.Status{Code: 1})
			actortest.Next[repl.Learned](b.t, b.Parent)
		}, messages.KindInvalid, "Rejected Lean header: toolchain is missing"},
		"a signal": {func(b *workerBench) { b.exits(b.header, killed); actortest.Next[repl.Learned](b.t, b.Parent) },
			messages.KindInvalid, "ended by a signal: killed"},
		"more than is read": {func(b *workerBench) {
			b.says(b.header, string(make([]byte, repl.HeaderLimit+1)))
			actortest.Next[repl.Learned](b.t, b.Parent)
		}, messages.KindInvalid, "printed more than"},
		"a launch that came late": {func(b *workerBench) { b.worker.Send(messages.LaunchLate{Tree: b.header.tree}) },
			messages.KindTimeout, "starting a process"},
		"its time over":   {func(*workerBench) { time.Sleep(timeout) }, messages.KindTimeout, "the code was not run"},
		"the caller left": {func(b *workerBench) { b.cancel() }, messages.KindCancelled, "cancelled while its header was checked"},
		"its time over when only the sweep was awaited": {func(b *workerBench) {
			b.prints(goodHeader)
			b.expectLearned(goodHeader)
			b.expectSwept(b.header)
			time.Sleep(timeout)
		}, messages.KindTimeout, "the code was not run"},
	} {
		workerBubble(t, name, nil, func(b *workerBench) {
			b.asking()
			c.befall(b)
			_, err := b.answer()
			assert.Equal(b.t, c.kind, messages.KindOf(err))
			assert.ErrorContains(b.t, err, c.text)
			b.expectSwept(b.header)
			b.Parent.ExpectNothing(b.t)
			b.reaped(b.header)
			b.expectSettled(messages.Healthy)
			b.expect("idle")
		})
	}
	workerBubble(t, "a launch that failed", nil, func(b *workerBench) {
		reason := &messages.LaunchError{Argv0: "lean", Diagnosis: "no such program"}
		b.checking().worker.Send(messages.LaunchFailed{Tree: b.header.tree, Err: reason})
		_, err := b.answer()
		assert.Equal(b.t, error(reason), err)
		b.expectSettled(messages.Healthy)
		b.expect("idle")
		b.Supervisor.ExpectNothing(b.t)
	})
	workerBubble(t, "a header command that somebody else ended", nil, func(b *workerBench) {
		b.asking().reaped(b.header)
		_, err := b.answer()
		assert.Equal(b.t, messages.KindProcess, messages.KindOf(err))
		b.expectSettled(messages.Healthy)
	})
	workerBubble(t, "its time over before the launch", nil, func(b *workerBench) {
		b.checking()
		time.Sleep(timeout)
		_, err := b.answer()
		assert.Equal(b.t, messages.KindTimeout, messages.KindOf(err))
		b.launched(b.header) // nothing is asked of it any more
		b.expectSwept(b.header)
		b.reaped(b.header)
		b.expectSettled(messages.Healthy)
	})
}

func TestChildThatEndsAmidACheckEndsTheWorker(t *testing.T) {
	for name, befall := range map[string]func(*workerBench){
		"exit":  func(b *workerBench) { b.worker.Send(messages.LeaderDown{Tree: b.repl.tree, Status: killed}) },
		"noise": func(b *workerBench) { b.says(b.repl, "x") },
		"abort": func(b *workerBench) { b.worker.Send(messages.Abort{}) },
	} {
		workerBubble(t, name, nil, func(b *workerBench) {
			b.asking()
			befall(b)
			_, err := b.answer()
			require.Error(b.t, err)
			assert.NotContains(b.t, err.Error(), "unknown", "it was never sent")
			b.expectSettled(messages.Broken)
			b.expectSwept(b.repl, b.header)
			b.expectBothReaped()
		})
	}
	workerBubble(t, "close waits for the call", nil, func(b *workerBench) {
		b.asking().worker.Send(messages.Close{})
		b.Supervisor.ExpectNothing(b.t)
		b.prints(goodHeader)
		b.expectRun()
		b.says(b.repl, `{"ok":true}`+"\n")
		_, err := b.answer()
		require.NoError(b.t, err)
		b.expectSettled(messages.Broken)
		b.expectSwept(b.repl)
	})
	workerBubble(t, "close after the answer", nil, func(b *workerBench) {
		b.asking().prints(badHeader)
		b.expectLearned(badHeader)
		_, err := b.answer()
		require.Error(b.t, err)
		b.expectSwept(b.header)
		b.worker.Send(messages.Close{})
		b.expectSettled(messages.Broken)
		b.expectSwept(b.repl, b.header)
		b.expectBothReaped()
	})
}

func (b *workerBench) expectBothReaped() {
	b.t.Helper()
	b.Parent.ExpectNothing(b.t)
	b.reaped(b.repl)
	b.expectClosed(b.header)
}
