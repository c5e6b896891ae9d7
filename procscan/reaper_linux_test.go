package procscan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

var errDone = errors.New("the test is over")

// reaping makes the test's process a subreaper for the time of a test, beside
// whose os/exec children and launches the reaper runs as a program would run it.
func reaping(t *testing.T, launcher *OSLauncher) (*Reaper, Mark) {
	t.Helper()
	require.NoError(t, Subreaper())
	t.Cleanup(func() { assert.NoError(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)) })
	mark := NewMark(RuntimeVar)
	reaper, err := NewReaper(launcher, mark)
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(context.Background())
	wake := make(chan os.Signal, 1)
	signal.Notify(wake, syscall.SIGCHLD)
	var wait sync.WaitGroup
	wait.Go(func() { assert.ErrorIs(t, reaper.Run(ctx, wake), errDone) })
	// Registered first, so that a test that fails leaves no reaper to the next one:
	// it would take the children of other launchers for orphans.
	t.Cleanup(func() {
		cancel(errDone)
		wait.Wait()
		signal.Stop(wake)
	})
	t.Cleanup(func() {
		eventually(t, "no orphan is left to the next test", func() bool {
			left := 0
			err := reaper.eachOrphan(func(procStat) error { left++; return nil })
			return err == nil && left == 0
		})
	})
	return reaper, mark
}

// ourZombies counts the children of this process that wait to be reaped.
func ourZombies(t testing.TB) (count int) {
	pids, err := children()
	require.NoError(t, err)
	for _, pid := range pids {
		if st, err := system.stat(pid); err == nil && st.State == 'Z' {
			count++
		}
	}
	return count
}

func TestReaperTakesOrphansAndNothingElse(t *testing.T) {
	launcher := NewLauncher()
	reaping(t, launcher)
	var wait sync.WaitGroup
	wait.Go(func() {
		for range 40 {
			// Two levels of sessions, of which the upper ends first: the lower comes to us.
			status := plantQuietly(t, launcher, "setsid sh -c 'setsid sh -c : & :' & exit 9")
			if assert.NotNil(t, status) && status.Signal == nil {
				assert.Equal(t, 9, status.Code)
			}
		}
	})
	countRight(t, 300)
	wait.Wait()
	eventually(t, "all orphans are reaped", func() bool { return ourZombies(t) == 0 })
}

func TestReaperLeavesTheLeadersZombie(t *testing.T) {
	launcher := NewLauncher()
	reaper, _ := reaping(t, launcher)
	child := shellOf(t, launcher, "exit 11")
	_, err := child.Exited(t.Context())
	require.NoError(t, err)
	for range 10 {
		_, err := reaper.Reap()
		require.NoError(t, err)
	}
	require.Equal(t, 11, child.end(t).Code)
	require.False(t, launcher.owns(child.Identity().PID))
}

func TestAdoptedProcessesAreShownAndEnded(t *testing.T) {
	launcher := NewLauncher()
	reaper, runtime := reaping(t, launcher)
	root := node{Name: "leader", Kids: []node{
		{Name: "bare", Session: true, NoEnv: true, Kids: []node{{Name: "below", Session: true, Term: "ignore"}}},
		{Name: "marked", Session: true},
	}}
	t.Setenv(runtime.Var, runtime.Value)
	tr := plant(t, launcher, root, root.names()...)
	adopted, err := reaper.Adopted()
	require.NoError(t, err)
	require.Empty(t, adopted, "their parent lives")
	tr.killLeader(t)
	eventually(t, "the orphan comes to us", func() bool {
		adopted, err = reaper.Adopted()
		return err == nil && len(adopted) > 0
	})
	require.Len(t, adopted, 1, "not the one with the mark, nor one whose parent lives")
	require.Equal(t, tr.pids["bare"], adopted[0].PID)

	tr.end(t)
	require.True(t, alive(tr.pids["bare"]), "no sweep finds it")
	require.NoError(t, reaper.EndAdopted(t.Context(), patient))
	require.False(t, alive(tr.pids["bare"]) || alive(tr.pids["below"]))
	require.NoError(t, reaper.EndAdopted(t.Context(), patient), "again is harmless")
}

// TestAnotherUsersProcessHoldsUpNoEnd: what sudo has started can't be signalled, nor waited
// for.
func TestAnotherUsersProcessHoldsUpNoEnd(t *testing.T) {
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip("needs setpriv")
	}
	if !asNobody(t, func(dir string) {
		copyFile(t, setpriv, dir+"/sudo")
		require.NoError(t, os.Chmod(dir+"/sudo", 0o755|os.ModeSetuid))
		require.NoError(t, unix.Mkfifo(dir+"/life", 0o644))
		require.NoError(t, os.Chown(dir+"/life", 65534, 65534))
	}) {
		return
	}
	life, err := os.OpenFile("life", os.O_RDWR, 0) // the process ends with it
	require.NoError(t, err)
	launcher := NewLauncher()
	reaper, _ := reaping(t, launcher)
	t.Cleanup(func() { _ = life.Close() })
	dir, err := os.Getwd()
	require.NoError(t, err)
	child := shellOf(t, launcher, `(setsid ./sudo --reuid=0 cat life & echo $!); exec sleep 60`, func(s *Spec) { s.Dir = dir })
	var pid int
	_, err = fmt.Fscan(child.Stdout(), &pid)
	require.NoError(t, err)
	eventually(t, "it can't be signalled", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.EPERM) })
	child.end(t)
	require.NoError(t, reaper.EndAdopted(t.Context(), patient))
	adopted, err := reaper.Adopted()
	require.NoError(t, err)
	require.Len(t, adopted, 1, "but it is shown")
	require.Equal(t, pid, adopted[0].PID)
}

