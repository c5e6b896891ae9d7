package daemon_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/test/standins"
)

// TestReportedFault11AStaleSocketAndManyStarters has a socket that a killed daemon left,
// and ten first calls at the same moment, twenty times.
func TestReportedFault11AStaleSocketAndManyStarters(t *testing.T) {
	h := newHome(t, options{})
	for round := range 20 {
		if round > 0 {
			require.FileExists(t, h.socket(), "the killed daemon's")
		}
		pids := make([]int, 10)
		var calls sync.WaitGroup
		for i := range pids {
			calls.Go(func() {
				ping, got := h.tryStart()
				assert.Zero(t, got.code, "%s", got.stderr)
				pids[i] = ping.PID
			})
		}
		calls.Wait()
		for _, pid := range pids {
			assert.Equal(t, pids[0], pid, "all were answered by one daemon")
		}
		assert.Equal(t, []int{pids[0]}, h.daemons())
		assert.Equal(t, 1, listeners(t, h.socket()))
		kill(t, pids[0])
	}
}

// listeners counts the sockets that listen under a path, as the kernel lists them.
func listeners(t *testing.T, path string) (n int) {
	t.Helper()
	text, err := os.ReadFile("/proc/net/unix")
	require.NoError(t, err)
	const acceptsConnections = "00010000"
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 8 && fields[7] == path && fields[3] == acceptsConnections {
			n++
		}
	}
	return n
}

func TestReportedFault11WhatIsNoSocketIsNeverRemoved(t *testing.T) {
	h := newHome(t, options{})
	require.NoError(t, os.MkdirAll(h.dir, 0o700))
	require.NoError(t, os.WriteFile(h.socket(), []byte("mine"), 0o600))
	for _, command := range []string{"start", "serve"} {
		got := h.hearth(command)
		assert.Equal(t, 2, got.code)
		assert.Contains(t, got.stderr, h.socket()+" is in the way and is no socket; it was not touched")
	}
	text, err := os.ReadFile(h.socket())
	require.NoError(t, err)
	assert.Equal(t, "mine", string(text))
	assert.Empty(t, h.daemons())
	require.NoError(t, os.Remove(h.socket()))
	require.NoError(t, os.Mkdir(h.socket(), 0o700))
	assert.Equal(t, 2, h.hearth("start").code)
	assert.DirExists(t, h.socket())
	require.NoError(t, os.Remove(h.socket()))
}

func TestADaemonThatIsKilledInAnyStateIsFollowedByOneThatWorks(t *testing.T) {
	h := newHome(t, options{repl: slowly(time.Minute)})
	run := func() {
		t.Helper()
		got := h.hearth("run", writeCode(t, "quick"))
		require.Zero(t, got.code, "%s\n%s", got.stderr, h.logs())
		assert.Contains(t, got.stdout, "generation")
	}
	t.Run("idle", func(t *testing.T) {
		kill(t, h.start().PID)
		run()
	})
	t.Run("starting", func(t *testing.T) {
		kill(t, h.start().PID)
		for after := range 8 { // milliseconds: before, while and after it listens
			serve := h.command("serve")
			require.NoError(t, serve.Start())
			time.Sleep(time.Duration(3*after) * time.Millisecond)
			require.NoError(t, serve.Process.Kill())
			_ = serve.Wait()
			pid := h.start().PID
			assert.Equal(t, []int{pid}, h.daemons())
			kill(t, pid)
		}
		run()
	})
	t.Run("at work", func(t *testing.T) {
		pid := h.start().PID
		call := h.begin("slow 1")
		kill(t, pid)
		got := <-call
		assert.Equal(t, 3, got.code)
		assert.Contains(t, got.stderr, "closed after request dispatch; the request was not retried")
		run()
		assert.Equal(t, 1, h.received("slow 1"), "it was not sent again")
	})
	t.Run("stopping", func(t *testing.T) {
		pid := h.start().PID
		call := h.begin("slow 2")
		stop := h.command("stop")
		require.NoError(t, stop.Start())
		require.True(t, standins.Until(bound, func() bool { return h.status().Stopping }))
		kill(t, pid)
		assert.NoError(t, stop.Wait(), "it has ended, if not as was asked")
		assert.Equal(t, 3, (<-call).code)
		run()
	})
	require.Zero(t, h.hearth("stop").code)
	assert.True(t, standins.Until(bound, func() bool { return len(standins.Survivors(t, h.repl.Journal)) == 0 }), "no REPL outlives its daemon")
}

