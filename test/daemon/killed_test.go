package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/play"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

// escaping is a server with a child in a session of its own that ignores SIGTERM.
var escaping = script.LSP{Rules: []script.Rule{script.When("textDocument/didOpen",
	script.Start(play.Spawn{Setsid: true, IgnoreTerm: true}), script.Default())}}

// checked is a home whose daemon holds such a server; the guard of the daemon watches.
func checked(t *testing.T) (h *home, daemon, guard int) {
	t.Helper()
	h = newHome(t, options{lsp: escaping})
	daemon = h.start().PID
	got := h.hearth("check", h.file())
	require.Zero(t, got.code, got.stderr)
	h.lsp.Await(t, standins.Is(play.Sleeper, journal.Start, ""))
	require.True(t, standins.Until(bound, func() bool {
		_, err := fmt.Sscanf(h.status().Keeping.Guard, "watching (process %d)", &guard)
		return err == nil
	}), "%+v", h.status().Keeping)
	return h, daemon, guard
}

func (h *home) trees() (files []string) {
	files, err := filepath.Glob(filepath.Join(h.dir, "trees", "*"))
	assert.NoError(h.t, err)
	return files
}

// kill ends a process as the kernel does when memory runs out, and waits until its last
// thread is gone: until then a daemon's socket is open and its files are locked.
func kill(t testing.TB, pid int) {
	t.Helper()
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	require.True(t, standins.Until(bound, func() bool {
		_, err := procscan.Read(pid)
		return procscan.IsGone(err)
	}))
}

// killBoth kills the daemon and its guard, which is stopped before so that it can't do
// anything: a daemon whose guard died first would start the next one.
func killBoth(t *testing.T, guard, daemon int) {
	t.Helper()
	require.NoError(t, syscall.Kill(guard, syscall.SIGSTOP))
	require.True(t, standins.Until(bound, func() bool { return stopped(t, guard) }))
	kill(t, daemon)
	kill(t, guard)
}

// stopped tells whether each thread of a process is.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	require.NoError(t, err)
	require.NotEmpty(t, threads)
	return !slices.ContainsFunc(threads, func(thread string) bool {
		text, err := os.ReadFile(thread)
		return err == nil && !strings.Contains(string(text), ") T ") // else it has ended
	})
}

// escaped are the processes that outlive their server's stdin.
func (h *home) escaped() (found []standins.Event) {
	for _, e := range standins.Survivors(h.t, h.lsp.Journal) {
		if e.Role == play.Sleeper {
			found = append(found, e)
		}
	}
	return found
}

func TestNothingIsLeftOfADaemonThatIsKilled(t *testing.T) {
	h, daemon, _ := checked(t)
	assert.Len(t, h.trees(), 1)
	kill(t, daemon)
	assert.True(t, standins.Until(bound, func() bool { return len(h.left()) == 0 }), "%v", h.left())
	assert.Empty(t, h.trees())
}

func TestWhatDaemonAndGuardLeaveTogetherEndsAtTheNextStart(t *testing.T) {
	h, daemon, guard := checked(t)
	killBoth(t, guard, daemon)
	require.Len(t, h.trees(), 1)
	h.start()
	assert.True(t, standins.Until(bound, func() bool {
		return len(standins.Survivors(t, h.lsp.Journal)) == 0 && len(h.trees()) == 1
	}), "%v", h.left())
}

func TestWhatDaemonAndGuardLeaveTogetherIsShownAndSweptByAPerson(t *testing.T) {
	h, daemon, guard := checked(t)
	killBoth(t, guard, daemon)
	left := h.escaped()
	require.NotEmpty(t, left)
	for _, args := range [][]string{{"doctor"}, {"sweep", "--dry-run"}} {
		got := h.hearth(args...)
		require.Zero(t, got.code, got.stderr)
		assert.Regexp(t, fmt.Sprintf(`runtime %d: would be ended: .*\b%d\b`, daemon, left[0].PID), got.stdout)
	}
	assert.Equal(t, left, h.escaped(), "a dry run ends nothing")
	got := h.hearth("sweep")
	assert.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stdout, fmt.Sprintf("runtime %d: ended: ", daemon))
	assert.Empty(t, h.left())
	assert.Empty(t, h.trees())
}

func TestARunningDaemonIsNothingToSweep(t *testing.T) {
	h, daemon, _ := checked(t)
	got := h.hearth("sweep")
	assert.Zero(t, got.code)
	assert.Contains(t, got.stdout, "No runtime that died")
	assert.Equal(t, daemon, h.status().PID)
	assert.Len(t, standins.Survivors(t, h.lsp.Journal), 2)
}
