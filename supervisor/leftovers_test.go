package supervisor_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
)

// carrier starts a process that carries the mark, and tells how it ended.
func carrier(t *testing.T, mark procscan.Mark) (pid int, ended func() string) {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.Env = []string{mark.Env()}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd.Process.Pid, func() string { return cmd.Wait().Error() }
}

// bySignal is the end of a carrier that was swept. One that stands still has no time to
// obey, and is killed.
const bySignal = "^signal: (terminated|killed)$"

// died writes the file of a runtime that died.
func died(t *testing.T, dir string, content map[string]any) (file string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "trees"), 0o700))
	require.NoError(t, os.Chmod(dir, 0o700))
	text, err := json.Marshal(content)
	require.NoError(t, err)
	file = filepath.Join(dir, "trees", "1-a.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return file
}

func TestSweepEndsWhatADeadRuntimeLeftAndADryRunOnlyTells(t *testing.T) {
	dir, mark := t.TempDir(), procscan.NewMark(procscan.RuntimeVar)
	pid, ended := carrier(t, mark)
	file := died(t, dir, map[string]any{"boot_id": procscan.BootID(), "pid": 123, "runtime": mark.Value})
	for _, dryRun := range []bool{true, false} {
		found, err := supervisor.SweepLeftovers(t.Context(), dir, dryRun)
		require.NoError(t, err)
		require.Len(t, found, 1)
		assert.Equal(t, 123, found[0].PID)
		require.Len(t, found[0].Processes, 1)
		assert.Equal(t, pid, found[0].Processes[0].PID)
	}
	assert.Regexp(t, bySignal, ended(), "and not before")
	assert.NoFileExists(t, file)
}

// TestSweepBesideTheDeadRuntimesGuardIsNoFailure: a start that follows a runtime's death
// at once is at it together with the guard, which removes the file first.
func TestSweepBesideTheDeadRuntimesGuardIsNoFailure(t *testing.T) {
	dir, mark := t.TempDir(), procscan.NewMark(procscan.RuntimeVar)
	_, ended := carrier(t, mark)
	file := died(t, dir, map[string]any{"boot_id": procscan.BootID(), "pid": 123, "runtime": mark.Value})
	guard := make(chan error, 1)
	go func() {
		ended() // long before the second of the two clean scans, but on a machine that stands still
		err := os.Remove(file)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		guard <- err
	}()
	found, err := supervisor.SweepLeftovers(t.Context(), dir, false)
	assert.NoError(t, err)
	assert.NoError(t, <-guard)
	require.Len(t, found, 1)
	assert.Len(t, found[0].Processes, 1)
}

func TestFileOfAnotherBootIsOnlyRemoved(t *testing.T) {
	dir, mark := t.TempDir(), procscan.NewMark(procscan.RuntimeVar)
	pid, _ := carrier(t, mark)
	file := died(t, dir, map[string]any{"boot_id": "another", "pid": 123, "runtime": mark.Value})
	found, err := supervisor.SweepLeftovers(t.Context(), dir, false)
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Empty(t, found[0].Processes)
	assert.NoFileExists(t, file)
	_, err = procscan.Read(pid)
	assert.NoError(t, err, "whose mark is the same by chance")
}

func TestRuntimeThatLivesIsNotTouched(t *testing.T) {
	dir, mark := t.TempDir(), procscan.NewMark(procscan.RuntimeVar)
	pid, _ := carrier(t, mark)
	path := died(t, dir, map[string]any{"boot_id": procscan.BootID(), "pid": os.Getpid(), "runtime": mark.Value})
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, unix.Flock(int(file.Fd()), unix.LOCK_EX))
	for _, dryRun := range []bool{true, false} {
		found, err := supervisor.SweepLeftovers(t.Context(), dir, dryRun)
		require.NoError(t, err)
		assert.Empty(t, found)
	}
	assert.FileExists(t, path)
	_, err = procscan.Read(pid)
	assert.NoError(t, err)
}