// writeCode writes code of the stand-in's language to a file in a project of its own.
func writeCode(t testing.TB, code string) string {
	t.Helper()
	dir := t.TempDir()
	standins.WriteFile(t, filepath.Join(dir, "fake.toml"), "")
	return standins.WriteFile(t, filepath.Join(dir, "code.fake"), code)
}

func TestReportedFault43ASocketPathThatIsTooLong(t *testing.T) {
	for name, part := range map[string]string{"bytes": strings.Repeat("x", 100), "characters of two bytes": strings.Repeat("é", 50)} {
		t.Run("the default falls back: "+name, func(t *testing.T) {
			h := newHome(t, options{})
			long := filepath.Join(filepath.Dir(h.dir), part, strings.Repeat("y", 118-100-len(filepath.Dir(h.dir))))
			require.Len(t, long, 120)
			require.NoError(t, os.MkdirAll(long, 0o700))
			h.env = h.with("HEARTH_RUNTIME_DIR=", "XDG_RUNTIME_DIR="+long)
			pid := h.start().PID
			assert.Equal(t, pid, h.status().PID, "all clients agree")
			assert.Equal(t, fmt.Sprintf("/tmp/hearth-%d", os.Getuid()), h.status().Config.Settings["runtime_dir"])
		})
	}
	h := newHome(t, options{})
	long := "/tmp/" + strings.Repeat("z", 115)
	began := time.Now()
	c := h.command("start")
	c.Env = h.with("HEARTH_RUNTIME_DIR=" + long)
	got := h.run(c)
	assert.Equal(t, 2, got.code)
	assert.Less(t, time.Since(began), bound, "at once, and not when a start has timed out")
	assert.Regexp(t, `runtime_dir.*`+long+`/hearth-v1-.*has 157 bytes, and the limit is 100`, got.stderr)
	assert.NoDirExists(t, long)
	assert.Empty(t, h.daemons())

	dir := filepath.Dir(h.dir)
	require.NoError(t, os.Chmod(dir, 0o700))
	longest := filepath.Join(dir, strings.Repeat("s", 100-len(dir)-1))
	ping, got := h.tryStart("--socket", longest)
	require.Zero(t, got.code, got.stderr)
	assert.Equal(t, 1, listeners(t, longest))
	got = h.hearth("--socket", longest, "stop")
	assert.Equal(t, outcome{0, fmt.Sprintf("stopped (pid %d)\n", ping.PID), ""}, got)
	_, got = h.tryStart("--socket", longest+"s")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "has 101 bytes, and the limit is 100")
}

