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

func TestBuildsTimeBeginsWithItsStartHoweverLateThatIsHeard(t *testing.T) {
	bubble(t, "heard late", func(t *testing.T, r *rig) {
		r.op.Build.Limit = 10 * time.Second
		r.launching()
		r.handle.Send(messages.Launched{Tree: r.tree, Mark: mark, Began: time.Now().Add(-4 * time.Second)})
		time.Sleep(6 * time.Second)
		r.expectSweep()
		outcome := r.reaped(procscan.Status{})
		assert.Equal(t, 10.0, outcome.Report.Duration)
		assert.Equal(t, 10.0, outcome.Report.Breaches[0].Elapsed)
	})
}

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
		r.handle.Send(messages.Launched{Tree: r.tree, Mark: mark, Began: time.Now()})
		r.Supervisor.ExpectNothing(t)
		assert.Equal(t, messages.KindCancelled, messages.KindOf(r.reaped(procscan.Status{}).Err))
	})
	bubble(t, "launching, and nothing was launched", func(t *testing.T, r *rig) {
		r.launching()
		r.cancel(interrupted)
		r.Supervisor.ExpectNothing(t)
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
	bubble(t, "it runs, but we haven't heard so", func(t *testing.T, r *rig) {
		r.launching()
		r.cancel(interrupted)
		r.Supervisor.ExpectNothing(t)
		r.handle.Send(messages.Launched{Tree: r.tree, Mark: mark, Began: time.Now()})
		r.Supervisor.ExpectExactly(t, messages.SignalTree{Tree: r.tree, Signal: os.Interrupt})
		time.Sleep(grace)
		r.expectSweep()
		assert.Equal(t, interrupted, r.reaped(procscan.Status{}).Err)
	})
	bubble(t, "it never comes to run", func(t *testing.T, r *rig) {
		r.launching()
		r.cancel(interrupted)
		time.Sleep(grace)
		r.expectSweep()
		r.handle.Send(messages.LaunchFailed{Tree: r.tree, Err: messages.ErrClosing})
		assert.Equal(t, interrupted, r.outcome().Err)
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
			r.handle.Send(messages.Launched{Tree: r.tree, Mark: mark, Began: time.Now(), Identity: leader})
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
		r.handle.Send(messages.Launched{Tree: r.tree, Mark: mark, Began: time.Now()})
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
