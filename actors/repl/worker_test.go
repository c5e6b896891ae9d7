package repl_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors/repl"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/actortest"
	"github.com/seed-f6977891/hearth/test/fakes"
)

var killed = procscan.Status{Code: -1, Signal: syscall.SIGKILL}

func TestLaunchingWorkerWarmsItsChildUpAndReportsAFailedStartAtOnce(t *testing.T) {
	workerBubble(t, "launched", nil, func(b *workerBench) {
		b.warming().expect("warming")
	})
	workerBubble(t, "launch failed", nil, func(b *workerBench) {
		reason := errors.New("no such program")
		b.launching().worker.Send(messages.LaunchFailed{Tree: b.repl.tree, Err: reason})
		b.Parent.ExpectExactly(b.t, messages.StartFailed{From: b.worker.Ref(), Err: reason}, messages.Closed{From: b.worker.Ref()})
		b.Supervisor.ExpectNothing(b.t)
	})
	workerBubble(t, "launch late", nil, func(b *workerBench) {
		b.launching().worker.Send(messages.LaunchLate{Tree: b.repl.tree})
		assert.Equal(b.t, messages.KindTimeout, b.startFailure())
		b.launched(b.repl) // it is being ended: nothing is sent to it
		b.expectClosed(b.repl)
	})
	workerBubble(t, "reaped by somebody else", nil, func(b *workerBench) {
		b.launching().reaped(b.repl)
		assert.Equal(b.t, messages.KindProcess, b.startFailure())
		b.expectClosed()
	})
}

func (b *workerBench) startFailure() messages.Kind {
	b.t.Helper()
	return messages.KindOf(actortest.Next[messages.StartFailed](b.t, b.Parent).Err)
}

func TestWarmingWorkerIsReadyOnlyAfterItsChildAnswered(t *testing.T) {
	workerBubble(t, "warm", nil, func(b *workerBench) { b.idle() })
	for name, c := range map[string]struct {
		befall func(*workerBench)
		kind   messages.Kind
		text   string
	}{
		"refused": {func(b *workerBench) { b.says(b.repl, `{"ok":false,"error":"no module"}`+"\n") },
			messages.KindProcess, "warm-up failed: no module; its last words: E-17"},
		"noise": {func(b *workerBench) { b.says(b.repl, "hello\n") }, messages.KindProtocol, "; its last words: E-17"},
		"exit": {func(b *workerBench) { b.exits(b.repl, procscan.Status{Code: 3}) },
			messages.KindProcess, "(exit status 3): E-17"},
		"output ended before the exit": {func(b *workerBench) {
			require.NoError(b.t, b.repl.child.ProgramOut.Close())
			b.Parent.ExpectNothing(b.t)
			b.worker.Send(messages.LeaderDown{Tree: b.repl.tree, Status: procscan.Status{Code: 3}})
		}, messages.KindProcess, "(exit status 3): E-17"},
		"output ended without an exit": {func(b *workerBench) {
			require.NoError(b.t, b.repl.child.ProgramOut.Close())
			time.Sleep(repl.ExitWait)
		}, messages.KindProcess, "REPL process exited; its last words: E-17"},
		"noise, and an exit that is heard first": {func(b *workerBench) {
			b.worker.Send(messages.LeaderDown{Tree: b.repl.tree, Status: procscan.Status{Code: 3}})
			b.Parent.ExpectNothing(b.t)
			b.says(b.repl, "error: no such file\n")
		}, messages.KindProtocol, "error: no such file"},
		"refused, and an exit that is heard first": {func(b *workerBench) {
			b.worker.Send(messages.LeaderDown{Tree: b.repl.tree, Status: procscan.Status{Code: 3}})
			b.Parent.ExpectNothing(b.t)
			b.says(b.repl, `{"ok":false,"error":"no module"}`+"\n")
		}, messages.KindProcess, "warm-up failed: no module; its last words: E-17"},
		"exit, and output held open": {func(b *workerBench) {
			b.worker.Send(messages.LeaderDown{Tree: b.repl.tree, Status: procscan.Status{Code: 3}})
			b.Parent.ExpectNothing(b.t)
			time.Sleep(repl.ExitWait)
		}, messages.KindProcess, "(exit status 3): E-17"},
		"too slow":  {func(*workerBench) { time.Sleep(startup) }, messages.KindTimeout, "warming up; its last words: E-17"},
		"too large": {func(b *workerBench) { b.sampled(limit + 1) }, messages.KindMemory, "over its limit of 200 MiB"},
	} {
		var b *workerBench
		workerBubble(t, name, func(cfg *repl.PoolConfig) { cfg.Memory = repl.Memory{Limit: limit} }, func(bench *workerBench) {
			b = bench
			b.warming().repl.child.WriteStderr("E-17\n")
			c.befall(b)
			failed := actortest.Next[messages.StartFailed](b.t, b.Parent)
			assert.Equal(b.t, c.kind, messages.KindOf(failed.Err))
			assert.Contains(b.t, failed.Err.Error(), c.text)
			b.expectSwept(b.repl)
			b.expectClosed(b.repl)
		})
	}
}

