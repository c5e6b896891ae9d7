package sweeper_test

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"
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

func TestLaunchTellsOwnerAndSupervisorAndOnlyTheSupervisorGetsTheChild(t *testing.T) {
	bubble(t, "launch", func(t *testing.T, b *bench) {
		began := time.Now()
		b.launch(messages.Start{})
		toOwner := actortest.Next[messages.Launched](t, b.owner)
		toSupervisor := actortest.Next[messages.Launched](t, b.Parent)
		assert.Nil(t, toOwner.Child)
		assert.Equal(t, began, toOwner.Began)
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
