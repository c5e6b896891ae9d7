package procscan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

func TestMarksComeFirstAndReplaceInheritedOnes(t *testing.T) {
	runtime := NewMark(RuntimeVar)
	child := shell(t, "exec sleep 60", func(s *Spec) {
		s.Env = append(s.Env, SessionVar+"=outer", RuntimeVar+"=outer")
		s.Marks = append(s.Marks, runtime)
	})
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", child.Identity().PID))
	require.NoError(t, err)
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
	require.NoError(t, Sweep(t.Context(), SystemTable(), tr.target(), DefaultGrace))
	require.False(t, alive(tr.pids["holder"]))
}

func TestStartErrorsSayWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	machine := func(number byte) string {
		raw, err := os.ReadFile(executablePath())
		require.NoError(t, err)
		raw = raw[:4096]
		raw[18], raw[19] = number, 0 // e_machine
		return string(raw)
	}
	for _, tt := range []struct {
		law  string
		spec Spec
		want string
		is   error
	}{
		{"a missing program", Spec{Argv: []string{"no-such-program"}, Dir: "/"}, "no program no-such-program in PATH", fs.ErrNotExist},
		{"a missing path", Spec{Argv: []string{"/no/such/program"}, Dir: "/"}, "/no/such/program doesn't exist", fs.ErrNotExist},
		{"no execute bit", Spec{Argv: []string{write("plain", "#!/bin/sh\n", 0o644)}, Dir: "/"}, "is not executable (-rw-r--r-- ", fs.ErrPermission},
		{"a directory as program", Spec{Argv: []string{dir}, Dir: "/"}, "is a directory", fs.ErrPermission},
		{"a missing directory", Spec{Argv: []string{"sh"}, Dir: "/no/such"}, "directory /no/such: no such file or directory", fs.ErrNotExist},
		{"a file as directory", Spec{Argv: []string{"sh"}, Dir: write("file", "", 0o600)}, "is not a directory", syscall.ENOTDIR},
		{"a relative directory", Spec{Argv: []string{"sh"}, Dir: "sub"}, `working directory "sub" is not an absolute path`, nil},
		{"a missing interpreter", Spec{Argv: []string{write("script", "#!/no/interp -x\n", 0o755)}, Dir: "/"}, "needs /no/interp, which doesn't exist", fs.ErrNotExist},
		{"neither script nor program", Spec{Argv: []string{write("text", "hello", 0o755)}, Dir: "/"}, "neither an ELF file nor a script", syscall.ENOEXEC},
		{"another machine's program", Spec{Argv: []string{write("alien", machine(0xB7^0x3E^byte(hostMachine())), 0o755)}, Dir: "/"}, "built for EM_", syscall.ENOEXEC},
		{"no program at all", Spec{Dir: "/"}, "no program is named", nil},
		{"an empty mark", Spec{Argv: []string{"sh"}, Dir: "/", Marks: []Mark{{Var: SessionVar}}}, "is empty", nil},
		{"a NUL byte", Spec{Argv: []string{"sh", "a\x00b"}, Dir: "/"}, "NUL byte", syscall.EINVAL},
		{"too long arguments", Spec{Argv: []string{"sh", "-c", "true", strings.Repeat("x", 4<<20)}, Dir: "/"}, "too long", syscall.E2BIG},
	} {
		t.Run(tt.law, func(t *testing.T) {
			tt.spec.Env = []string{"PATH=" + os.Getenv("PATH")}
			_, err := NewLauncher().Launch(t.Context(), tt.spec)
			var start *StartError
			require.ErrorAs(t, err, &start)
			require.Contains(t, start.Diagnosis, tt.want)
			require.Contains(t, err.Error(), "start ")
			require.NotContains(t, err.Error(), "\n")
			if tt.is != nil {
				require.ErrorIs(t, err, tt.is)
			}
		})
	}
}

// hostMachine is the e_machine of our own binary, an ELF file's two bytes at 18.
func hostMachine() int {
	raw, err := os.ReadFile(executablePath())
	if err != nil {
		panic(err)
	}
	return int(raw[18])
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

// TestHostChildrenAreUndisturbed runs a host's own children beside ours.
func TestHostChildrenAreUndisturbed(t *testing.T) {
	launcher := NewLauncher()
	var wait sync.WaitGroup
	wait.Go(func() {
		for range 30 {
			tr := plantQuietly(t, launcher, "exit 0")
			assert.NotNil(t, tr)
		}
	})
	countRight(t, 300)
	wait.Wait()
}

// plantQuietly launches, ends and reaps a script off the test's own goroutine.
func plantQuietly(t testing.TB, launcher Launcher, script string) *Status {
	mark := NewMark(SessionVar)
	child, err := launcher.Launch(context.Background(), Spec{Argv: []string{"sh", "-c", script}, Dir: "/", Env: os.Environ(), Marks: []Mark{mark}})
	if !assert.NoError(t, err) {
		return nil
	}
	assert.NoError(t, RetireGroup(context.Background(), child, DefaultGrace))
	assert.NoError(t, Sweep(context.Background(), SystemTable(), Target{Mark: mark, Leader: child.Identity(), Cage: child.Cage()}, DefaultGrace))
	status, err := child.Reap(context.Background())
	assert.NoError(t, err)
	return &status
}

// countRight runs children with os/exec and checks each one's exit status.
func countRight(t testing.TB, children int) {
	t.Helper()
	right := 0
	for i := range children {
		code := i % 100
		err := exec.Command("sh", "-c", fmt.Sprintf("exit %d", code)).Run()
		var exit *exec.ExitError
		if code == 0 && err == nil || errors.As(err, &exit) && exit.ExitCode() == code {
			right++
		}
	}
	require.Equal(t, children, right, "exit statuses that came out right")
}