func TestWarmingWorkerWhoseChildAnswersBehindItsExitIsNotReady(t *testing.T) {
	workerBubble(t, "", nil, func(b *workerBench) {
		b.warming().worker.Send(messages.LeaderDown{Tree: b.repl.tree, Status: killed})
		b.Parent.ExpectNothing(b.t)
		b.says(b.repl, fakes.Result(""))
		assert.ErrorContains(b.t, actortest.Next[messages.StartFailed](b.t, b.Parent).Err, "(signal: killed)")
		b.expectSwept(b.repl)
		b.expectClosed(b.repl)
	})
}

func (b *workerBench) sampled(rss int64) {
	b.worker.Send(messages.Sampled{Trees: map[messages.TreeID]procscan.TreeSample{b.repl.tree: {RSS: rss}}})
}

func TestIdleWorkerRunsWhatNeedsNoCheckAndChecksTheRest(t *testing.T) {
	workerBubble(t, "run", nil, func(b *workerBench) { b.running() })
	workerBubble(t, "check", nil, func(b *workerBench) { b.checking() })
}

func TestIdleWorkerThatIsNoMoreFitForUseEnds(t *testing.T) {
	for name, c := range map[string]struct {
		befall func(*workerBench)
		text   string
	}{
		"unsolicited output": {func(b *workerBench) { b.says(b.repl, "x") }, "without being asked"},
		"exit":               {func(b *workerBench) { b.worker.Send(messages.LeaderDown{Tree: b.repl.tree, Status: killed}) }, "signal: killed"},
		"end of its output":  {func(b *workerBench) { require.NoError(b.t, b.repl.child.ProgramOut.Close()) }, "REPL process exited"},
		"over the limit":     {func(b *workerBench) { b.sampled(limit + 1) }, "over its limit"},
		"near the limit":     {func(b *workerBench) { b.sampled(limit * 9 / 10) }, "replaced at 180 MiB"},
	} {
		workerBubble(t, name, limitedTo(nil), func(b *workerBench) {
			b.idle()
			c.befall(b)
			ending := actortest.Next[messages.Ending](b.t, b.Parent)
			assert.Contains(b.t, ending.Err.Error(), c.text)
			b.expectSwept(b.repl)
			b.expectClosed(b.repl)
		})
	}
	workerBubble(t, "reaped by somebody else", nil, func(b *workerBench) {
		b.idle().reaped(b.repl)
		actortest.Next[messages.Ending](b.t, b.Parent)
		b.Supervisor.ExpectNothing(b.t)
		b.expectClosed()
	})
	workerBubble(t, "a reserve below its limit lives on", limitedTo(func(cfg *repl.PoolConfig) { cfg.Resident = false }), func(b *workerBench) {
		b.idle().sampled(limit * 95 / 100)
		b.Parent.ExpectNothing(b.t)
	})
}

func TestRunningWorkerAnswersOnceAndSaysWhatItsChildIsGoodFor(t *testing.T) {
	workerBubble(t, "resident", nil, func(b *workerBench) {
		b.running().says(b.repl, fakes.Result("42"))
		report, err := b.answer()
		require.NoError(b.t, err)
		assert.Equal(b.t, "42", report.Result)
		assert.NotZero(b.t, report.Generation)
		b.expectSettled(messages.Healthy)
		b.expect("idle")
		b.assign("y", repl.Decision{Run: &repl.Request{Code: "y"}})
		assert.Equal(b.t, `{"code":"y"}`+"\n", b.hears(b.repl))
	})
	spent := func(name, cause string, change func(*repl.PoolConfig), befall func(*workerBench)) {
		workerBubble(t, name, change, func(b *workerBench) {
			b.running()
			befall(b)
			_, err := b.answer()
			require.NoError(b.t, err)
			reason := b.expectSettled(messages.Broken)
			if cause == "" {
				assert.NoError(b.t, reason)
			} else {
				assert.ErrorContains(b.t, reason, cause)
			}
			b.expectSwept(b.repl)
			b.expectClosed(b.repl)
		})
	}
	reply := func(b *workerBench) { b.says(b.repl, fakes.Result("42")) }
	spent("fresh", "", func(cfg *repl.PoolConfig) { cfg.Resident = false }, reply)
	spent("its last use", "replaced after 1 calls", func(cfg *repl.PoolConfig) { cfg.MaxUses = 1 }, reply)
	spent("told to close meanwhile", "", nil, func(b *workerBench) {
		b.worker.Send(messages.Close{})
		b.Parent.ExpectNothing(b.t)
		reply(b)
	})
	spent("exited behind its reply", "signal: killed", nil, func(b *workerBench) {
		b.worker.Send(messages.LeaderDown{Tree: b.repl.tree, Status: killed})
		b.Parent.ExpectNothing(b.t)
		reply(b)
	})
}

