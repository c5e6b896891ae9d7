package buildwatch_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

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
		r.handle.Send(messages.Launched{Tree: r.tree, Mark: mark, Began: time.Now()})
		time.Sleep(2*grace + patience)
		assert.ErrorIs(t, (<-r.op.Reply.Answer()).Value.Err, syscall.EIO, "the first reason counts")
		r.handle.Send(messages.LeaderReaped{Tree: r.tree})
	})
}

func TestCallerThatIsSlowToTakeTheOutputHoldsUpItsAnswerAlone(t *testing.T) {
	bubble(t, "output", func(t *testing.T, r *rig) {
		const size = 40000 // a pipe has room for it
		nothing, err := os.Open(os.DevNull)
		require.NoError(t, err)
		ours, theirs, err := os.Pipe()
		require.NoError(t, err)
		defer func() { _ = ours.Close() }()
		_, err = theirs.Write(make([]byte, size))
		require.NoError(t, err)
		r.op.Output, r.op.Spec.Stdio = ours, procscan.Stdio{Stdin: nothing, Stdout: theirs, Stderr: theirs}
		r.ending(3)
		r.handle.Send(messages.LeaderReaped{Tree: r.tree, Status: procscan.Status{Code: 3}})
		time.Sleep(2*grace + patience + time.Minute)
		r.Parent.ExpectNothing(t)
		assert.Empty(t, r.op.Reply.Answer(), "its trees are gone, so that there is nothing to complain of")
		for taken := 0; taken < size; {
			taken += len((<-r.op.Events.Output()).Output)
		}
		outcome := r.outcome()
		assert.NoError(t, outcome.Err)
		assert.Equal(t, 3, outcome.Report.ExitCode)
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