// TestWhatAnOrphanStartedIsEndedHoweverLongItsOwnEndTakes: the kernel frees the
// orphan's memory before it gives its child to us, and nothing shows meanwhile that
// there is one.
func TestWhatAnOrphanStartedIsEndedHoweverLongItsOwnEndTakes(t *testing.T) {
	launcher := NewLauncher()
	reaper, _ := reaping(t, launcher)
	root := node{Name: "leader", Kids: []node{
		{Name: "large", Session: true, NoEnv: true, MiB: 512, Kids: []node{{Name: "below", Session: true, Term: "ignore"}}},
	}}
	tr := plant(t, launcher, root, root.names()...)
	tr.end(t)
	var survivors *SurvivorsError
	eventually(t, "all are ended", func() bool {
		err := reaper.EndAdopted(t.Context(), DefaultGrace)
		require.True(t, err == nil || errors.As(err, &survivors), "%v", err)
		return err == nil
	})
	require.False(t, alive(tr.pids["large"]) || alive(tr.pids["below"]))
}

func TestWhatIsAboutToEndIsNotCalledAlive(t *testing.T) {
	living := []Info{{Identity: Identity{PID: 7, StartTicks: 70}}}
	require.NoError(t, leftOver(nil, 0))
	require.EqualError(t, leftOver(nil, 2), "can't tell yet whether all processes ended")
	require.EqualError(t, leftOver(living, 0), "still alive after SIGKILL: [7@70]")
	require.EqualError(t, leftOver(living, 2), "still alive after SIGKILL: [7@70]")
}

func TestReaperWaitsWhileAChildIsStarted(t *testing.T) {
	launcher := NewLauncher()
	reaper, err := NewReaper(launcher, NewMark(RuntimeVar))
	require.NoError(t, err)
	launcher.starting.RLock()
	_, err = reaper.Reap()
	require.ErrorIs(t, err, errStarting, "a start that hangs must not hold up the others behind us")
	adopted, err := reaper.Adopted()
	require.NoError(t, err)
	require.Empty(t, adopted)
	launcher.starting.RUnlock()
	_, err = reaper.Reap()
	require.NoError(t, err)
	_, err = NewReaper(launcher, Mark{Var: RuntimeVar})
	require.Error(t, err, "without a mark everything would count as unmarked")
}

// TestAsTheFirstProcessOfAContainer: orphans come to us there without asking, 100
// times two levels of sessions whose upper level is killed.
func TestAsTheFirstProcessOfAContainer(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	require.Equal(t, 1, os.Getpid())
	launcher := NewLauncher()
	reaping(t, launcher)
	for range 100 {
		tr := shellOf(t, launcher, `setsid sh -c 'setsid sleep 60 & echo up; exec sleep 60' & exec sleep 60`)
		_, err := io.ReadFull(tr.Stdout(), make([]byte, len("up\n")))
		require.NoError(t, err)
		require.NoError(t, tr.SignalGroup(os.Kill))
		require.Equal(t, "signal: killed", tr.finish(t).String())
	}
	require.NoError(t, exec.Command("true").Run())
	eventually(t, "few zombies", func() bool { return ourZombies(t) < 5 })
}

// TestANumberThatCameAroundIsSpared: between the scan and the signal the process
// that was found ends, and its number goes to a process without the mark.
func TestANumberThatCameAroundIsSpared(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	for attempt := 1; !numberCameAround(t); attempt++ {
		require.Less(t, attempt, 20)
	}
}

// numberCameAround is false where a new thread of ours was given the number.
func numberCameAround(t *testing.T) bool {
	tagged := exec.Command("sleep", "60")
	mark := NewMark(SessionVar)
	tagged.Env = append(os.Environ(), mark.Env())
	require.NoError(t, tagged.Start())
	pid := tagged.Process.Pid
	swap := &swapTable{Table: SystemTable(), swap: func() (newcomer *exec.Cmd) {
		require.NoError(t, tagged.Process.Kill())
		require.Error(t, tagged.Wait())
		newcomer = exec.Command(executablePath(), node{Name: "newcomer", Term: "tell"}.argv()[1:]...)
		require.NoError(t, os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(strconv.Itoa(pid-1)), 0))
		require.NoError(t, newcomer.Start())
		return newcomer
	}}
	require.NoError(t, Sweep(t.Context(), swap, Target{Mark: mark}, Grace{Term: 300 * time.Millisecond, Kill: time.Second, Pause: 10 * time.Millisecond}))
	cameAround := swap.newcomer.Process.Pid == pid
	require.True(t, !cameAround || alive(pid), "the newcomer lives")
	require.NoError(t, swap.newcomer.Process.Kill())
	require.EqualError(t, swap.newcomer.Wait(), "signal: killed", "by us, and by no SIGTERM before")
	return cameAround
}

// swapTable changes the machine behind the back of who has the first scan.
type swapTable struct {
	Table
	swap     func() *exec.Cmd
	newcomer *exec.Cmd
}

func (t *swapTable) Scan(ctx context.Context, mark Mark) (Scan, error) {
	scan, err := t.Table.Scan(ctx, mark)
	if t.newcomer == nil && len(scan.Hits) > 0 {
		t.newcomer = t.swap()
	}
	return scan, err
}
