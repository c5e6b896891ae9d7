package buildwatch_test

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/actortest"
)

func TestBuildThatEndsGivesItsOwnExitCodeOnceItsTreeIsGone(t *testing.T) {
	for name, status := range map[string]procscan.Status{"exit": {Code: 3}, "signal": {Code: -1, Signal: syscall.SIGSEGV}} {
		bubble(t, name, func(t *testing.T, r *rig) {
			r.watching()
			time.Sleep(90 * time.Second)
			r.handle.Send(messages.LeaderDown{Tree: r.tree, Status: status})
			r.expectSweep()
			r.expectState("ending")
			time.Sleep(time.Minute)
			r.Parent.ExpectNothing(t)
			assert.Empty(t, r.op.Reply.Answer(), "not before its tree is gone")
			outcome := r.reaped(status)
			assert.NoError(t, outcome.Err)
			assert.Equal(t, status.ExitCode(), outcome.Report.ExitCode)
			assert.Equal(t, 90.0, outcome.Report.Duration, "the end of the tree isn't the build's time")
			assert.Equal(t, "boot", outcome.Report.BootID)
			assert.NotNil(t, outcome.Report.Slowest, "programs want a list")
		})
	}
}

func TestCallerIsToldWhenTheEndTakesTooLong(t *testing.T) {
	stuck := []procscan.Identity{{PID: 9, StartTicks: 1}}
	bubble(t, "over a limit", func(t *testing.T, r *rig) {
		r.sees(compiling("slow.c"))
		r.watching()
		time.Sleep(perFile + 10*time.Millisecond)
		r.expectSweep()
		r.handle.Send(messages.SweepFailed{Tree: r.tree, Cause: &messages.SweepError{Attempt: 1, Remaining: stuck}})
		time.Sleep(2*grace + patience - 20*time.Millisecond)
		r.Parent.ExpectNothing(t)
		time.Sleep(20 * time.Millisecond)
		r.Parent.ExpectExactly(t, messages.Settled{From: r.handle.Ref(), ID: 7, Verdict: messages.Healthy})
		outcome := (<-r.op.Reply.Answer()).Value
		assert.Equal(t, messages.ExitBreach, outcome.Report.ExitCode)
		assert.Equal(t, "slow.c", outcome.Report.Slowest[0].File)
		var unreaped *messages.UnreapedError
		require.ErrorAs(t, outcome.Err, &unreaped)
		assert.Equal(t, stuck, unreaped.Trees[0].Remaining)
		r.expectState("ending")
		time.Sleep(time.Hour)
		r.handle.Send(messages.LeaderReaped{Tree: r.tree})
		r.Parent.ExpectExactly(t, messages.Closed{From: r.handle.Ref()})
		assert.Empty(t, r.op.Reply.Answer(), "one answer")
	})
	bubble(t, "for a reason of its own", func(t *testing.T, r *rig) {
		r.sees(failing(syscall.EIO))
		r.launching()
		r.handle.Send(messages.Launched{Tree: r.tree, Mark: mark})
		time.Sleep(2*grace + patience)
		assert.ErrorIs(t, (<-r.op.Reply.Answer()).Value.Err, syscall.EIO, "the first reason counts")
		r.handle.Send(messages.LeaderReaped{Tree: r.tree})
	})
}

func TestAnswerComesAfterTheSnapshotIsGone(t *testing.T) {
	bubble(t, "order", func(t *testing.T, r *rig) {
		r.ending(0)
		r.Observer.Take()
		r.reaped(procscan.Status{})
		states := r.Observer.Take()
		require.Len(t, states, 2)
		assert.Equal(t, "done", states[0].(messages.Publish).Snapshot.(messages.BuildSnapshot).State)
		assert.Equal(t, messages.Retract{Key: r.handle.ID()}, states[1])
	})
}

