package watch_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor/client"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/test/leftovers"
)

// daemon runs one for the test, and gives a client of it.
func daemon(t *testing.T) *client.Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "hw") // a socket's path must be short
	require.NoError(t, err)
	mark := procscan.NewMark("HEARTH_TEST_MARK")
	var log bytes.Buffer
	serve := exec.Command(program, "serve", "--socket", filepath.Join(dir, "s.sock"))
	serve.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir, mark.Env())
	serve.Stderr = &log
	require.NoError(t, serve.Start())
	await(t, dir, "s.sock")
	c, err := client.New(config.Default(), client.WithSocket(filepath.Join(dir, "s.sock")), client.WithoutStart(), client.WithProgram(program))
	require.NoError(t, err)
	require.Eventually(t, func() bool { // its file is there a moment before it listens
		_, err := c.Ping(t.Context())
		return err == nil
	}, bound, 10*time.Millisecond)
	t.Cleanup(func() {
		assert.NoError(t, c.Close())
		assert.NoError(t, serve.Process.Signal(syscall.SIGTERM))
		assert.NoError(t, serve.Wait(), log.String())
		scan, err := procscan.SystemTable().Scan(context.Background(), mark)
		if assert.NoError(t, err) {
			assert.Empty(t, scan.Hits, "processes are left")
			scan.Close()
		}
		leftovers.End(t, mark)
		assert.NoError(t, os.RemoveAll(dir))
	})
	return c
}

func TestDaemonWatchesABuildAndTellsOfIt(t *testing.T) {
	dir, c := t.TempDir(), daemon(t)
	write(t, 0o755, "#!/bin/sh\necho compiling; sleep 600\n", dir, "cc")
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	var heard []messages.BuildEvent
	output := ""
	report, err := c.WatchBuild(ctx, messages.Build{Dir: dir, Argv: []string{"./cc", "-c", "slow.c"}, PerFile: 2 * time.Second}, func(e messages.BuildEvent) {
		if output += e.Output; e.Output == "" {
			heard = append(heard, e)
			return
		}
		status, err := c.ProjectStatus(ctx, dir)
		if assert.NoError(t, err) && assert.Len(t, status.Builds, 1) {
			assert.Equal(t, "./cc -c slow.c", status.Builds[0].Command)
		}
	})
	require.NoError(t, err)
	assert.Equal(t, messages.ExitBreach, report.ExitCode)
	require.Len(t, report.Breaches, 1)
	assert.Equal(t, "slow.c", report.Breaches[0].File)
	assert.Equal(t, "compiling\n", output)
	require.NotEmpty(t, heard)
	assert.True(t, slices.ContainsFunc(heard, func(e messages.BuildEvent) bool {
		return len(e.Breaches) == 0 && len(e.Running) == 1 && e.Running[0].File == "slow.c"
	}), "%v", heard)
	assert.Equal(t, report.Breaches, heard[len(heard)-1].Breaches)
	status, err := c.Status(ctx)
	require.NoError(t, err)
	assert.Empty(t, status.Builds)
	assert.Empty(t, status.Trees)
}

func TestDaemonEndsTheBuildOfACallerWhoLeaves(t *testing.T) {
	dir, c := t.TempDir(), daemon(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.WatchBuild(ctx, messages.Build{Dir: dir, Argv: []string{"sh", "-c", "echo begun; sleep 600 & wait"}}, func(e messages.BuildEvent) {
		if e.Output != "" {
			cancel()
		}
	})
	assert.Equal(t, messages.KindCancelled, messages.KindOf(err), "%v", err)
	status, err := c.Status(t.Context())
	require.NoError(t, err)
	assert.Empty(t, status.Trees, "the answer comes when it has ended")
}
