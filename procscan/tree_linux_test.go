package procscan

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// killLeader ends the leader alone and waits for that.
func (tr *tree) killLeader(t testing.TB) {
	t.Helper()
	require.NoError(t, syscall.Kill(tr.Identity().PID, syscall.SIGKILL))
	_, err := tr.Exited(t.Context())
	require.NoError(t, err)
}

// endsClean ends the tree and checks that all of it is gone and that its pipes
// have no other end left.
func (tr *tree) endsClean(t testing.TB) {
	t.Helper()
	tr.end(t)
	for name, pid := range tr.pids {
		require.False(t, alive(pid), "%s lives", name)
	}
}

// TestWorkerOrphanedBeforeTheClose: the server was killed, its worker is in a
// session of its own, and the worker's build ignores SIGTERM.
func TestWorkerOrphanedBeforeTheClose(t *testing.T) {
	canary(t)
	build := node{Name: "build", Term: "ignore"}
	worker := node{Name: "worker", Session: true, Term: "tell", Kids: []node{build}}
	tr := plant(t, NewLauncher(), node{Name: "leader", Kids: []node{worker}}, "leader", "worker", "build")
	tr.killLeader(t)
	require.NoError(t, RetireGroup(t.Context(), tr, patient))
	require.True(t, alive(tr.pids["worker"]) && alive(tr.pids["build"]), "nothing links them to the leader")

	grace := patient
	grace.Term = 2 * time.Second // for the worker, which obeys
	began := time.Now()
	require.NoError(t, Sweep(t.Context(), SystemTable(), tr.target(), grace))
	require.GreaterOrEqual(t, time.Since(began), grace.Term, "the build had its time")
	require.False(t, alive(tr.pids["worker"]) || alive(tr.pids["build"]))
	st, err := system.stat(tr.Identity().PID)
	require.NoError(t, err)
	require.Equal(t, tr.Identity(), st.Identity, "the leader is still there, as a zombie")
	name, rest := tr.next(t)
	require.Equal(t, "worker term", name+" "+rest, "it was asked politely first")
	tr.endsClean(t)
}

func TestTreesThatHide(t *testing.T) {
	deep := node{Name: "c", Session: true, Kids: []node{{Name: "d", Session: true, Term: "ignore"}}}
	for _, tt := range []struct {
		law  string
		root node
	}{
		{"a daemon that forked twice", node{Name: "a", Kids: []node{{Name: "b", Session: true, Leave: true, Kids: []node{{Name: "c", Session: true}}}}}},
		{"sessions below sessions", node{Name: "a", Kids: []node{{Name: "b", Session: true, Kids: []node{deep}}}}},
		{"a wrapper that ended first", node{Name: "a", Leave: true, Kids: []node{{Name: "b"}, {Name: "c", Session: true}}}},
		{"a stopped worker", node{Name: "a", Kids: []node{{Name: "b", Session: true, Stopped: true}}}},
		{"a stopped leader", node{Name: "a", Stopped: true}},
		{"a worker whose first thread ended", node{Name: "a", Kids: []node{{Name: "b", Session: true, Headless: true}}}},
		{"members of the group that ignore SIGTERM", node{Name: "a", Term: "ignore", Kids: []node{{Name: "b", Term: "ignore"}}}},
	} {
		t.Run(tt.law, func(t *testing.T) {
			plant(t, NewLauncher(), tt.root, tt.root.names()...).endsClean(t)
		})
	}
}

func (n node) names() []string {
	names := []string{n.Name}
	for _, kid := range n.Kids {
		names = append(names, kid.names()...)
	}
	return names
}

func TestStoppedWorkerIsAskedAndWoken(t *testing.T) {
	tr := plant(t, NewLauncher(), node{Name: "leader", Kids: []node{{Name: "worker", Session: true, Term: "tell", Stopped: true}}}, "leader", "worker")
	eventually(t, "the worker stops", func() bool {
		st, err := system.stat(tr.pids["worker"])
		return err == nil && st.State == 'T'
	})
	require.NoError(t, RetireGroup(t.Context(), tr, polite))
	require.NoError(t, Sweep(t.Context(), SystemTable(), tr.target(), polite))
	name, rest := tr.next(t)
	require.Equal(t, "worker term", name+" "+rest)
	tr.endsClean(t)
}

func TestAnotherTreeIsUntouched(t *testing.T) {
	launcher := NewLauncher()
	root := node{Name: "leader", Kids: []node{{Name: "worker", Session: true}}}
	one, two := plant(t, launcher, root, root.names()...), plant(t, launcher, root, root.names()...)
	require.NotEqual(t, one.mark, two.mark)
	one.endsClean(t)
	require.True(t, alive(two.pids["leader"]) && alive(two.pids["worker"]))
	two.endsClean(t)
}

func TestASweepFromInsideSparesItselfAndItsAncestors(t *testing.T) {
	root := node{Name: "leader", Kids: []node{{Name: "sibling", Session: true}, {Name: "sweeper", Session: true, Sweeps: true}}}
	tr := plant(t, NewLauncher(), root, root.names()...)
	require.NoError(t, syscall.Kill(tr.pids["sweeper"], syscall.SIGUSR1))
	name, rest := tr.next(t)
	require.Equal(t, "sweeper swept <nil>", name+" "+rest)
	require.True(t, alive(tr.pids["leader"]) && alive(tr.pids["sweeper"]))
	require.False(t, alive(tr.pids["sibling"]))
	tr.endsClean(t)
}