func TestFailedRunIsOfUnknownOutcomeAndTheLastOfItsChild(t *testing.T) {
	for name, c := range map[string]struct {
		befall func(*workerBench)
		kind   messages.Kind
		text   string
	}{
		"noise":           {func(b *workerBench) { b.says(b.repl, "warning: x\n") }, messages.KindOutcomeUnknown, "is not a jsonl reply"},
		"exit":            {func(b *workerBench) { b.exits(b.repl, procscan.Status{Code: 3}) }, messages.KindOutcomeUnknown, "(exit status 3): E-17"},
		"its time over":   {func(*workerBench) { time.Sleep(timeout) }, messages.KindTimeout, "timed out after 3s"},
		"the caller left": {func(b *workerBench) { b.cancel() }, messages.KindCancelled, "cancelled while it ran"},
		"output ended first": {func(b *workerBench) {
			require.NoError(b.t, b.repl.child.ProgramOut.Close())
			b.Parent.ExpectNothing(b.t)
			b.worker.Send(messages.LeaderDown{Tree: b.repl.tree, Status: killed})
		}, messages.KindOutcomeUnknown, "(signal: killed): E-17"},
		"output ended, and no exit": {func(b *workerBench) {
			require.NoError(b.t, b.repl.child.ProgramOut.Close())
			time.Sleep(repl.ExitWait)
		}, messages.KindOutcomeUnknown, "REPL process exited; its last words: E-17"},
		"exit, and output held open": {func(b *workerBench) {
			b.worker.Send(messages.LeaderDown{Tree: b.repl.tree, Status: killed})
			time.Sleep(repl.ExitWait)
		}, messages.KindOutcomeUnknown, "(signal: killed): E-17"},
		"reaped by somebody else": {func(b *workerBench) { b.reaped(b.repl) }, messages.KindOutcomeUnknown, "E-17"},
		"abort":                   {func(b *workerBench) { b.worker.Send(messages.Abort{}) }, messages.KindClosed, "aborted"},
	} {
		workerBubble(t, name, nil, func(b *workerBench) {
			b.running().repl.child.WriteStderr("E-17\n")
			c.befall(b)
			assert.ErrorContains(b.t, b.expectUnknown(c.kind), c.text)
			b.expectSettled(messages.Broken)
			if strings.HasPrefix(name, "reaped") {
				b.Supervisor.ExpectNothing(b.t)
				b.expectClosed()
				return
			}
			b.expectSwept(b.repl)
			b.expectClosed(b.repl)
		})
	}
}

func TestRunThatSentNothingGoesBackOrLeavesTheChildAsItWas(t *testing.T) {
	workerBubble(t, "the child broke at the same moment", nil, func(b *workerBench) {
		gate := make(chan struct{})
		b.idle().worker.Send(faulty{fault: func() { <-gate }}) // holds the mailbox up
		b.assign("x", repl.Decision{Run: &repl.Request{Code: "x"}})
		b.says(b.repl, "x")
		synctest.Wait()
		close(gate)
		assert.ErrorContains(b.t, b.expectSettled(messages.Returned), "without being asked")
		b.expectSwept(b.repl)
		b.expectClosed(b.repl)
	})
	workerBubble(t, "its time was over", nil, func(b *workerBench) {
		b.idle().assignExpired()
		_, err := b.answer()
		assert.Equal(b.t, messages.KindTimeout, messages.KindOf(err))
		assert.False(b.t, errors.As(err, new(*messages.RunError)))
		b.expectSettled(messages.Healthy)
	})
	workerBubble(t, "it is no text", nil, func(b *workerBench) {
		b.idle().assign("\xff", repl.Decision{Run: &repl.Request{Code: "\xff"}})
		_, err := b.answer()
		assert.Equal(b.t, messages.KindInvalid, messages.KindOf(err))
		b.expectSettled(messages.Healthy)
	})
}
