package sweeper_test

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/sweeper"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/actortest"
	"github.com/seed-f6977891/hearth/test/fakes"
)

// bench is one Sweeper with its machine. The harness's Parent plays the Supervisor
// as a parent, and owner the actor whose tree it is.
type bench struct {
	*actortest.Harness
	t       *testing.T
	machine *fakes.Machine
	owner   *actortest.Probe
	sweeper *actors.Handle
	mark    procscan.Mark
}

const tree = messages.TreeID(7)

var spec = procscan.Spec{Argv: []string{"server"}, Dir: "/project"}

func bubble(t *testing.T, name string, test func(*testing.T, *bench)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := &bench{Harness: actortest.New(t), t: t, machine: fakes.NewMachine(), mark: procscan.NewMark(procscan.SessionVar)}
			b.owner = b.NewProbe("owner")
			test(t, b)
		})
	})
}

func (b *bench) config() sweeper.Config {
	return sweeper.Config{Tree: tree, Owner: b.owner.Handle.Ref(), Role: messages.RoleLSP, Mark: b.mark,
		Launcher: b.machine.Launcher(), Table: b.machine.Table(), Grace: fakes.Grace}
}

func (b *bench) launch(start messages.Start) {
	b.sweeper = b.Spawn("sweeper", "7", sweeper.New(b.config()))
	marked := spec
	marked.Marks = []procscan.Mark{b.mark}
	b.sweeper.Send(messages.Launch{Spec: marked, Start: start})
}

// watching brings the Sweeper to Watching and gives its child.
func (b *bench) watching() *fakes.Child {
	b.launch(messages.Start{})
	actortest.Next[messages.Launched](b.t, b.owner)
	child := actortest.Next[messages.Launched](b.t, b.Parent).Child
	b.machine.Journal()
	return child.(*fakes.Child)
}

func (b *bench) sweep() { b.sweeper.Send(messages.Sweep{Tree: tree}) }

func (b *bench) expectReaped() {
	b.t.Helper()
	time.Sleep(fakes.Grace.Term + 2*fakes.Grace.Kill) // of the bubble
	reaped := actortest.Find[messages.LeaderReaped](b.t, b.owner)
	assert.Equal(b.t, reaped, actortest.Find[messages.LeaderReaped](b.t, b.Parent))
	assert.Equal(b.t, tree, reaped.Tree)
	assert.Empty(b.t, b.machine.Alive())
	b.sweeper.Stop()
	<-b.sweeper.Done()
}

func TestLaunchTellsOwnerAndSupervisorAndOnlyTheSupervisorGetsTheChild(t *testing.T) {
	bubble(t, "launch", func(t *testing.T, b *bench) {
		b.launch(messages.Start{})
		toOwner := actortest.Next[messages.Launched](t, b.owner)
		toSupervisor := actortest.Next[messages.Launched](t, b.Parent)
		assert.Nil(t, toOwner.Child)
		assert.NotNil(t, toOwner.Pipes.Stdin)
		require.NotNil(t, toSupervisor.Child)
		assert.Equal(t, toSupervisor.Child.Identity(), toOwner.Identity)
		b.sweep()
		b.expectReaped()
	})
}

func TestFailedLaunchLeavesNothingAndSaysHowToInstallTheProgram(t *testing.T) {
	bubble(t, "fail", func(t *testing.T, b *bench) {
		b.machine.FailLaunch(func(s procscan.Spec) error {
			return &procscan.StartError{Argv0: s.Argv[0], Dir: s.Dir, Diagnosis: s.Argv[0] + " is not on PATH", Err: fs.ErrNotExist}
		})
		b.launch(messages.Start{Fallbacks: [][]string{{"other"}}, Hint: "install it"})
		failed := actortest.Next[messages.LaunchFailed](t, b.owner)
		assert.Equal(t, failed, actortest.Next[messages.LaunchFailed](t, b.Parent))
		var launch *messages.LaunchError
		require.ErrorAs(t, failed.Err, &launch)
		assert.Contains(t, launch.Error(), "not on PATH; install it")
	})
}

func TestFirstProgramThatIsFoundIsLaunched(t *testing.T) {
	bubble(t, "fallback", func(t *testing.T, b *bench) {
		b.machine.FailLaunch(func(s procscan.Spec) error {
			if s.Argv[0] == "other" {
				return nil
			}
			return &procscan.StartError{Argv0: s.Argv[0], Diagnosis: "not found", Err: fs.ErrNotExist}
		})
		b.launch(messages.Start{Fallbacks: [][]string{{"other"}, {"third"}}})
		actortest.Next[messages.Launched](t, b.owner)
		assert.Equal(t, []string{"launch other"}, b.machine.Journal())
		b.sweep()
		b.expectReaped()
	})
}