func TestFileOverItsLimitIsToldBeforeTheBuildIsEnded(t *testing.T) {
	bubble(t, "breach", func(t *testing.T, r *rig) {
		r.sees(compiling("slow.c"))
		r.watching()
		time.Sleep(perFile - time.Millisecond)
		r.Supervisor.ExpectNothing(t)
		r.events()
		time.Sleep(20 * time.Millisecond)
		r.expectSweep()
		breach := messages.Breach{File: "slow.c", Elapsed: 6, Limit: 6}
		heard := r.events()
		require.Len(t, heard, 1)
		assert.Equal(t, []messages.Breach{breach}, heard[0].Breaches)
		outcome := r.reaped(procscan.Status{Code: -1, Signal: syscall.SIGTERM})
		assert.NoError(t, outcome.Err)
		assert.Equal(t, messages.ExitBreach, outcome.Report.ExitCode)
		assert.Equal(t, []messages.Breach{breach}, outcome.Report.Breaches)
		assert.Equal(t, []messages.Compile{{File: "slow.c", PID: 9, StartTicks: ticks(time.Hour), Seconds: 6, Peak: 5 << 20}}, outcome.Report.Slowest)
		assert.Equal(t, outcome.Report.Slowest, outcome.Report.Samples)
		assert.Equal(t, 1, outcome.Report.Compiles)
	})
}

func TestLimitIsDueBetweenTwoLooks(t *testing.T) {
	bubble(t, "early look", func(t *testing.T, r *rig) {
		r.op.Build.Interval = time.Minute
		r.sees(compiling("slow.c"))
		r.watching()
		time.Sleep(perFile + 10*time.Millisecond)
		r.expectSweep()
		r.reaped(procscan.Status{})
	})
}

func TestWholeBuildHasALimitOfItsOwn(t *testing.T) {
	bubble(t, "limit", func(t *testing.T, r *rig) {
		r.watching()
		time.Sleep(limit - time.Millisecond)
		r.Supervisor.ExpectNothing(t)
		time.Sleep(time.Millisecond)
		r.expectSweep()
		assert.Equal(t, []messages.Breach{{Elapsed: 3600, Limit: 3600}}, r.reaped(procscan.Status{}).Report.Breaches)
	})
	bubble(t, "none", func(t *testing.T, r *rig) {
		r.op.Build.Limit = 0
		r.watching()
		time.Sleep(2 * limit)
		r.Supervisor.ExpectNothing(t)
		r.finish()
	})
}

func TestReportedFault30OnlyALookThatFailsEndsABuild(t *testing.T) {
	bubble(t, "EIO", func(t *testing.T, r *rig) {
		r.sees(nothing, failing(syscall.EIO))
		r.watching()
		time.Sleep(interval)
		r.expectSweep()
		r.expectState("ending")
		outcome := r.reaped(procscan.Status{Code: -1, Signal: os.Kill})
		assert.ErrorIs(t, outcome.Err, syscall.EIO)
		assert.Equal(t, messages.KindInternal, messages.KindOf(outcome.Err))
		assert.ErrorContains(t, outcome.Err, "cannot monitor the build's processes")
		assert.Empty(t, outcome.Report.Breaches)
	})
	bubble(t, "nobody there", func(t *testing.T, r *rig) {
		r.watching()
		time.Sleep(10 * interval)
		r.Supervisor.ExpectNothing(t)
		r.finish()
	})
}

func TestNothingIsHeldAgainstABuildThatHasEnded(t *testing.T) {
	for name, last := range map[string]func() (procscan.Look, error){"over the limit": nil, "a look that fails": failing(syscall.EIO)} {
		bubble(t, name, func(t *testing.T, r *rig) {
			slow := compiling("slow.c")
			time.Sleep(perFile)
			if last == nil {
				last = slow
			}
			gate := make(chan struct{})
			r.sees(func() (procscan.Look, error) { <-gate; return last() })
			r.watching()
			r.handle.Send(messages.LeaderDown{Tree: r.tree})
			r.expectSweep()
			r.handle.Send(messages.LeaderReaped{Tree: r.tree})
			r.Parent.ExpectNothing(t)
			assert.Empty(t, r.op.Reply.Answer(), "a worker is out")
			close(gate)
			outcome := r.outcome()
			assert.NoError(t, outcome.Err)
			assert.Zero(t, outcome.Report.ExitCode)
			assert.Empty(t, outcome.Report.Breaches)
		})
	}
}

