package runtime_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
)

// busy is a Lean server in mid-work: its worker waits for a build that ignores SIGTERM,
// in a session of its own.
type busy struct {
	leader, server, worker, setup, build standins.Event
	answer                               chan error
}

func (l *lean) busy() busy {
	doc := l.write("Busy.lean", "-- fake: import-slow Slow\n")
	b := busy{answer: make(chan error, 1)}
	go func() {
		_, err := l.Diagnostics(bounded(l.t), doc)
		b.answer <- err
	}()
	await := func(role string) standins.Event {
		return standins.AwaitEvent(l.t, l.journal, standins.Is(role, journal.Start, ""), standins.Bound)
	}
	b.leader, b.server, b.worker, b.setup = await("lake"), await("server"), await("worker"), await("setup")
	b.build = standins.AwaitEvent(l.t, l.journal, standins.Is("build", "directive", "sleep"), standins.Bound) // deaf by then
	return b
}

// Reported fault 1: workers outlive their language server.
func TestReportedFault01WorkersOutliveTheirLanguageServer(t *testing.T) {
	for name, kill := range map[string]func(*lean, busy){
		"server killed":  func(l *lean, b busy) { standins.Kill(l.t, b.server, unix.SIGKILL) },
		"wrapper killed": func(l *lean, b busy) { standins.Kill(l.t, b.leader, unix.SIGKILL) },
		"worker killed too": func(l *lean, b busy) {
			standins.Kill(l.t, b.server, unix.SIGKILL)
			standins.Kill(l.t, b.worker, unix.SIGKILL)
		},
		"closed": func(l *lean, _ busy) { go func() { assert.NoError(l.t, l.Close()) }() },
	} {
		t.Run(name, func(t *testing.T) {
			polite := false
			for tries := 0; tries < 3 && !polite; tries++ {
				polite = endsWithItsWorkers(t, kill)
			}
			assert.True(t, polite, "the polite signal comes first")
		})
	}
}

// endsWithItsWorkers tells whether the polite signal was noted: a build that stands still for
// half a second is killed before it comes to that.
func endsWithItsWorkers(t *testing.T, kill func(*lean, busy)) (polite bool) {
	canary := standins.NewCanary(t)
	l := startLean(t, standins.At("build", "ignore-term", "sleep 0s"), standins.At("server", "no-group-kill"))
	b := l.busy()
	assert.NotEqual(t, b.server.SID, b.worker.SID, "the worker is in a session of its own")
	kill(l, b)
	l.expectGoneLeaderLast(b.leader)
	assert.True(t, canary.Alive())
	assert.Empty(t, standins.Select(t, l.journal, standins.Is("build", journal.Exit, "")), "SIGKILL ends what ignores the polite signal")
	assert.Error(t, <-b.answer, "the caller is told")
	return len(standins.Select(t, l.journal, standins.Is("build", journal.Signal, "SIGTERM"))) > 0
}

// expectGoneLeaderLast looks at all processes of the tree until none is left. While any
// lives, the leader must still be there, at least as a zombie: it is reaped last.
func (l *lean) expectGoneLeaderLast(leader standins.Event) {
	l.t.Helper()
	began := time.Now()
	gone := standins.Until(standins.Bound, func() bool {
		reaped := standins.Gone(leader.PID, leader.StartTicks) && !standins.IsZombie(leader.PID, leader.StartTicks)
		alive := standins.Survivors(l.t, l.journal)
		if reaped {
			assert.Empty(l.t, alive, "the leader was reaped before them")
		}
		return reaped
	})
	assert.True(l.t, gone, "the tree is still there")
	assert.Less(l.t, time.Since(began), shortly)
}

