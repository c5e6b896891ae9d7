package daemon_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/supervisor/wire"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

func TestAGracefulStopFinishesWhatWasAdmittedAndStatusIsAnsweredMeanwhile(t *testing.T) {
	repl, release := untilReleased(t)
	h := newHome(t, options{repl: repl})
	pid := h.start().PID
	call := h.begin("slow")
	stop := make(chan outcome, 1)
	go func() { stop <- h.hearth("stop", "--json") }()
	require.True(t, standins.Until(bound, func() bool { return h.status().Stopping }))
	got := h.hearth("status")
	assert.Zero(t, got.code)
	assert.Contains(t, got.stdout, "stopping: it finishes what it has begun")
	release()
	assert.Equal(t, outcome{0, "Result: slow is done\n", ""}, <-call)
	var stopped struct {
		Stopping bool
		PID      int
	}
	ended := <-stop
	require.Zero(t, ended.code, ended.stderr)
	require.NoError(t, json.Unmarshal([]byte(ended.stdout), &stopped))
	assert.Equal(t, pid, stopped.PID)
	assert.True(t, stopped.Stopping)
	assert.NoFileExists(t, h.socket())
	assert.Empty(t, h.daemons())
	assert.Equal(t, outcome{1, `{
  "running": false,
  "socket": "` + h.socket() + `"
}
`, ""}, h.hearth("status", "--json"))
	assert.Equal(t, outcome{0, "no daemon runs\n", ""}, h.hearth("stop"))
}

func TestAStartWaitsForADaemonThatDrains(t *testing.T) {
	repl, release := untilReleased(t)
	h := newHome(t, options{repl: repl})
	pid := h.start().PID
	call := h.begin("slow")
	stop := make(chan outcome, 1)
	go func() { stop <- h.hearth("stop") }()
	require.True(t, standins.Until(bound, func() bool { return h.status().Stopping }))
	started := make(chan wire.Ping, 1)
	go func() {
		ping, got := h.tryStart()
		assert.Zero(t, got.code, got.stderr)
		started <- ping
	}()
	require.True(t, standins.Until(bound, func() bool { return held(t, h.paths().Lock) }), "it waits under its lock")
	assert.Equal(t, pid, h.status().PID, "the first is there as long as it drains")
	release()
	next := (<-started).PID
	assert.NotEqual(t, pid, next)
	assert.Zero(t, (<-call).code)
	assert.Zero(t, (<-stop).code)
	assert.Equal(t, next, h.status().PID)
}

func TestStopNowAbortsWhatRuns(t *testing.T) {
	h := newHome(t, options{repl: slowly(time.Hour)})
	h.start()
	call := h.begin("slow")
	graceful := make(chan outcome, 1)
	go func() { graceful <- h.hearth("stop") }()
	require.True(t, standins.Until(bound, func() bool { return h.status().Stopping }))
	assert.Zero(t, h.hearth("stop", "--now").code)
	got := <-call
	assert.Equal(t, 3, got.code)
	assert.Contains(t, got.stderr, "aborted")
	assert.Zero(t, (<-graceful).code)
}

func TestSignalsStopTheDaemonTheSecondAtOnce(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		h := newHome(t, options{repl: slowly(time.Second)})
		daemon := h.serve()
		call := h.begin("slow")
		require.NoError(t, daemon.Process.Signal(signal))
		assert.NoError(t, daemon.Wait())
		assert.Equal(t, outcome{0, "Result: slow is done\n", ""}, <-call)
	}
	h := newHome(t, options{repl: slowly(time.Hour)})
	daemon := h.serve()
	call := h.begin("slow")
	require.NoError(t, daemon.Process.Signal(syscall.SIGTERM))
	require.True(t, standins.Until(bound, func() bool { return h.status().Stopping }))
	require.NoError(t, daemon.Process.Signal(syscall.SIGINT))
	assert.NoError(t, daemon.Wait())
	assert.Equal(t, 3, (<-call).code)
}

func TestAStopThatLeavesATreeExitsWithThree(t *testing.T) {
	// No time at all to end what an abort ends, which is deaf to SIGTERM: it is left to the guard.
	repl := slowly(time.Hour)
	repl.Rules = append(repl.Rules, script.When(script.OnStart, script.IgnoreTerm()))
	h := newHome(t, options{repl: repl, settings: `abort_grace = "0s"`})
	daemon := h.serve()
	call := h.begin("slow")
	require.NoError(t, daemon.Process.Signal(syscall.SIGTERM))
	require.True(t, standins.Until(bound, func() bool { return h.status().Stopping }))
	require.NoError(t, daemon.Process.Signal(syscall.SIGTERM))
	var exit *exec.ExitError
	require.ErrorAs(t, daemon.Wait(), &exit)
	assert.Equal(t, 3, exit.ExitCode())
	assert.Equal(t, 3, (<-call).code)
	standins.AwaitNoSurvivor(t, h.repl.Journal)
}

