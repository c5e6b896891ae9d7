package procscan

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func newContainment(t testing.TB) *Containment {
	t.Helper()
	c, err := NewContainment("procscan-test-" + NewMark("X").Value[:8])
	if err != nil {
		t.Skipf("no control groups can be made here: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		_, err := os.Stat(c.Path())
		if !os.IsNotExist(err) {
			t.Errorf("%s is left", c.Path())
		}
	})
	return c
}

// TestAClearedEnvironmentIsOutOfReachOfTheMark says what a mark alone can't do,
// and that the cage does it.
func TestAClearedEnvironmentIsOutOfReachOfTheMark(t *testing.T) {
	root := node{Name: "leader", Kids: []node{{Name: "bare", Session: true, NoEnv: true}}}
	tr := plant(t, NewLauncher(), root, root.names()...)
	require.Nil(t, tr.Cage())
	tr.end(t)
	require.True(t, alive(tr.pids["bare"]))
	require.NoError(t, syscall.Kill(tr.pids["bare"], syscall.SIGKILL))

	containment := newContainment(t)
	tr = plant(t, NewLauncher(WithContainment(containment)), root, root.names()...)
	tr.endsClean(t)
	require.NoError(t, containment.Close())
}

func TestACageIsNotNeededForAnOrdinaryEnd(t *testing.T) {
	containment := newContainment(t)
	launcher := NewLauncher(WithContainment(containment))
	tr := plant(t, launcher, node{Name: "leader", Term: "tell", Kids: []node{{Name: "worker", Session: true, Term: "tell"}}}, "leader", "worker")
	populated, err := tr.Cage().Populated()
	require.NoError(t, err)
	require.True(t, populated)
	require.NoError(t, RetireGroup(t.Context(), tr, polite))
	require.NoError(t, Sweep(t.Context(), SystemTable(), tr.target(), polite))
	for _, want := range []string{"leader term", "worker term"} {
		name, rest := tr.next(t)
		require.Equal(t, want, name+" "+rest, "SIGTERM comes before the cage is killed")
	}
	tr.endsClean(t)
	populated, err = tr.Cage().Populated()
	require.NoError(t, err, "a cage that was removed is empty")
	require.False(t, populated)
	require.NoError(t, tr.Cage().Kill())
}

func TestLaunchGoesOnWithoutACageThatCanNotBeHad(t *testing.T) {
	containment := newContainment(t)
	require.NoError(t, containment.Close())
	child, err := NewLauncher(WithContainment(containment)).Launch(t.Context(), Spec{Argv: []string{"sh", "-c", "exit 6"}, Dir: "/", Env: os.Environ()})
	require.NoError(t, err)
	require.Nil(t, child.Cage())
	status, err := child.Reap(t.Context())
	require.NoError(t, err)
	require.Equal(t, 6, status.Code)
}

// TestAChildMayStayOutOfTheContainment: what is to empty the control groups of a dead
// runtime must not be in them.
func TestAChildMayStayOutOfTheContainment(t *testing.T) {
	containment := newContainment(t)
	child, err := NewLauncher(WithContainment(containment)).Launch(t.Context(),
		Spec{Argv: []string{"/bin/sleep", "60"}, Dir: "/", Uncaged: true})
	require.NoError(t, err)
	require.Nil(t, child.Cage())
	require.NoError(t, EndContainment(t.Context(), containment.Path(), patient))
	require.True(t, alive(child.Identity().PID))
	require.NoError(t, child.SignalGroup(os.Kill))
	_, err = child.Reap(t.Context())
	require.NoError(t, err)
}

func TestAFailedStartLeavesNoCage(t *testing.T) {
	containment := newContainment(t)
	script := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(script, []byte("#!/no/interp\n"), 0o755))
	_, err := NewLauncher(WithContainment(containment)).Launch(t.Context(), Spec{Argv: []string{script}, Dir: "/"})
	require.Error(t, err)
	trees, err := filepath.Glob(containment.Path() + "/tree-*")
	require.NoError(t, err)
	require.Empty(t, trees)
}

func TestEndContainmentEndsWhatADeadRuntimeLeft(t *testing.T) {
	containment := newContainment(t)
	root := node{Name: "leader", Kids: []node{{Name: "bare", Session: true, NoEnv: true}}}
	tr := plant(t, NewLauncher(WithContainment(containment)), root, root.names()...)
	require.Error(t, containment.Close(), "it is in use")
	require.NoError(t, EndContainment(t.Context(), containment.Path(), patient))
	require.False(t, alive(tr.pids["bare"]) || alive(tr.pids["leader"]))
	require.NoError(t, EndContainment(t.Context(), containment.Path(), patient), "again is harmless")
	tr.endsClean(t)
}

func TestNoContainmentWhereTheNameIsTaken(t *testing.T) {
	containment := newContainment(t)
	_, err := NewContainment(filepath.Base(containment.Path()))
	require.ErrorIs(t, err, os.ErrExist)
	require.NoError(t, exec.Command("test", "-d", containment.Path()).Run(), "the one that is there stays")
}