func TestLaunchThatFailsIsTheAnswer(t *testing.T) {
	bubble(t, "launch", func(t *testing.T, r *rig) {
		r.launching()
		failure := &messages.LaunchError{Argv0: "make", Dir: "/p", Diagnosis: "not on PATH"}
		r.handle.Send(messages.LaunchFailed{Tree: r.tree, Err: failure})
		outcome := r.outcome()
		assert.Equal(t, failure, outcome.Err)
		assert.Equal(t, -1, outcome.Report.ExitCode)
		assert.Zero(t, outcome.Report.Duration)
	})
}

func TestCallerWhoLeavesEndsTheBuild(t *testing.T) {
	bubble(t, "watching", func(t *testing.T, r *rig) {
		r.watching()
		r.cancel(errors.New("left"))
		r.expectSweep()
		outcome := r.reaped(procscan.Status{Code: 2})
		assert.Equal(t, messages.KindInternal, messages.KindOf(outcome.Err), "the cause has no kind")
		assert.ErrorContains(t, outcome.Err, "left")
		assert.Equal(t, 2, outcome.Report.ExitCode)
	})
	bubble(t, "launching", func(t *testing.T, r *rig) {
		r.launching()
		r.cancel(context.Canceled)
		r.expectSweep()
		r.handle.Send(messages.Launched{Tree: r.tree, Mark: mark})
		r.Supervisor.ExpectNothing(t)
		assert.Equal(t, messages.KindCancelled, messages.KindOf(r.reaped(procscan.Status{}).Err))
	})
	bubble(t, "launching, and nothing was launched", func(t *testing.T, r *rig) {
		r.launching()
		r.cancel(interrupted)
		r.expectSweep()
		r.handle.Send(messages.LaunchFailed{Tree: r.tree, Err: messages.ErrClosing})
		assert.ErrorIs(t, r.outcome().Err, interrupted, "the first reason counts")
	})
	bubble(t, "too late", func(t *testing.T, r *rig) {
		r.ending(0)
		r.cancel(context.Canceled)
		r.expectSweep() // joins
		assert.NoError(t, r.reaped(procscan.Status{}).Err, "it had ended by itself")
	})
}

func TestInterruptedBuildGetsTheSignalAndTimeToTidyUp(t *testing.T) {
	bubble(t, "it ends", func(t *testing.T, r *rig) {
		r.watching()
		r.cancel(interrupted)
		r.Supervisor.ExpectExactly(t, messages.SignalTree{Tree: r.tree, Signal: os.Interrupt})
		r.expectState("ending")
		time.Sleep(grace / 2)
		r.handle.Send(messages.LeaderDown{Tree: r.tree, Status: procscan.Status{Code: 130}})
		r.expectSweep()
		outcome := r.reaped(procscan.Status{Code: 130})
		assert.Equal(t, interrupted, outcome.Err)
		assert.Equal(t, 130, outcome.Report.ExitCode)
	})
	bubble(t, "it doesn't", func(t *testing.T, r *rig) {
		r.watching()
		r.cancel(interrupted)
		actortest.Next[messages.SignalTree](t, r.Supervisor)
		r.Supervisor.Take()
		time.Sleep(grace)
		r.expectSweep()
		assert.Equal(t, interrupted, r.reaped(procscan.Status{}).Err)
	})
}

