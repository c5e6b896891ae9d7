package main_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/play"
)

// slow opens a file whose import builds for minutes, and returns the processes from the wrapper down to the build.
func slow(t *testing.T, e *editor) (lake, server, worker, setup, build standins.Event) {
	t.Helper()
	e.open(t, "A.lean", "-- fake: import-slow Slow 5m\n#check Nat\n", "")
	build = e.await(t, "build", journal.Start, "")
	return e.await(t, "lake", journal.Start, ""), e.await(t, "server", journal.Start, ""),
		e.await(t, "worker", journal.Start, ""), e.await(t, "setup", journal.Start, ""), build
}

// ids returns group, session and parent of a live process from /proc.
func ids(t *testing.T, pid int) (group, session, parent int) {
	t.Helper()
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	require.NoError(t, err)
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+2:])
	number := func(i int) int { n, _ := strconv.Atoi(string(fields[i])); return n }
	return number(2), number(3), number(1)
}

func TestEveryLevelHasTheGroupSessionAndParentOfTheRealOnes(t *testing.T) {
	e := edit(t)
	lake, server, worker, setup, build := slow(t, e)
	require.Equal(t, e.PID, lake.PID)
	for _, want := range []struct{ pid, group, session, parent int }{
		{lake.PID, lake.PID, lake.PID, os.Getpid()},
		{server.PID, lake.PID, lake.PID, lake.PID},
		{worker.PID, worker.PID, worker.PID, server.PID},
		{setup.PID, worker.PID, worker.PID, worker.PID},
		{build.PID, worker.PID, worker.PID, setup.PID},
	} {
		group, session, parent := ids(t, want.pid)
		require.Equal(t, want, struct{ pid, group, session, parent int }{want.pid, group, session, parent})
	}
}

func TestABuildIsAnExecutableNamedLeanWithItsSourceInTheCommandLine(t *testing.T) {
	e := edit(t)
	_, _, _, _, build := slow(t, e)
	exe, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(build.PID), "exe"))
	require.NoError(t, err)
	require.Equal(t, "lean", filepath.Base(exe))
	require.Contains(t, string(build.Data), `Slow.lean","-o",".lake/build/lib/lean/Slow.olean"`)
}

func TestTheEnvironmentReachesEveryLevel(t *testing.T) {
	e := edit(t, "MARK_OF_THIS_TEST=x")
	_, _, _, _, build := slow(t, e)
	environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(build.PID), "environ"))
	require.NoError(t, err)
	require.Contains(t, string(environ), "MARK_OF_THIS_TEST=x\x00")
	require.Contains(t, string(environ), "LEAN_SYSROOT=")
}

func TestAKilledServerLeavesItsBuildsBehind(t *testing.T) {
	e := edit(t)
	lake, server, worker, setup, build := slow(t, e)
	standins.Kill(t, server, unix.SIGKILL)
	require.Equal(t, 128+9, e.ExitCode(t)) // lake returns the code of its child
	standins.AwaitGone(t, worker.PID, worker.StartTicks)
	e.await(t, "worker", journal.Exit, "1") // at the end of its input
	require.True(t, standins.Gone(lake.PID, lake.StartTicks))
	require.False(t, standins.Gone(setup.PID, setup.StartTicks))
	require.False(t, standins.Gone(build.PID, build.StartTicks))
}

func TestAKilledServerLeavesAnOldWorkerBehindThatSitsInSetup(t *testing.T) {
	e := edit(t, standins.At("worker", "block-in-setup"))
	_, server, worker, _, _ := slow(t, e)
	standins.Kill(t, server, unix.SIGKILL)
	require.Equal(t, 128+9, e.ExitCode(t))
	require.False(t, standins.Gone(worker.PID, worker.StartTicks))
	require.Empty(t, standins.Select(t, e.journal, standins.Is("worker", journal.EOF, "")))
}

func TestAWorkerCanIgnoreTheEndOfItsInput(t *testing.T) {
	e := edit(t)
	e.open(t, "A.lean", "-- fake: ignore-eof\n", "")
	e.waitForDiagnostics(t, "A.lean", 1)
	standins.Kill(t, e.await(t, "server", journal.Start, ""), unix.SIGKILL)
	worker := e.await(t, "worker", journal.EOF, "")
	require.False(t, standins.Gone(worker.PID, worker.StartTicks))
}

func TestAKilledWrapperLeavesTheServerWithItsInput(t *testing.T) {
	e := edit(t)
	e.Initialize(t, nil)
	server := e.await(t, "server", journal.Start, "")
	require.NoError(t, e.Cmd.Process.Kill())
	require.Equal(t, -1, e.ExitCode(t))
	require.NotEmpty(t, e.Call(t, "workspace/symbol", map[string]string{"query": "answer"}).Message.Result)
	require.False(t, standins.Gone(server.PID, server.StartTicks))
	e.CloseInput()
	standins.AwaitGone(t, server.PID, server.StartTicks)
}

func TestShutdownEndsAllGroupsAndIsAnsweredAfterwards(t *testing.T) {
	e := edit(t, standins.At("build", "ignore-term"))
	slow(t, e)
	require.JSONEq(t, "null", string(e.Call(t, "shutdown", nil).Message.Result))
	started := standins.Select(t, e.journal, standins.Is("", journal.Start, ""))
	require.Len(t, started, 5)
	for _, p := range started[2:] {
		standins.AwaitGone(t, p.PID, p.StartTicks)
	}
	require.Equal(t, -32600, e.Call(t, "workspace/symbol", map[string]string{"query": ""}).Error.Code)
	e.Notify(t, "exit", nil)
	require.Zero(t, e.ExitCode(t))
	require.Empty(t, standins.Survivors(t, e.journal))
}

