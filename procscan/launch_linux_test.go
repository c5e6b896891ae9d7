package procscan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// shell launches a script in a session of its own.
func shell(t testing.TB, script string, change ...func(*Spec)) *tree {
	t.Helper()
	return shellOf(t, NewLauncher(), script, change...)
}

func shellOf(t testing.TB, launcher Launcher, script string, change ...func(*Spec)) *tree {
	t.Helper()
	mark := NewMark(SessionVar)
	spec := Spec{Argv: []string{"sh", "-c", script}, Dir: "/", Env: os.Environ(), Marks: []Mark{mark}}
	for _, c := range change {
		c(&spec)
	}
	child, err := launcher.Launch(t.Context(), spec)
	require.NoError(t, err)
	tr := &tree{Child: child, mark: mark}
	t.Cleanup(tr.cut)
	return tr
}

func TestLaunchGivesPipesAndAStatus(t *testing.T) {
	child := shell(t, `read line; echo "got $line"; echo problem >&2; exit 3`)
	_, err := io.WriteString(child.Stdin(), "hello\n")
	require.NoError(t, err)
	out, err := io.ReadAll(child.Stdout())
	require.NoError(t, err)
	require.Equal(t, "got hello\n", string(out))
	status, err := child.Exited(t.Context())
	require.NoError(t, err)
	require.Equal(t, "exit status 3", status.String())
	require.Equal(t, "problem", child.Stderr().Tail(1))
	require.Regexp(t, `sh in /: problem$`, child.Diagnose())
	require.Equal(t, status, child.end(t))
}

func TestLeaderStaysAZombieUntilReap(t *testing.T) {
	child := shell(t, "exit 7")
	for range 2 { // it can be asked again
		status, err := child.Exited(t.Context())
		require.NoError(t, err)
		require.Equal(t, 7, status.Code)
	}
	st, err := system.stat(child.Identity().PID)
	require.NoError(t, err)
	require.Equal(t, byte('Z'), st.State)
	require.Equal(t, child.Identity(), st.Identity)

	status, err := child.Reap(t.Context())
	require.NoError(t, err)
	require.Equal(t, 7, status.Code)
	if st, err = system.stat(child.Identity().PID); err == nil {
		require.NotEqual(t, child.Identity(), st.Identity)
	}
	again, err := child.Reap(t.Context())
	require.NoError(t, err)
	require.Equal(t, status, again)
	late, err := child.Exited(t.Context())
	require.NoError(t, err)
	require.Equal(t, status, late)
}

func TestExitedIsEndedByItsOwnContextAlone(t *testing.T) {
	child := shell(t, "exec sleep 60")
	var wait sync.WaitGroup
	done := make(chan error, 1)
	wait.Go(func() {
		_, err := child.Exited(context.Background())
		done <- err
	})
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		_, err := child.Exited(ctx)
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	require.Empty(t, done, "another wait was ended")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	_, err := child.Reap(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, child.SignalGroup(os.Kill), ErrReaped, "since Reap began")
	require.NoError(t, syscall.Kill(child.Identity().PID, syscall.SIGKILL))
	status, err := child.Reap(t.Context())
	require.NoError(t, err)
	require.Equal(t, "signal: killed", status.String())
	wait.Wait()
	require.NoError(t, <-done)
}

// TestLaunchLeaksNothingWhenDescriptorsRunOut lets one descriptor more be had in
// each round, until the launch succeeds. TestMain counts what is left open.
func TestLaunchLeaksNothingWhenDescriptorsRunOut(t *testing.T) {
	var before unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &before))
	restore := func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &before)) }
	defer restore()
	lowest, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	unix.Close(lowest)
	for room := 0; ; room++ {
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(lowest + room), Max: before.Max}))
		child, err := NewLauncher().Launch(t.Context(), Spec{Argv: []string{"/bin/sh", "-c", "exit 3"}, Dir: "/"})
		restore()
		if err == nil {
			status, err := child.Reap(t.Context())
			require.NoError(t, err)
			require.Equal(t, 3, status.Code)
			require.GreaterOrEqual(t, room, 7, "six ends of pipes and a pidfd")
			return
		}
		require.ErrorContains(t, err, "start /bin/sh: ")
		require.Less(t, room, 50)
	}
}

// otherSignal is none of this system.
type otherSignal struct{}

func (otherSignal) String() string { return "other" }
func (otherSignal) Signal()        {}

func TestOnlySignalsOfThisSystemAreSent(t *testing.T) {
	child := shell(t, "exec sleep 60")
	require.ErrorContains(t, child.SignalGroup(otherSignal{}), "none of this system")
	held, err := system.hold(child.Identity().PID)
	require.NoError(t, err)
	require.ErrorContains(t, held.Signal(otherSignal{}), "none of this system")
	require.NoError(t, held.Signal(syscall.Signal(0)))
	require.NoError(t, held.Close())
	_, err = system.hold(1 << 22)
	require.True(t, IsGone(err))
	ctx, cancel := context.WithCancel(t.Context())
	child.end(t)
	cancel()
	_, err = groupAlive(ctx, system, 1)
	require.ErrorIs(t, err, context.Canceled)
}

