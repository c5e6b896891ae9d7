package play_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/play"
)

// listVar makes this test binary play a process that does a list of directives and then waits for its input to end.
const listVar = "PLAY_LIST"

func TestMain(m *testing.M) {
	play.ChildMain()
	if list := os.Getenv(listVar); list != "" {
		p := play.Begin("player", os.Getenv("PLAY_JOURNAL"), "own-flag")
		p.DoAll(list)
		if args, given := p.Flag("own-flag"); given {
			_, _ = os.Stdout.WriteString(args + "\n")
		}
		_, _ = os.Stdin.Read(make([]byte, 1))
		p.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

type player struct {
	*standins.Child
	journal string
}

func do(t *testing.T, list string) player {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	path := standins.JournalPath(t)
	standins.EndSurvivors(t, path)
	// Under the race detector each end of a process would take a second more.
	env := []string{listVar + "=" + list, "PLAY_JOURNAL=" + path, "GORACE=atexit_sleep_ms=0"}
	return player{standins.Launch(t, t.TempDir(), env, self), path}
}

func (p player) await(t *testing.T, role, event, detail string) standins.Event {
	t.Helper()
	return standins.AwaitEvent(t, p.journal, standins.Is(role, event, detail), standins.Bound)
}

func (p player) code(t *testing.T) int {
	t.Helper()
	require.NoError(t, p.Stdin.Close())
	return p.ExitCode(t)
}

func TestSignalsAreNotedAndObeyed(t *testing.T) {
	p := do(t, "exit-never; sleep 1ms")
	require.Equal(t, play.Misuse, p.ExitCode(t))
	require.Contains(t, p.Stderr(t), `no directive is named "exit-never"`)

	p = do(t, "sleep 1ms")
	p.await(t, "player", "directive", "sleep")
	require.NoError(t, p.Cmd.Process.Signal(unix.SIGINT))
	require.Equal(t, unix.SIGINT, p.KilledBy(t))
	p.await(t, "player", journal.Signal, "SIGINT")
	p.await(t, "player", journal.Exit, "SIGINT")
}

func TestADeafProcessNotesSignalsAndLives(t *testing.T) {
	p := do(t, "ignore-term")
	p.await(t, "player", "directive", "ignore-term")
	for _, sig := range []syscall.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT} {
		require.NoError(t, p.Cmd.Process.Signal(sig))
		p.await(t, "player", journal.Signal, unix.SignalName(sig))
	}
	require.Zero(t, p.code(t))
}

func TestEndsHaveTheirCodes(t *testing.T) {
	for list, want := range map[string]int{"exit 7": 7, "crash": 134, "crash 139": 139, "crash kill": -1, "rss x": play.Misuse,
		"sleep x": play.Misuse, "exit x": play.Misuse, "crash x": play.Misuse, "spawn wibble": play.Misuse,
		"slow-term x": play.Misuse, "stderr x": play.Misuse, "stderr 1 wibble": play.Misuse} {
		require.Equal(t, want, do(t, list).code(t), list)
	}
}

func TestFlagsOfTheProgramKeepTheirArguments(t *testing.T) {
	p := do(t, "own-flag a b; rss 1MiB")
	line := make([]byte, len("a b\n"))
	_, err := p.Stdout.Read(line)
	require.NoError(t, err)
	require.Equal(t, "a b\n", string(line))
}

func TestFloodsHaveTheirSizeAndForm(t *testing.T) {
	for list, is := range map[string]func(string) bool{
		"stderr 300KiB":         func(s string) bool { return strings.Count(s, "\n") > 3000 },
		"stderr 300KiB line":    func(s string) bool { return !strings.Contains(s, "\n") },
		"stderr 300KiB invalid": func(s string) bool { return strings.Contains(s, "\xff\xc3") },
	} {
		p := do(t, list)
		require.Zero(t, p.code(t))
		require.Len(t, p.Stderr(t), 300<<10, list)
		require.True(t, is(p.Stderr(t)), list)
	}
}

// child waits for the start of a child of that kind and returns it.
func child(t *testing.T, p player, kind string) standins.Event {
	t.Helper()
	return standins.AwaitEvents(t, p.journal, standins.Is(kind, journal.Start, ""), 1, standins.Bound)[0]
}

func environ(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	require.NoError(t, err)
	return string(text)
}

func TestASleeperIsInTheGroupAndTakesTheEnvironmentUnlessTold(t *testing.T) {
	p := do(t, "spawn")
	c := child(t, p, play.Sleeper)
	require.Equal(t, []int{p.PID, p.PID, p.PID}, []int{c.PPID, c.PGID, c.SID})
	require.Contains(t, environ(t, c.PID), listVar+"=spawn")

	p = do(t, "spawn setsid clear-env ignore-term for=5m")
	c = child(t, p, play.Sleeper)
	require.Equal(t, c.PID, c.SID)
	require.Empty(t, environ(t, c.PID))
	standins.Kill(t, c, unix.SIGTERM)
	p.await(t, play.Sleeper, journal.Signal, "SIGTERM")
	require.False(t, standins.Gone(c.PID, c.StartTicks))

	p = do(t, "spawn huge-env")
	require.Greater(t, len(environ(t, child(t, p, play.Sleeper).PID)), 1<<20)
}

func TestADaemonHasNoParentAndItsOwnSession(t *testing.T) {
	p := do(t, "fork-daemon; spawn for=1ms")
	both := standins.AwaitEvents(t, p.journal, standins.Is(play.Daemon, journal.Start, ""), 2, standins.Bound)
	first, second := both[0], both[1]
	require.Equal(t, p.PID, first.PPID)
	require.Equal(t, second.PID, second.SID)
	standins.AwaitGone(t, first.PID, first.StartTicks)
	require.False(t, standins.Gone(second.PID, second.StartTicks))
	p.await(t, play.Sleeper, journal.Exit, "0") // the parent went on meanwhile
}

func TestASessionInASession(t *testing.T) {
	p := do(t, "re-session")
	both := standins.AwaitEvents(t, p.journal, standins.Is(play.ReSession, journal.Start, ""), 2, standins.Bound)
	require.Equal(t, both[0].PID, both[0].SID)
	require.Equal(t, both[1].PID, both[1].SID)
	require.Equal(t, both[0].PID, both[1].PPID)
}

func TestAZombieStaysAsLongAsItsParentLives(t *testing.T) {
	p := do(t, "zombie")
	z := child(t, p, play.Zombie)
	require.True(t, standins.Until(standins.Bound, func() bool { return standins.IsZombie(z.PID, z.StartTicks) }))
	require.True(t, standins.Gone(z.PID, z.StartTicks))
	require.Zero(t, p.code(t))
}

func TestLoopsGoOnUntilTheyAreEnded(t *testing.T) {
	p := do(t, "fork-loop every=1ms; exec-loop every=1ms")
	forks, execs := child(t, p, play.ForkLoop), child(t, p, play.ExecLoop)
	seen := map[string]bool{}
	threads := filepath.Join("/proc", strconv.Itoa(forks.PID), "task/*/children")
	again := filepath.Join("/proc", strconv.Itoa(execs.PID), "cmdline")
	require.True(t, standins.Until(standins.Bound, func() bool {
		lists, _ := filepath.Glob(threads)
		for _, list := range lists { // a child belongs to the thread that started it
			children, _ := os.ReadFile(list)
			seen[string(children)] = true
		}
		cmdline, _ := os.ReadFile(again)
		return len(seen) > 3 && strings.Contains(string(cmdline), `"again":true`)
	}))
	require.False(t, standins.Gone(execs.PID, execs.StartTicks)) // the same process with the same start
	for _, e := range []standins.Event{forks, execs} {
		standins.Kill(t, e, unix.SIGKILL)
		standins.AwaitGone(t, e.PID, e.StartTicks)
	}
}

func TestAStoppedProcessGoesOnWhenContinued(t *testing.T) {
	p := do(t, "stop; spawn for=1ms")
	require.True(t, standins.Until(standins.Bound, func() bool { letter, _ := journal.State(p.PID); return letter == 'T' }))
	require.NoError(t, p.Cmd.Process.Signal(unix.SIGCONT))
	p.await(t, play.Sleeper, journal.Start, "")
}

func TestDirectivesAreFoundInComments(t *testing.T) {
	for line, want := range map[string]play.Directive{
		"-- fake: sleep 5s":              {Name: "sleep", Args: "5s"},
		"x := 1 -- fake:  error 1:2 a b": {Name: "error", Args: "1:2 a b"},
		"# fake: crash":                  {Name: "crash"},
		"// fake: crash\n":               {Name: "crash"},
	} {
		got, found := play.InLine(line)
		require.True(t, found, line)
		require.Equal(t, want, got)
	}
	_, found := play.InLine("-- fakery")
	require.False(t, found)
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int{"7": 7, "7B": 7, "2KiB": 2048, "200MiB": 200 << 20, "1GiB": 1 << 30} {
		n, err := play.Size(text)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	for _, text := range []string{"", "x", "1TiB", "-1", "1kB"} {
		_, err := play.Size(text)
		require.Error(t, err, text)
	}
}