func TestProgramThatIsFoundAndFailsIsNotReplacedByAFallback(t *testing.T) {
	bubble(t, "found", func(t *testing.T, b *bench) {
		b.machine.FailLaunch(func(s procscan.Spec) error {
			return &procscan.StartError{Argv0: s.Argv[0], Diagnosis: s.Argv[0] + " is not executable", Err: syscall.EACCES}
		})
		b.launch(messages.Start{Fallbacks: [][]string{{"other"}}, Hint: "install it"})
		failed := actortest.Next[messages.LaunchFailed](t, b.owner)
		assert.Contains(t, failed.Err.Error(), "server is not executable")
		assert.NotContains(t, failed.Err.Error(), "install it")
	})
}

func TestSweepDuringLaunchEndsTheTreeAsSoonAsItRuns(t *testing.T) {
	bubble(t, "sweep", func(t *testing.T, b *bench) {
		release := b.machine.HoldLaunches()
		b.launch(messages.Start{})
		b.sweep()
		b.owner.ExpectNothing(t)
		release()
		actortest.Next[messages.Launched](t, b.owner)
		b.expectReaped()
	})
	bubble(t, "sweep, and the launch fails", func(t *testing.T, b *bench) {
		release := b.machine.HoldLaunches()
		b.machine.FailLaunch(func(procscan.Spec) error { return errors.New("no") })
		b.launch(messages.Start{})
		b.sweep()
		release()
		actortest.Next[messages.LaunchFailed](t, b.owner)
		actortest.Next[messages.LaunchFailed](t, b.Parent)
	})
}

func TestLateLaunchIsToldAndThenEnded(t *testing.T) {
	bubble(t, "late", func(t *testing.T, b *bench) {
		release := b.machine.HoldLaunches()
		b.launch(messages.Start{Limit: time.Minute})
		time.Sleep(time.Minute)
		b.owner.ExpectExactly(t, messages.LaunchLate{Tree: tree})
		release()
		actortest.Next[messages.Launched](t, b.owner)
		b.expectReaped()
	})
	bubble(t, "late, and it never comes", func(t *testing.T, b *bench) {
		release := b.machine.HoldLaunches()
		b.machine.FailLaunch(func(procscan.Spec) error { return errors.New("no") })
		b.launch(messages.Start{Limit: time.Minute})
		time.Sleep(time.Minute)
		actortest.Next[messages.LaunchLate](t, b.owner)
		release()
		b.owner.ExpectExactly(t, messages.LeaderReaped{Tree: tree})
		b.Parent.ExpectExactly(t, messages.LeaderReaped{Tree: tree})
	})
}

func TestLaunchLimitIsOverOnceTheLeaderRuns(t *testing.T) {
	bubble(t, "limit", func(t *testing.T, b *bench) {
		b.launch(messages.Start{Limit: time.Minute})
		actortest.Next[messages.Launched](t, b.owner)
		time.Sleep(2 * time.Minute)
		b.owner.ExpectNothing(t)
		b.sweep()
		b.expectReaped()
	})
}

func TestLeaderThatExitsStaysAZombieUntilTheSweep(t *testing.T) {
	bubble(t, "leader down", func(t *testing.T, b *bench) {
		child := b.watching()
		orphan := child.Escapee()
		child.Exit(procscan.Status{Code: 3})
		b.owner.ExpectExactly(t, messages.LeaderDown{Tree: tree, Status: procscan.Status{Code: 3}})
		b.Parent.ExpectNothing(t)
		time.Sleep(time.Hour)
		assert.Empty(t, b.machine.Journal(), "nothing is signalled or reaped before a Sweep")
		assert.Equal(t, []int{orphan.PID}, b.machine.Alive())
		b.sweep()
		b.expectReaped()
	})
}

func TestLeaderIsReapedLast(t *testing.T) {
	bubble(t, "order", func(t *testing.T, b *bench) {
		child := b.watching()
		escapee := child.Escapee()
		escapee.IgnoreTERM()
		b.sweep()
		time.Sleep(fakes.Grace.Term + fakes.Grace.Kill)
		journal := b.machine.Journal()
		assert.Equal(t, "group terminated", journal[0])
		assert.Equal(t, "reap", journal[len(journal)-1])
		assert.Contains(t, journal, "killed "+strconv.Itoa(escapee.PID))
		b.expectReaped()
	})
}