func TestReportedFault14OfTwoBuildsTheNewerReplacesTheOlderOnce(t *testing.T) {
	second, err := secondBuild()
	require.NoError(t, err)
	h := newHome(t, options{repl: slowly(2 * time.Second)})
	h.program = filepath.Join(filepath.Dir(h.dir), "hearth")
	for name, from := range map[string]string{"old": program, "new": second} {
		require.NoError(t, os.Link(from, h.program+"-"+name))
	}
	now := time.Now()
	require.NoError(t, os.Chtimes(h.program+"-old", now, now.Add(-time.Hour)))
	require.NoError(t, os.Chtimes(h.program+"-new", now, now))
	install := func(name string) {
		t.Helper()
		require.NoError(t, os.Symlink(h.program+"-"+name, h.program+".new"))
		require.NoError(t, os.Rename(h.program+".new", h.program))
	}
	install("old")
	old := h.start().PID
	call := h.begin("slow")
	install("new")
	got := h.hearth("run", writeCode(t, "quick"))
	require.Zero(t, got.code, got.stderr)
	assert.Equal(t, outcome{0, "Result: slow is done\n", ""}, <-call, "the old daemon has finished")
	pid := h.start().PID
	assert.NotEqual(t, old, pid)
	for range 25 {
		install("old")
		_, got := h.tryStart()
		assert.Equal(t, 3, got.code)
		assert.Contains(t, got.stderr, fmt.Sprintf("a newer build of hearth is already active (pid %d,", pid))
		install("new")
		assert.Equal(t, pid, h.start().PID)
	}
	require.Zero(t, h.hearth("stop").code) // each has logged its start by its end
	assert.Equal(t, 2, strings.Count(h.logs(), "the daemon has started"))
}

func TestASecondDaemonIsRefusedAndTheFirstGoesOn(t *testing.T) {
	h := newHome(t, options{})
	pid := h.start().PID
	got := h.hearth("serve")
	assert.Equal(t, 4, got.code)
	assert.Regexp(t, `^hearth: a daemon of this installation runs already .*\n$`, got.stderr)
	assert.Equal(t, pid, h.status().PID)
}

func TestADaemonInheritsNothing(t *testing.T) {
	h := newHome(t, options{})
	kept, written, err := os.Pipe()
	require.NoError(t, err)
	defer kept.Close()
	c := h.command("start")
	c.ExtraFiles = []*os.File{written, written} // descriptors 3 and 4 of a shell's redirection
	require.Zero(t, h.run(c).code)
	require.NoError(t, written.Close())
	require.NoError(t, kept.SetReadDeadline(time.Now().Add(bound)))
	_, err = kept.Read(make([]byte, 1))
	assert.ErrorContains(t, err, "EOF", "nobody holds the pipe any more")
	pid := h.status().PID
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	fields := strings.Fields(string(text))
	assert.Equal(t, fields[0], fields[5], "a session of its own")
	assert.Equal(t, "0", fields[6], "without a terminal")
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	require.NoError(t, err)
	assert.Equal(t, "/", cwd)
}

func TestAForegroundDaemonLetsGoOfWhatItWasStartedWith(t *testing.T) {
	h := newHome(t, options{})
	kept, written, err := os.Pipe()
	require.NoError(t, err)
	defer kept.Close()
	c := h.serve(written)
	require.NoError(t, written.Close())
	require.NoError(t, kept.SetReadDeadline(time.Now().Add(bound)))
	_, err = kept.Read(make([]byte, 1))
	assert.ErrorContains(t, err, "EOF")
	require.NoError(t, c.Process.Signal(syscall.SIGTERM))
	assert.NoError(t, c.Wait())
}

// serve starts a daemon in the foreground and returns when it answers.
func (h *home) serve(extra ...*os.File) *exec.Cmd {
	h.t.Helper()
	return h.serveAs(h.command("serve"), extra...)
}

func (h *home) serveAs(c *exec.Cmd, extra ...*os.File) *exec.Cmd {
	h.t.Helper()
	c.ExtraFiles = extra
	require.NoError(h.t, c.Start())
	require.True(h.t, standins.Until(bound, func() bool { return h.hearth("status").code == 0 }))
	return c
}

func TestASocketThatIsNotOursAnyMoreIsLeft(t *testing.T) {
	h := newHome(t, options{})
	c := h.serve()
	require.NoError(t, os.Remove(h.socket()))
	listener, err := net.Listen("unix", h.socket())
	require.NoError(t, err)
	defer listener.Close()
	require.NoError(t, c.Process.Signal(syscall.SIGTERM))
	require.NoError(t, c.Wait())
	assert.FileExists(t, h.socket())
	require.NoError(t, listener.Close())
}