// TestRuntimeThatDiedAmidAStartHasLeftItsLockToTheChild: for as long as that takes to
// its program.
func TestRuntimeThatDiedAmidAStartHasLeftItsLockToTheChild(t *testing.T) {
	ended := exec.Command("true")
	require.NoError(t, ended.Run())
	for _, tt := range []struct {
		law   string
		pid   int
		held  time.Duration
		swept int
	}{
		{"the lock is waited for", ended.Process.Pid, 500 * time.Millisecond, 1},
		{"not for ever", ended.Process.Pid, time.Hour, 0},
		{"and not that of a runtime which lives", os.Getpid(), time.Nanosecond, 0},
	} {
		t.Run(tt.law, func(t *testing.T) {
			dir := t.TempDir()
			file := died(t, dir, map[string]any{"boot_id": procscan.BootID(), "pid": tt.pid, "runtime": "0123"})
			child, err := os.Open(file)
			require.NoError(t, err)
			defer func() { _ = child.Close() }()
			require.NoError(t, unix.Flock(int(child.Fd()), unix.LOCK_EX))
			synctest.Test(t, func(t *testing.T) {
				executes := time.AfterFunc(tt.held, func() { _ = unix.Flock(int(child.Fd()), unix.LOCK_UN) })
				defer executes.Stop()
				began := time.Now()
				found, err := supervisor.SweepLeftovers(t.Context(), dir, false)
				require.NoError(t, err)
				assert.Len(t, found, tt.swept)
				assert.Less(t, time.Since(began), 10*time.Second)
			})
		})
	}
}

func TestAFileThatSaysNothingIsNoReasonToEndAnything(t *testing.T) {
	for name, content := range map[string]map[string]any{
		"no mark":    {"boot_id": procscan.BootID(), "pid": 1},
		"wrong type": {"boot_id": 7},
	} {
		dir := t.TempDir()
		file := died(t, dir, content)
		found, err := supervisor.SweepLeftovers(t.Context(), dir, false)
		assert.ErrorContains(t, err, "remove it", name)
		require.Len(t, found, 1)
		assert.FileExists(t, file)
	}
	dir := t.TempDir()
	file := died(t, dir, nil)
	require.NoError(t, os.Truncate(file, 0))
	found, err := supervisor.SweepLeftovers(t.Context(), dir, false)
	assert.NoError(t, err, "its runtime died before its first child")
	assert.Empty(t, found)
	assert.NoFileExists(t, file)
}

func TestListThatOthersCouldHaveWrittenIsRefused(t *testing.T) {
	dir := t.TempDir()
	died(t, dir, map[string]any{"boot_id": procscan.BootID(), "pid": 1, "runtime": "x"})
	require.NoError(t, os.Chmod(dir, 0o755))
	_, err := supervisor.SweepLeftovers(t.Context(), dir, false)
	assert.Equal(t, messages.KindInvalid, messages.KindOf(err))
	found, err := supervisor.SweepLeftovers(t.Context(), filepath.Join(dir, "none"), false)
	assert.NoError(t, err)
	assert.Empty(t, found)
}

func TestSweepThatIsCalledOffKeepsTheFile(t *testing.T) {
	dir, mark := t.TempDir(), procscan.NewMark(procscan.RuntimeVar)
	file := died(t, dir, map[string]any{"boot_id": procscan.BootID(), "pid": 123, "runtime": mark.Value})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := supervisor.SweepLeftovers(ctx, dir, false)
	assert.ErrorIs(t, err, context.Canceled)
	assert.FileExists(t, file)
}

func TestRuntimeHoldsItsFileLockedAsLongAsItLives(t *testing.T) {
	cfg := supervisor.DefaultConfig()
	short, err := os.MkdirTemp("", "h")
	require.NoError(t, err)
	defer os.RemoveAll(short)
	cfg.RuntimeDir = short
	rt, err := supervisor.Start(t.Context(), cfg)
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(short, "trees", "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	info, err := os.Stat(files[0])
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	assert.Contains(t, string(text), procscan.BootID())
	found, err := supervisor.SweepLeftovers(t.Context(), short, false)
	require.NoError(t, err)
	assert.Empty(t, found)
	require.NoError(t, rt.Shutdown(t.Context()))
	assert.NoFileExists(t, files[0])
}

func TestRuntimeThatCannotWriteItsFileDoesNotStart(t *testing.T) {
	cfg := supervisor.DefaultConfig()
	short, err := os.MkdirTemp("", "h")
	require.NoError(t, err)
	defer os.RemoveAll(short)
	cfg.RuntimeDir = short
	require.NoError(t, os.Chmod(short, 0o755))
	_, err = supervisor.Start(t.Context(), cfg)
	assert.Equal(t, messages.KindInvalid, messages.KindOf(err))
}