func TestRetryDoesNotSignalARetiredGroupAgain(t *testing.T) {
	bubble(t, "retry", func(t *testing.T, b *bench) {
		child := b.watching()
		stuck := child.Escapee()
		stuck.SetUnkillable(true)
		b.sweep()
		time.Sleep(fakes.Grace.Term + fakes.Grace.Kill + time.Second)
		failed := actortest.Find[messages.SweepFailed](t, b.owner)
		assert.Equal(t, 1, failed.Cause.Attempt)
		assert.Equal(t, []procscan.Identity{{PID: stuck.PID, StartTicks: uint64(stuck.PID)}}, failed.Cause.Remaining)
		b.machine.Journal()
		time.Sleep(10 * time.Minute)
		for _, done := range b.machine.Journal() {
			assert.NotContains(t, done, "group", "the group's number may be somebody else's by now")
			assert.NotEqual(t, "reap", done)
		}
		stuck.SetUnkillable(false)
		time.Sleep(10 * time.Second)
		b.expectReaped()
	})
}

func TestFailedTableIsAFailedAttemptAndRetriesBackOffFromTenMillisecondsToOneSecond(t *testing.T) {
	bubble(t, "table", func(t *testing.T, b *bench) {
		b.watching()
		unreadable := errors.New("unreadable")
		for range 10 {
			b.machine.FailScans(unreadable)
		}
		b.sweep()
		var waits []time.Duration
		last := time.Now()
		for range 10 {
			failed := awaitFailure(t, b)
			waits = append(waits, time.Since(last))
			last = time.Now()
			assert.ErrorIs(t, failed.Cause, unreadable)
		}
		ms := time.Millisecond
		assert.Equal(t, []time.Duration{10 * ms, 20 * ms, 40 * ms, 80 * ms, 160 * ms, 320 * ms, 640 * ms, time.Second, time.Second},
			waits[1:])
		time.Sleep(2 * time.Second)
		b.expectReaped()
	})
}

// awaitFailure advances the bubble by single milliseconds until an attempt failed.
func awaitFailure(t *testing.T, b *bench) messages.SweepFailed {
	for range 5000 {
		for _, msg := range b.owner.Take() {
			if failed, ok := msg.(messages.SweepFailed); ok {
				return failed
			}
		}
		time.Sleep(time.Millisecond)
	}
	require.Fail(t, "no attempt failed")
	panic("unreachable")
}

func TestFailedGroupIsRetriedAtTheGroupAndFailedReapAtTheReap(t *testing.T) {
	bubble(t, "group", func(t *testing.T, b *bench) {
		child := b.watching()
		child.FailGroup(slices.Repeat([]error{errors.New("unreadable")}, 100)...) // more looks than an attempt takes
		b.sweep()
		assert.Equal(t, 1, awaitFailure(t, b).Cause.Attempt)
		assert.Equal(t, 1, count(b.machine.Journal(), "group killed"), "it need not be seen to be ended")
		time.Sleep(time.Second)
		assert.Equal(t, 1, count(b.machine.Journal(), "group terminated"))
		b.expectReaped()
	})
	bubble(t, "reap", func(t *testing.T, b *bench) {
		child := b.watching()
		child.FailReaps(errors.New("interrupted"))
		b.sweep()
		awaitFailure(t, b)
		b.machine.Journal()
		time.Sleep(time.Second)
		assert.Equal(t, []string{"reap"}, b.machine.Journal(), "neither signal nor scan once the reap has begun")
		b.expectReaped()
	})
}