func TestMarksComeFirstAndReplaceInheritedOnes(t *testing.T) {
	runtime := NewMark(RuntimeVar)
	child := shell(t, "", func(s *Spec) {
		s.Argv = []string{"sleep", "60"} // a shell would sort what it passes on
		s.Env = append(s.Env, SessionVar+"=outer", RuntimeVar+"=outer")
		s.Marks = append(s.Marks, runtime)
	})
	var env []byte
	eventually(t, "the program has its environment", func() bool { // there is none in the middle of an exec
		var err error
		env, err = os.ReadFile(fmt.Sprintf("/proc/%d/environ", child.Identity().PID))
		return err == nil && len(env) > 0
	})
	require.True(t, bytes.HasPrefix(env, []byte(child.mark.Env()+"\x00"+runtime.Env()+"\x00")), "%q", env)
	require.NotContains(t, string(env), "outer")
	child.end(t)
}

func TestNothingIsInheritedButTheStandardStreams(t *testing.T) {
	file, err := os.Open("/dev/null")
	require.NoError(t, err)
	defer file.Close()
	other := shell(t, "exec sleep 60") // its pipes are not for the next one
	child := shell(t, "ls -l /proc/self/fd/")
	out, err := io.ReadAll(child.Stdout())
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(string(out), " -> "), "0, 1, 2 and what ls reads:\n%s", out)
	child.end(t)
	other.end(t)
}

func TestSealDescriptorsKeepsInheritedOnesBack(t *testing.T) {
	fd, err := unix.Open("/dev/null", unix.O_RDONLY, 0) // as if our parent had left it open
	require.NoError(t, err)
	defer unix.Close(fd)
	script := fmt.Sprintf("test -e /proc/self/fd/%d", fd)
	require.Equal(t, 0, shell(t, script).finish(t).Code, "it goes on to children")
	require.NoError(t, SealDescriptors())
	require.Equal(t, 1, shell(t, script).finish(t).Code)
}

func TestGivenFilesAreTheChildsStreams(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	file, err := os.Create(path)
	require.NoError(t, err)
	child := shell(t, "cat; echo err >&2", func(s *Spec) { s.Stdio = Stdio{Stdin: devNull(t), Stdout: file, Stderr: file} })
	require.Nil(t, child.Stdin())
	require.Nil(t, child.Stdout())
	require.Nil(t, child.Stderr())
	require.NoError(t, child.CloseStdin())
	require.NotContains(t, child.Diagnose(), "err")
	require.True(t, child.finish(t).Success())
	require.NoError(t, file.Close(), "it stays the caller's")
	out, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "err\n", string(out))
}

func devNull(t testing.TB) *os.File {
	file, err := os.Open(os.DevNull)
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	return file
}

func TestWritesToAChildThatStoppedReadingHaveADeadline(t *testing.T) {
	child := shell(t, "exec sleep 60")
	require.NoError(t, child.Stdin().SetWriteDeadline(time.Now().Add(20*time.Millisecond)))
	_, err := child.Stdin().Write(make([]byte, 4<<20))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, child.CloseStdin())
	require.NoError(t, child.CloseStdin(), "again is harmless")
	child.end(t)
}

func TestStderrIsDrainedWhoeverLooks(t *testing.T) {
	child := shell(t, `head -c 1200000 /dev/zero | tr '\0' x >&2; printf '\377\nE-17\n' >&2; exit 3`)
	status, err := child.Exited(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, status.Code)
	require.Equal(t, "E-17", child.Stderr().Tail(1), "the last line is there when the end is known")
	require.Greater(t, child.Stderr().Total(), int64(1<<20))
	child.end(t)
}

func TestReapDoesNotWaitForAGrandchildThatHoldsThePipes(t *testing.T) {
	holder := node{Name: "holder", Session: true}
	tr := plant(t, NewLauncher(), node{Name: "leader", Kids: []node{holder}}, "leader", "holder")
	require.NoError(t, tr.SignalGroup(os.Kill))
	_, err := tr.Reap(t.Context())
	require.NoError(t, err)
	require.True(t, alive(tr.pids["holder"]))
	_, err = tr.Stdout().Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrClosed)
	require.NoError(t, Sweep(t.Context(), SystemTable(), tr.target(), patient))
	require.False(t, alive(tr.pids["holder"]))
}

func TestLaunchIsEndedOnlyBeforeItStarts(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	cancel(why)
	_, err := NewLauncher().Launch(ctx, Spec{Argv: []string{"sh"}, Dir: "/"})
	require.ErrorIs(t, err, why)

	ctx, cancel = context.WithCancelCause(t.Context())
	child, err := NewLauncher().Launch(ctx, Spec{Argv: []string{"sh", "-c", "read x; exit 5"}, Dir: "/", Env: os.Environ()})
	require.NoError(t, err)
	cancel(why)
	require.NoError(t, child.CloseStdin())
	status, err := child.Reap(t.Context())
	require.NoError(t, err)
	require.Equal(t, 5, status.Code)
}

// TestAChildThatCannotBeIdentifiedIsEnded: without /proc nobody could end its tree later.
func TestAChildThatCannotBeIdentifiedIsEnded(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	require.NoError(t, syscall.Mount("none", "/proc", "tmpfs", 0, ""))
	child, err := NewLauncher().Launch(t.Context(), Spec{Argv: []string{"/bin/sleep", "60"}, Dir: "/", Marks: []Mark{NewMark(SessionVar)}})
	require.Nil(t, child)
	require.ErrorContains(t, err, "can't read the process table")
	require.NotErrorIs(t, err, fs.ErrNotExist, "the program is there, and no other would do better")
	_, err = syscall.Wait4(-1, nil, 0, nil)
	require.ErrorIs(t, err, syscall.ECHILD, "it is killed and reaped")
	require.NoError(t, syscall.Unmount("/proc", 0))
}
