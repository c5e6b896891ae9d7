package sweeper_test

import (
	"errors"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors/sweeper"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/actortest"
	"github.com/seed-f6977891/hearth/test/fakes"
)

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

// TestExitIsAwaitedAgainAfterAFailure: a build's watcher learns of the end by nothing else.
func TestExitIsAwaitedAgainAfterAFailure(t *testing.T) {
	bubble(t, "no descriptor left", func(t *testing.T, b *bench) {
		full := errors.New("too many open files")
		b.machine.OnLaunch(func(c *fakes.Child) { c.FailExits(full, full) })
		child := b.watching()
		child.Exit(procscan.Status{Code: 3})
		b.owner.ExpectNothing(t)
		time.Sleep(10 * time.Second)
		b.owner.ExpectExactly(t, messages.LeaderDown{Tree: tree, Status: procscan.Status{Code: 3}})
		b.sweep()
		b.expectReaped()
	})
	bubble(t, "the end comes first", func(t *testing.T, b *bench) {
		b.machine.OnLaunch(func(c *fakes.Child) { c.FailExits(errors.New("too many open files")) })
		b.watching()
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