func TestAServiceManagerIsToldOfTheDaemonsStartAndEnd(t *testing.T) {
	h := newHome(t, options{})
	address := filepath.Join(filepath.Dir(h.dir), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	require.NoError(t, err)
	defer manager.Close()
	h.env = h.with("NOTIFY_SOCKET=" + address)
	daemon := h.serve()
	hear := func() string {
		require.NoError(t, manager.SetReadDeadline(time.Now().Add(bound)))
		text := make([]byte, 100)
		n, err := manager.Read(text)
		require.NoError(t, err)
		return string(text[:n])
	}
	assert.Equal(t, "READY=1", hear())
	require.NoError(t, daemon.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, "STOPPING=1", hear())
	assert.NoError(t, daemon.Wait())
}

func TestADaemonTakesOverAServiceManagersSocketAndLeavesIt(t *testing.T) {
	h := newHome(t, options{})
	require.NoError(t, os.Mkdir(h.dir, 0o700))
	socket := filepath.Join(h.dir, "hearth.sock")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	require.NoError(t, err)
	listener.SetUnlinkOnClose(false)
	file, err := listener.File()
	require.NoError(t, err)
	waiting := connect(t, socket) // a client that was there first
	waiting.send(`{"v":1,"id":"first","method":"daemon.ping","params":{}}`)
	c := exec.Command("sh", "-c", `LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" serve`, h.program)
	c.Env, c.ExtraFiles = h.env, []*os.File{file}
	require.NoError(t, c.Start())
	require.NoError(t, file.Close())
	require.NoError(t, listener.Close())
	var reply struct {
		Result wire.Ping
	}
	require.NoError(t, json.Unmarshal([]byte(waiting.line()), &reply))
	assert.Equal(t, c.Process.Pid, reply.Result.PID)
	assert.Zero(t, h.hearth("--socket", socket, "run", writeCode(t, "quick")).code)
	require.NoError(t, c.Process.Signal(syscall.SIGTERM))
	require.NoError(t, c.Wait())
	assert.FileExists(t, socket, "it is the service manager's")
}

// TestADaemonThatIsProcess1ReapsWhatItIsGiven runs it as a container would.
func TestADaemonThatIsProcess1ReapsWhatItIsGiven(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root for a PID namespace")
	}
	h := newHome(t, options{})
	problems, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	defer problems.Close()
	c := h.command("serve")
	c.Args = append([]string{"unshare", "--pid", "--fork", "--kill-child", "--mount-proc", h.program}, c.Args[1:]...)
	unshare, err := exec.LookPath("unshare")
	require.NoError(t, err)
	c.Path, c.Stderr = unshare, problems
	require.NoError(t, c.Start())
	defer func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}()
	require.True(t, standins.Until(bound, func() bool { return h.hearth("status").code == 0 }), "see %s", problems.Name())
	assert.Equal(t, 1, h.status().PID)
	for range 5 {
		got := h.hearth("run", writeCode(t, "# fake: fork-daemon\nquick"))
		require.Zero(t, got.code, got.stderr)
	}
	spawned := h.repl.Select(t, standins.Is("", "spawned", ""))
	assert.GreaterOrEqual(t, len(spawned), 5)
	daemon := childOf(t, c.Process.Pid)
	assert.True(t, standins.Until(bound, func() bool { return zombies(t, daemon) == 0 }), "%d zombies", zombies(t, daemon))
	assert.Zero(t, h.hearth("stop").code)
	assert.NoError(t, c.Wait())
}

// childOf is the first child of a process, by its number outside of the namespace.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	for other := range processes(t) {
		if parent(other) == pid {
			return other
		}
	}
	t.Fatalf("process %d has no child", pid)
	return 0
}

func zombies(t *testing.T, of int) (n int) {
	t.Helper()
	for pid := range processes(t) {
		if parent(pid) == of && zombie(pid) {
			n++
		}
	}
	return n
}

// processes are the numbers of all processes.
func processes(t *testing.T) map[int]bool {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	found := make(map[int]bool)
	for _, entry := range entries {
		var pid int
		if err := json.Unmarshal([]byte(entry.Name()), &pid); err == nil && !strings.Contains(entry.Name(), ".") {
			found[pid] = true
		}
	}
	return found
}

// TestAFileThatIsBrokenMeanwhileKeepsNobodyFromStoppingTheDaemon has files of which the
// daemon's place is known and not known.
func TestAFileThatIsBrokenMeanwhileKeepsNobodyFromStoppingTheDaemon(t *testing.T) {
	h := newHome(t, options{})
	for _, text := range []string{"idle = \"soon\"\n", "idle = = 1\n"} {
		pid := h.start().PID
		broken := h.withConfig(text)
		for _, command := range []string{"status", "tree"} {
			got := h.runIn(broken, command)
			assert.Zero(t, got.code, "%s: %s", command, got.stderr)
			assert.NotEmpty(t, got.stdout)
			assert.Regexp(t, `^hearth: [^\n]*; the daemon at \S+ was asked all the same\n$`, got.stderr)
		}
		got := h.runIn(broken, "check", h.file())
		assert.Equal(t, 2, got.code, "what may start a daemon is refused")
		got = h.runIn(broken, "stop")
		assert.Equal(t, fmt.Sprintf("stopped (pid %d)\n", pid), got.stdout, got.stderr)
		assert.Zero(t, got.code)
		for _, command := range []string{"status", "tree", "stop"} {
			got := h.runIn(broken, command)
			assert.Equal(t, 2, got.code, "%s: it may be that the file had another place", command)
			assert.Empty(t, got.stdout)
			assert.Regexp(t, `^hearth: [^\n]*config[^\n]*\n$`, got.stderr)
		}
	}
	socket := filepath.Join(filepath.Dir(h.dir), "own", "s.sock")
	require.NoError(t, os.Mkdir(filepath.Dir(socket), 0o700))
	require.Zero(t, h.hearth("--socket", socket, "start").code)
	got := h.runIn(h.withConfig("idle = = 1\n"), "--socket", socket, "stop")
	assert.Zero(t, got.code, got.stderr)
}

// withConfig is the home's environment with another configuration file.
func (h *home) withConfig(text string) []string {
	return h.with("HEARTH_CONFIG=" + standins.WriteFile(h.t, filepath.Join(h.t.TempDir(), "config.toml"), text))
}

func (h *home) runIn(env []string, args ...string) outcome {
	h.t.Helper()
	c := h.command(args...)
	c.Env = env
	return h.run(c)
}

func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(text), ") Z ")
}