func TestAnOldServerLeavesBuildsBehindAtShutdown(t *testing.T) {
	e := edit(t, standins.At("server", "no-group-kill"))
	_, _, worker, setup, build := slow(t, e)
	require.Nil(t, e.Call(t, "shutdown", nil).Error)
	e.Notify(t, "exit", nil)
	require.Zero(t, e.ExitCode(t))
	require.True(t, standins.Gone(worker.PID, worker.StartTicks))
	require.False(t, standins.Gone(setup.PID, setup.StartTicks))
	require.False(t, standins.Gone(build.PID, build.StartTicks))
}

func TestEndOfInputBeforeShutdownKillsTheWorkersAndIsCodeOne(t *testing.T) {
	e := edit(t)
	_, _, _, _, build := slow(t, e)
	e.CloseInput()
	require.Equal(t, 1, e.ExitCode(t))
	require.Contains(t, e.Stderr(t), "Watchdog error: Cannot read LSP message: Stream was closed")
	standins.AwaitGone(t, build.PID, build.StartTicks)
}

func TestEndOfInputAfterShutdownIsCodeZero(t *testing.T) {
	e := edit(t)
	e.Initialize(t, nil)
	e.Call(t, "shutdown", nil)
	e.CloseInput()
	require.Zero(t, e.ExitCode(t))
}

func TestAWrapperThatExitsEarlyOrphansTheServer(t *testing.T) {
	e := edit(t, standins.At("lake", "exit-early"))
	require.Zero(t, e.ExitCode(t))
	server := e.await(t, "server", journal.Start, "")
	require.Contains(t, e.Initialize(t, nil).Body, "Lean 4 Server")
	require.False(t, standins.Gone(server.PID, server.StartTicks))
}

func TestKnobsAtTheStartOfARole(t *testing.T) {
	t.Run("a start that fails says why", func(t *testing.T) {
		e := edit(t, standins.At("lake", "stderr-text error: no toolchain", "exit 1"))
		require.Equal(t, 1, e.ExitCode(t))
		require.Equal(t, "error: no toolchain\n", e.Stderr(t))
	})
	t.Run("a server that never answers shutdown", func(t *testing.T) {
		e := edit(t, standins.At("server", "no-shutdown"))
		e.Initialize(t, nil)
		e.AwaitMethod(t, "client/registerCapability")
		e.Send(t, "shutdown", nil)
		e.Notify(t, "exit", nil)
		require.ErrorIs(t, e.AwaitEnd(t), io.EOF)
		received, _ := e.Received()
		require.Len(t, received, 2) // initialize's answer and the registration
	})
	t.Run("a misspelt deed ends the process", func(t *testing.T) {
		e := edit(t, standins.At("server", "wibble"))
		require.Equal(t, play.Misuse, e.ExitCode(t))
		require.Contains(t, e.Stderr(t), "wibble")
	})
	t.Run("slow to obey a signal", func(t *testing.T) {
		e := edit(t, standins.At("server", "slow-term 300ms"))
		e.Initialize(t, nil)
		server := e.await(t, "server", journal.Start, "")
		standins.Kill(t, server, unix.SIGTERM)
		require.Equal(t, 128+15, e.ExitCode(t))
		got, ended := e.await(t, "server", journal.Signal, "SIGTERM"), e.await(t, "server", journal.Exit, "SIGTERM")
		require.GreaterOrEqual(t, ended.TimeNS-got.TimeNS, int64(300e6))
	})
	t.Run("from a file in the project", func(t *testing.T) {
		bin, project := standins.Build(t), standins.Project(t, "lean")
		standins.WriteKnobs(t, project, standins.At("lake", "exit 9"))
		c := standins.Launch(t, project, nil, filepath.Join(bin.LeanDir(), "lake"), "serve")
		require.Equal(t, 9, c.ExitCode(t))
	})
}

func TestWithoutALakefileThePlainServerRuns(t *testing.T) {
	bin, journalPath := standins.Build(t), standins.JournalPath(t)
	env := bin.LeanEnv(journalPath)
	c := standins.Connect(t, t.TempDir(), env, filepath.Join(bin.LeanDir(), "lake"), "serve")
	require.Contains(t, c.Initialize(t, nil).Body, "Lean 4 Server")
	require.Contains(t, c.Stderr(t), "warning")
	environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(
		standins.AwaitEvent(t, journalPath, standins.Is("server", journal.Start, ""), standins.Bound).PID), "environ"))
	require.NoError(t, err)
	require.Contains(t, string(environ), "LAKE_INVALID_CONFIG=")
}

func TestDirectivesOfAFileStartChildrenOfTheWorker(t *testing.T) {
	e := edit(t)
	e.open(t, "A.lean", "-- fake: fork-daemon\n-- fake: clear-env\n-- fake: zombie\n", "")
	e.waitForDiagnostics(t, "A.lean", 1)
	worker := e.await(t, "worker", journal.Start, "")
	daemon := standins.AwaitEvent(t, e.journal, func(v standins.Event) bool {
		return v.Role == play.Daemon && v.Event == journal.Start && v.SID == v.PID
	}, standins.Bound)
	require.NotEqual(t, worker.SID, daemon.SID)
	bare := e.await(t, play.Sleeper, journal.Start, "")
	environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(bare.PID), "environ"))
	require.NoError(t, err)
	require.Empty(t, environ)
	dead := e.await(t, play.Zombie, journal.Start, "")
	require.True(t, standins.Until(standins.Bound, func() bool { return standins.IsZombie(dead.PID, dead.StartTicks) }))
}