func TestEveryFurtherSweepJoins(t *testing.T) {
	bubble(t, "join", func(t *testing.T, b *bench) {
		child := b.watching()
		child.IgnoreTERM()
		for range 20 {
			b.sweep()
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(time.Second)
		journal := b.machine.Journal()
		assert.Equal(t, 1, count(journal, "group terminated"), "one retirement: %v", journal)
		assert.Equal(t, 1, count(journal, "reap"))
		b.sweep()
		b.expectReaped()
	})
}

func TestSignalReachesTheGroupOnlyWhileTheTreeIsWatched(t *testing.T) {
	bubble(t, "signal", func(t *testing.T, b *bench) {
		signal := messages.SignalTree{Tree: tree, Signal: syscall.SIGINT}
		release := b.machine.HoldLaunches()
		b.launch(messages.Start{})
		b.sweeper.Send(signal)
		release()
		child := actortest.Next[messages.Launched](t, b.Parent).Child.(*fakes.Child)
		assert.Equal(t, []string{"launch server"}, b.machine.Journal(), "there was nothing to signal")
		b.sweeper.Send(signal)
		b.Parent.ExpectNothing(t)
		assert.Equal(t, []string{"group interrupt"}, b.machine.Journal())
		child.SetUnkillable(true)
		b.sweep()
		b.sweeper.Send(signal)
		b.Parent.ExpectNothing(t)
		assert.Zero(t, count(b.machine.Journal(), "group interrupt"), "its end has begun")
		child.SetUnkillable(false)
		time.Sleep(10 * time.Second)
		b.expectReaped()
	})
}

func TestSnapshotsShowTheStepAndGoWithTheTree(t *testing.T) {
	bubble(t, "snapshots", func(t *testing.T, b *bench) {
		b.watching()
		b.machine.FailScans(errors.New("unreadable"))
		b.sweep()
		time.Sleep(2 * time.Second)
		b.expectReaped()
		var states []string
		var retracted bool
		for _, msg := range b.Observer.Take() {
			switch msg := msg.(type) {
			case messages.Publish:
				states = append(states, msg.Snapshot.(messages.TreeSnapshot).State)
			case messages.Retract:
				retracted = true
			}
		}
		assert.Equal(t, []string{"launching", "watching", "retiring", "sweeping", "backoff", "sweeping", "reaping", "reaped"}, states)
		assert.True(t, retracted)
	})
}

// A Sweeper's successor takes the child up where it stands.
func TestSuccessorGoesOnWhereTheChildStands(t *testing.T) {
	for name, stage := range map[string]procscan.Stage{"running": procscan.Running, "retired": procscan.Retired, "reaping": procscan.Reaping} {
		bubble(t, name, func(t *testing.T, b *bench) {
			child := b.watching()
			b.sweeper.Stop() // a fault of the program, which kills the group
			<-b.sweeper.Done()
			assert.Equal(t, []string{"group killed"}, b.machine.Journal())
			if stage >= procscan.Retired {
				child.Retire()
			}
			if stage == procscan.Reaping {
				_, err := child.Reap(t.Context())
				require.NoError(t, err)
			}
			b.machine.Journal()
			cfg := b.config()
			cfg.Child = child
			b.sweeper = b.Spawn("sweeper", "7", sweeper.New(cfg))
			time.Sleep(time.Second)
			if stage != procscan.Running {
				for _, done := range b.machine.Journal() {
					assert.NotContains(t, done, "group")
				}
			}
			b.expectReaped()
		})
	}
}

func TestOutcomeOfALaunchWhoseSweeperFailedGoesToTheSupervisor(t *testing.T) {
	spawn := func(t *testing.T, b *bench) {
		cfg := b.config()
		b.sweeper = b.Spawn("sweeper", "7", func(self *actors.Self) actors.Behaviour {
			return failing{sweeper.New(cfg)(self)}
		})
		b.sweeper.Send(messages.Launch{Spec: spec})
		b.sweeper.Send("fail")
		down := actortest.Next[messages.Down](t, b.Parent)
		assert.Equal(t, 1, down.Workers)
	}
	bubble(t, "no child", func(t *testing.T, b *bench) {
		b.machine.HoldLaunches() // until the launch's own context, which ends with the actor
		spawn(t, b)
		orphaned := actortest.Find[messages.LaunchOrphaned](t, b.Supervisor)
		assert.Equal(t, tree, orphaned.Tree)
		assert.Nil(t, orphaned.Child)
		assert.Empty(t, b.machine.Alive())
	})
	bubble(t, "a child", func(t *testing.T, b *bench) {
		gate := make(chan struct{})
		b.machine.OnLaunch(func(*fakes.Child) { <-gate }) // too late to call it off
		spawn(t, b)
		close(gate)
		orphaned := actortest.Find[messages.LaunchOrphaned](t, b.Supervisor)
		require.NotNil(t, orphaned.Child)
		assert.Equal(t, messages.WorkersIn{From: b.sweeper.Ref()}, actortest.Find[messages.WorkersIn](t, b.Supervisor))
		assert.NoError(t, orphaned.Child.SignalGroup(syscall.SIGKILL))
		_, err := orphaned.Child.Reap(t.Context())
		assert.NoError(t, err)
	})
}

// failing panics at the message "fail", and passes everything else on.
type failing struct{ actors.Behaviour }

func (f failing) Receive(msg any) {
	if msg == "fail" {
		panic("boom")
	}
	f.Behaviour.Receive(msg)
}

func count(journal []string, what string) (n int) {
	for _, done := range journal {
		if done == what {
			n++
		}
	}
	return n
}
