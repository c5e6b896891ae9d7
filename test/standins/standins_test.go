package standins_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheLinksAreTheProgramItself(t *testing.T) {
	bin := standins.Build(t)
	program, err := os.Stat(bin.Lean)
	require.NoError(t, err)
	for _, name := range []string{"lake", "lean", "repl"} {
		link, err := os.Lstat(filepath.Join(bin.LeanDir(), name))
		require.NoError(t, err)
		require.True(t, os.SameFile(program, link), name)
	}
	require.Equal(t, bin, standins.Build(t))
}

func TestGoneMeansEndedOrZombieOrAnotherStart(t *testing.T) {
	cmd := exec.Command("sleep", "3600")
	require.NoError(t, cmd.Start())
	pid, ticks := cmd.Process.Pid, journal.StartTicks(cmd.Process.Pid)
	require.False(t, standins.Gone(pid, ticks))
	require.True(t, standins.Gone(pid, ticks+1))
	require.NoError(t, cmd.Process.Kill())
	standins.AwaitGone(t, pid, ticks)
	require.True(t, standins.Until(standins.Bound, func() bool { return standins.IsZombie(pid, ticks) }))
	require.Error(t, cmd.Wait())
	require.False(t, standins.IsZombie(pid, ticks))
	require.True(t, standins.Gone(pid, ticks))
}

func TestASignalForAFormerProcessHitsNobody(t *testing.T) {
	c := standins.NewCanary(t)
	standins.Kill(t, standins.Event{PID: c.PID, StartTicks: c.StartTicks - 1}, unix.SIGKILL)
	standins.Kill(t, standins.Event{PID: 1 << 22, StartTicks: 1}, unix.SIGKILL)
	require.True(t, c.Alive())
}

// recorder takes the place of a test to see what a helper reports to it.
type recorder struct {
	testing.TB
	errors   int
	cleanups []func()
}

func (r *recorder) Helper()                {}
func (r *recorder) Errorf(string, ...any)  { r.errors++ }
func (r *recorder) Cleanup(cleanup func()) { r.cleanups = append(r.cleanups, cleanup) }

func TestAKilledCanaryFailsItsTest(t *testing.T) {
	for killed, errors := range map[bool]int{false: 0, true: 1} {
		r := &recorder{TB: t}
		c := standins.NewCanary(r)
		if killed {
			standins.Kill(t, standins.Event{PID: c.PID, StartTicks: c.StartTicks}, unix.SIGKILL)
			standins.AwaitGone(t, c.PID, c.StartTicks)
		}
		for _, cleanup := range r.cleanups {
			cleanup()
		}
		require.Equal(t, errors, r.errors)
		require.True(t, standins.Gone(c.PID, c.StartTicks))
	}
}

func TestSurvivorsAreTheLiveProcessesOfAJournal(t *testing.T) {
	path := standins.JournalPath(t)
	require.Empty(t, standins.ReadJournal(t, path))
	w, err := journal.Open(path, "tester")
	require.NoError(t, err)
	w.Note(journal.Start, "", nil)
	require.NoError(t, w.Close())
	require.Equal(t, os.Getpid(), standins.Survivors(t, path)[0].PID)
	gone := standins.WriteFile(t, filepath.Join(t.TempDir(), "j"), `{"event":"start","pid":4194304,"start_ticks":1}`+"\n")
	standins.AwaitNoSurvivor(t, gone)
}

func TestProjectsHaveTheirMarkers(t *testing.T) {
	for language, marker := range map[string]string{"lean": "lakefile.toml", "go": "go.mod", "c": "compile_flags.txt"} {
		dir := standins.Project(t, language)
		require.FileExists(t, filepath.Join(dir, marker))
		real, err := filepath.EvalSymlinks(dir)
		require.NoError(t, err)
		require.Equal(t, real, dir)
	}
}