func TestServerThatIsKilledIsReplacedForTheNextCall(t *testing.T) {
	l := startLean(t)
	doc := l.write("A.lean", "def x : Nat := \"a\"\n")
	first, err := l.Diagnostics(bounded(t), doc)
	require.NoError(t, err)
	require.NotEmpty(t, first.Diagnostics)
	server := standins.AwaitEvent(t, l.journal, standins.Is("server", journal.Start, ""), standins.Bound)
	standins.Kill(t, server, unix.SIGKILL)
	require.True(t, standins.Until(standins.Bound, func() bool {
		status, err := l.Status(bounded(t))
		return err == nil && len(status.Sessions) == 0
	}), "its session ends unasked")
	second, err := l.Diagnostics(bounded(t), doc)
	require.NoError(t, err)
	assert.Equal(t, first.Diagnostics, second.Diagnostics)
	assert.Len(t, standins.Select(t, l.journal, standins.Is("server", journal.Start, "")), 2)
}

func TestTwoRuntimesInOneProcessShareNothing(t *testing.T) {
	l := startLean(t)
	other := l.start()
	doc := l.write("A.lean", "#check Nat\n")
	for _, rt := range []*supervisor.Runtime{l.Runtime, other} {
		_, err := rt.Diagnostics(bounded(t), doc)
		require.NoError(t, err)
	}
	leaders := standins.Select(t, l.journal, standins.Is("lake", journal.Start, ""))
	require.Len(t, leaders, 2, "each has its own server")
	require.NoError(t, other.Shutdown(bounded(t)))
	assert.True(t, standins.Gone(leaders[1].PID, leaders[1].StartTicks))
	assert.False(t, standins.Gone(leaders[0].PID, leaders[0].StartTicks))
	_, err := l.Diagnostics(bounded(t), doc)
	assert.NoError(t, err)
}

func TestShutRuntimeRefusesCallsAndKeepsNothing(t *testing.T) {
	l := startLean(t)
	doc := l.write("A.lean", "#check Nat\n")
	_, err := l.Diagnostics(bounded(t), doc)
	require.NoError(t, err)
	require.NoError(t, l.Shutdown(bounded(t)))
	standins.AwaitNoSurvivor(t, l.journal)
	_, err = l.Diagnostics(bounded(t), doc)
	assert.ErrorIs(t, err, messages.ErrClosed)
	_, err = l.Status(bounded(t))
	assert.ErrorIs(t, err, messages.ErrClosed)
	assert.NoError(t, l.Shutdown(bounded(t)), "again is harmless")
}

func TestShutdownLetsAdmittedCallsFinish(t *testing.T) {
	l := startLean(t)
	doc := l.write("Slow.lean", "-- fake: sleep 1s\ndef x : Nat := \"a\"\n")
	answer := make(chan error, 1)
	go func() {
		_, err := l.Diagnostics(bounded(t), doc)
		answer <- err
	}()
	standins.AwaitEvent(t, l.journal, standins.Is("worker", journal.Received, "textDocument/didOpen"), standins.Bound)
	assert.NoError(t, l.Shutdown(bounded(t)))
	assert.NoError(t, <-answer)
}

func TestCallerWhoLeavesIsToldSoAndTheServerStaysWarm(t *testing.T) {
	l := startLean(t)
	doc := l.write("Slow.lean", "-- fake: sleep 10m\n")
	ctx, cancel := context.WithCancelCause(bounded(t))
	answer := make(chan error, 1)
	go func() {
		_, err := l.Diagnostics(ctx, doc)
		answer <- err
	}()
	standins.AwaitEvent(t, l.journal, standins.Is("worker", journal.Received, "textDocument/didOpen"), standins.Bound)
	cancel(errors.New("left"))
	assert.Contains(t, []messages.Kind{messages.KindCancelled, messages.KindOutcomeUnknown}, messages.KindOf(<-answer),
		"the second where a slow machine does not say it in time")
	_, err := l.Diagnostics(bounded(t), l.write("B.lean", "#check Nat\n"))
	assert.NoError(t, err)
	assert.Len(t, standins.Select(t, l.journal, standins.Is("server", journal.Start, "")), 1, "the same server")
}