func TestBuildAtATerminalIsNotLeftStopped(t *testing.T) {
	leader := procscan.Identity{PID: 9, StartTicks: ticks(time.Hour)}
	stopped := func() (procscan.Look, error) {
		look, err := compiling("a.c")()
		look.Members[0].State = 'T'
		return look, err
	}
	for name, stdio := range map[string]*procscan.Stdio{"terminal": {}, "none": nil} {
		bubble(t, name, func(t *testing.T, r *rig) {
			r.op.Build.Stdio = stdio
			r.sees(stopped, nothing)
			r.launching()
			r.handle.Send(messages.Launched{Tree: r.tree, Mark: mark, Identity: leader})
			if stdio != nil {
				r.Supervisor.ExpectExactly(t, messages.SignalTree{Tree: r.tree, Signal: procscan.Continue})
			}
			r.Supervisor.ExpectNothing(t)
			r.finish()
		})
	}
}

func TestCloseLetsABuildFinishAndAbortDoesNot(t *testing.T) {
	bubble(t, "close", func(t *testing.T, r *rig) {
		r.watching()
		r.handle.Send(messages.Close{})
		time.Sleep(time.Minute)
		r.Supervisor.ExpectNothing(t)
		r.finish()
	})
	bubble(t, "abort", func(t *testing.T, r *rig) {
		r.watching()
		r.handle.Send(messages.Abort{})
		r.expectSweep()
		assert.ErrorIs(t, r.reaped(procscan.Status{}).Err, messages.ErrAborted)
	})
	bubble(t, "abort while launching", func(t *testing.T, r *rig) {
		r.launching()
		r.handle.Send(messages.Abort{})
		r.expectSweep()
		r.handle.Send(messages.LaunchFailed{Tree: r.tree, Err: messages.ErrClosing})
		assert.ErrorIs(t, r.outcome().Err, messages.ErrAborted)
	})
}

func TestTreeThatIsGoneUnaskedIsAnEndToo(t *testing.T) {
	bubble(t, "reaped", func(t *testing.T, r *rig) {
		r.watching()
		assert.Equal(t, 4, r.reaped(procscan.Status{Code: 4}).Report.ExitCode)
		r.Supervisor.ExpectNothing(t)
	})
}

func TestFailedWatcherAnswersThatTheBuildMayHaveRun(t *testing.T) {
	bubble(t, "panic", func(t *testing.T, r *rig) {
		r.sees(func() (procscan.Look, error) { return procscan.Look{Members: []procscan.Member{{}}}, nil })
		r.launching()
		r.handle.Send(messages.Launched{Tree: r.tree, Mark: mark})
		synctest.Wait()
		require.Len(t, r.op.Reply.Answer(), 1)
		assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf((<-r.op.Reply.Answer()).Err))
	})
}

func TestSnapshotShowsWhatRuns(t *testing.T) {
	bubble(t, "snapshot", func(t *testing.T, r *rig) {
		r.sees(compiling("a.c"), compiling("a.c"), nothing)
		r.watching()
		s := r.snapshot()
		assert.Equal(t, "make all", s.Command)
		assert.Equal(t, r.tree, s.Tree)
		assert.Equal(t, []messages.RunningFile{{File: "a.c", PID: 9}}, s.Running)
		time.Sleep(2 * interval)
		s = r.snapshot()
		assert.Empty(t, s.Running)
		assert.Equal(t, 1, s.Done)
		r.handle.Send(messages.Republish{})
		assert.Len(t, r.Observer.Take(), 1)
		r.finish()
	})
}

func TestCallerWhoDoesNotListenMissesLooksAndNeverABreach(t *testing.T) {
	bubble(t, "deaf", func(t *testing.T, r *rig) {
		r.sees(compiling("slow.c"))
		r.watching()
		time.Sleep(2 * perFile)
		heard := r.events()
		require.Len(t, heard, 3)
		assert.NotEmpty(t, heard[2].Breaches)
		r.expectSweep()
		r.reaped(procscan.Status{})
	})
}
