package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
)

func (l *lean) starts() int {
	return len(standins.Select(l.t, l.journal, standins.Is("server", journal.Start, "")))
}

// Reported fault 24: status polling keeps idle resources alive.
func TestReportedFault24StatusKeepsNothingAliveAndStartsNothing(t *testing.T) {
	const idle = 2 * time.Second
	l := startLeanWith(t, func(cfg *supervisor.Config) { cfg.Idle = idle })
	doc := l.write("A.lean", "#check Nat\n")
	_, err := l.Diagnostics(bounded(t), doc)
	require.NoError(t, err)
	server := standins.AwaitEvent(t, l.journal, standins.Is("server", journal.Start, ""), standins.Bound)
	polled := 0
	gone := standins.Until(standins.Bound, func() bool {
		_, err := l.ProjectStatus(bounded(t), l.project)
		polled++
		return assert.NoError(t, err) && standins.Gone(server.PID, server.StartTicks)
	})
	assert.True(t, gone, "status counts as no use")
	got := func(method string) int64 {
		return standins.AwaitEvent(t, l.journal, standins.Is("server", journal.Received, method), standins.Bound).TimeNS
	}
	assert.GreaterOrEqual(t, got("shutdown")-got("textDocument/waitForDiagnostics"), int64(idle))
	assert.Greater(t, polled, 5)
	require.True(t, standins.Until(standins.Bound, func() bool {
		status, err := l.ProjectStatus(bounded(t), l.project)
		return err == nil && len(status.Entries) == 0
	}), "it is cold afterwards")
	assert.Equal(t, 1, l.starts(), "and nothing was started by asking")
}

func TestReportedFault24StatusIsAnsweredWhileACallAndAStartAreUnderWay(t *testing.T) {
	there := t.TempDir() // of the files for which the server and its work wait
	l := startLean(t, standins.At("server", "await "+there+"/initializing"))
	doc := l.write("Slow.lean", "-- fake: await "+there+"/ready\n")
	answer := make(chan error, 1)
	go func() {
		_, err := l.Diagnostics(bounded(t), doc)
		answer <- err
	}()
	for _, state := range []string{"initializing", "ready"} {
		require.True(t, standins.Until(standins.Bound, func() bool {
			status, err := l.Status(bounded(t))
			return err == nil && len(status.Sessions) == 1 && status.Sessions[0].State == state
		}), state)
		assert.Empty(t, answer, "the call is still under way")
		standins.WriteFile(t, filepath.Join(there, state), "")
	}
	assert.NoError(t, <-answer)
}

// Reported fault 26: first calls at the same moment start several servers.
func TestReportedFault26CallsAtTheSameMomentStartOneServer(t *testing.T) {
	slow := filepath.Join(t.TempDir(), "slow")
	l := startLean(t, standins.At("server", "await "+slow))
	doc := l.write("A.lean", "def x : Nat := \"a\"\n")
	linked := doc
	linked.Project = filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(l.project, linked.Project))
	var calls sync.WaitGroup
	for i := range 20 {
		named := doc
		if i%2 == 1 {
			named = linked
		}
		calls.Go(func() {
			report, err := l.Diagnostics(bounded(t), named)
			assert.NoError(t, err)
			assert.NotEmpty(t, report.Diagnostics)
		})
	}
	hasty, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := l.Diagnostics(hasty, doc)
	assert.Equal(t, messages.KindBusy, messages.KindOf(err), "it leaves alone: %v", err)
	standins.WriteFile(t, slow, "")
	calls.Wait()
	assert.Equal(t, 1, l.starts())
}

func TestReportedFault26FailedStartIsToldToAllAndFreesTheSlot(t *testing.T) {
	l := startLean(t, standins.At("server", "sleep 300ms", "stderr-text E-26", "exit 3"))
	doc := l.write("A.lean", "#check Nat\n")
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			_, err := l.Diagnostics(bounded(t), doc)
			assert.ErrorContains(t, err, "E-26")
		})
	}
	calls.Wait()
	assert.Less(t, l.starts(), 20, "they shared the attempts")
	standins.WriteKnobs(t, l.project, standins.Build(t).LeanEnv(l.journal)...)
	_, err := l.Diagnostics(bounded(t), doc)
	assert.NoError(t, err, "repaired, the next call works")
}
