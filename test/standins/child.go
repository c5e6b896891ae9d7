package standins

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/seed-f6977891/hearth/test/standins/journal"
)

// Child is a program under a test's own hand: in a session of its own, its standard error in a file.
type Child struct {
	Cmd        *exec.Cmd
	Stdin      *os.File // a pipe, as Stdout; it stays open when the process has ended but others hold the other end
	Stdout     *os.File // a pipe: reads of it take a deadline
	PID        int
	StartTicks uint64

	stderr string
	done   chan struct{}
}

// Launch starts argv in dir with env added to this process's environment. The child is killed and waited for when the
// test ends, unless it has ended before.
func Launch(t testing.TB, dir string, env []string, argv ...string) *Child {
	t.Helper()
	c := &Child{Cmd: exec.Command(argv[0], argv[1:]...), done: make(chan struct{})}
	c.Cmd.Dir = dir
	c.Cmd.Env = append(os.Environ(), env...)
	c.Cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// A file and pipes of our own: with os/exec's, Wait would wait for orphans that hold the other end, or cut them off.
	c.stderr = filepath.Join(t.TempDir(), "stderr")
	stderr, err := os.Create(c.stderr)
	must(t, err)
	stdout, theirs, err := os.Pipe()
	must(t, err)
	stdin, ours, err := os.Pipe()
	must(t, err)
	c.Cmd.Stderr, c.Cmd.Stdout, c.Cmd.Stdin = stderr, theirs, stdin
	c.Stdout, c.Stdin = stdout, ours
	must(t, c.Cmd.Start())
	c.PID, c.StartTicks = c.Cmd.Process.Pid, journal.StartTicks(c.Cmd.Process.Pid)
	for _, handedOver := range []*os.File{stderr, theirs, stdin} {
		_ = handedOver.Close()
	}
	go func() {
		_ = c.Cmd.Wait()
		close(c.done)
	}()
	t.Cleanup(func() {
		_ = c.Cmd.Process.Kill()
		<-c.done
		_, _ = stdout.Close(), ours.Close()
	})
	return c
}

// Wait waits for the end of the process and returns its state.
func (c *Child) Wait(t testing.TB) *os.ProcessState {
	t.Helper()
	select {
	case <-c.done:
	case <-time.After(Bound):
		t.Fatalf("%v did not end within %v", c.Cmd.Args, Bound)
	}
	return c.Cmd.ProcessState
}

// ExitCode waits for the end and returns the exit code, -1 for an end by signal.
func (c *Child) ExitCode(t testing.TB) int {
	t.Helper()
	return c.Wait(t).ExitCode()
}

// KilledBy waits for the end and returns the signal that ended the process, -1 if it exited by itself.
func (c *Child) KilledBy(t testing.TB) syscall.Signal {
	t.Helper()
	return c.Wait(t).Sys().(syscall.WaitStatus).Signal()
}

// Stderr returns what the process wrote to its standard error so far.
func (c *Child) Stderr(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(c.stderr)
	must(t, err)
	return string(text)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