func TestRetryDoesNotSignalARetiredGroupAgain(t *testing.T) {
	tr := plant(t, NewLauncher(), node{Name: "leader"}, "leader")
	require.NoError(t, RetireGroup(t.Context(), tr, patient))
	require.Equal(t, Retired, tr.Stage())
	require.ErrorIs(t, tr.SignalGroup(os.Kill), ErrRetired)
	require.NoError(t, RetireGroup(t.Context(), tr, patient), "again is harmless")
	_, err := tr.Reap(t.Context())
	require.NoError(t, err)
	require.Equal(t, Reaping, tr.Stage())
	tr.Retire()
	require.ErrorIs(t, tr.SignalGroup(os.Kill), ErrReaped, "the stage never goes back")
}

func TestAGroupOfZombiesHasEnded(t *testing.T) {
	child := shell(t, "exit 0")
	_, err := child.Exited(t.Context())
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(-child.Identity().PID, 0), "kill(2) can't tell")
	alive, err := child.GroupAlive(t.Context())
	require.NoError(t, err)
	require.False(t, alive)
	child.end(t)
	alive, err = child.GroupAlive(t.Context())
	require.NoError(t, err)
	require.False(t, alive, "the number is a stranger's by now")
}

func TestAZombieOfALivingParentHoldsUpNothing(t *testing.T) {
	tr := plant(t, NewLauncher(), node{Name: "leader"}, "leader")
	cmd := exec.Command("sh", "-c", "exit 0") // carries the tree's mark, and we don't wait for it
	cmd.Env = append(os.Environ(), tr.mark.Env())
	require.NoError(t, cmd.Start())
	eventually(t, "the zombie", func() bool {
		st, err := system.stat(cmd.Process.Pid)
		return err == nil && st.State == 'Z'
	})
	_, err := Read(cmd.Process.Pid)
	require.True(t, IsGone(err), "%v", err)
	tr.endsClean(t)
	require.NoError(t, cmd.Wait(), "its status is its parent's")
}

func TestAChildThatTheHostWaitedForIsNotSignalled(t *testing.T) {
	child := shell(t, "exit 4")
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(child.Identity().PID, &status, 0, nil)
	require.NoError(t, err)
	require.Equal(t, child.Identity().PID, pid)
	require.ErrorIs(t, child.SignalGroup(os.Kill), ErrReaped, "its number may be a stranger's")
	got, err := child.Exited(t.Context())
	require.NoError(t, err)
	require.Equal(t, "exit status unknown", got.String())
	require.Equal(t, got, child.end(t))
}

func TestWalkAndSampleSeeATree(t *testing.T) {
	tr := plant(t, NewLauncher(), node{Name: "leader", Kids: []node{{Name: "worker", Session: true}}}, "leader", "worker")
	infos, err := SystemTable().Walk(t.Context())
	require.NoError(t, err)
	seen := map[int]Info{}
	for _, info := range infos {
		seen[info.PID] = info
	}
	worker := seen[tr.pids["worker"]]
	require.Equal(t, tr.pids["leader"], worker.PPID)
	require.Equal(t, worker.PID, worker.SID)
	require.Equal(t, worker.PID, worker.PGID)
	require.True(t, strings.HasPrefix(executablePath()[strings.LastIndexByte(executablePath(), '/')+1:], worker.Comm), worker.Comm)
	require.Contains(t, seen, os.Getpid())

	trees, err := Sample(t.Context(), SessionVar)
	require.NoError(t, err)
	sample := trees[tr.mark.Value]
	require.ElementsMatch(t, []Identity{tr.Identity(), worker.Identity}, sample.Members)
	require.Greater(t, sample.RSS, int64(1<<20))
	rss, err := Measure(t.Context(), sample.Members)
	require.NoError(t, err)
	require.Greater(t, rss, int64(1<<20))
	tr.endsClean(t)
	rss, err = Measure(t.Context(), sample.Members)
	require.NoError(t, err)
	require.Zero(t, rss)
}

func TestIdentityNamesALivingProcess(t *testing.T) {
	own, err := Read(os.Getpid())
	require.NoError(t, err)
	again, err := Read(os.Getpid())
	require.NoError(t, err)
	require.Equal(t, own, again)
	require.Equal(t, fmt.Sprintf("%d@%d", own.PID, own.StartTicks), own.String())
	_, err = Read(1 << 30)
	require.True(t, IsGone(err))
	require.Regexp(t, "^[0-9a-f-]{36}$", BootID())
	require.Empty(t, Limits(), "Linux keeps every promise")
}

func TestARuntimesMarkSweepsAllItsTrees(t *testing.T) {
	runtime := NewMark(RuntimeVar)
	with := func(s *Spec) { s.Marks = append(s.Marks, runtime) }
	one, two, other := shell(t, "exec sleep 60", with), shell(t, "exec sleep 60", with), shell(t, "exec sleep 60")
	require.NoError(t, Sweep(context.Background(), SystemTable(), Target{Mark: runtime}, Grace{Term: time.Second, Kill: time.Second, Pause: 20 * time.Millisecond}))
	require.False(t, alive(one.Identity().PID) || alive(two.Identity().PID))
	require.True(t, alive(other.Identity().PID))
	for _, tr := range []*tree{one, two, other} {
		tr.end(t)
	}
}

// TestOthersProcessesAreNotInTheWay looks as a user who may not read the
// environments of root.
func TestOthersProcessesAreNotInTheWay(t *testing.T) {
	if !asNobody(t) {
		return
	}
	scan, err := SystemTable().Scan(t.Context(), NewMark(SessionVar))
	require.NoError(t, err)
	require.NotZero(t, scan.Unreadable)
	require.Empty(t, hits(scan))
	root := node{Name: "leader", Kids: []node{{Name: "worker", Session: true}}}
	plant(t, NewLauncher(), root, root.names()...).endsClean(t)
	_, err = NewContainment("procscan-test-nobody")
	require.Error(t, err, "and no control groups are needed")
}
