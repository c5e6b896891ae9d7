package procscan

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestAProcessThatGaveUpItsMemoryAndHasNotEndedIsInDoubt has one that can't end: process
// 1 of a PID namespace, in which a child of ours is a zombie.
func TestAProcessThatGaveUpItsMemoryAndHasNotEndedIsInDoubt(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	runtime.LockOSThread() // never undone: the thread's children are the namespace's
	first := exec.Command("/bin/sleep", "60")
	first.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID, Setpgid: true}
	require.NoError(t, first.Start())
	namespace, err := os.Open(fmt.Sprintf("/proc/%d/ns/pid", first.Process.Pid))
	require.NoError(t, err)
	defer namespace.Close()
	require.NoError(t, unix.Setns(int(namespace.Fd()), unix.CLONE_NEWPID))
	zombie := exec.Command("/bin/true")
	require.NoError(t, zombie.Start())
	require.NoError(t, unix.Waitid(unix.P_PID, zombie.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil))
	require.NoError(t, first.Process.Kill())

	buf := make([]byte, environBuffer)
	eventually(t, "its memory is given up", func() bool {
		env, err := system.environ(first.Process.Pid, buf)
		return err == nil && len(env) == 0
	})
	v, err := newRound(system, NewMark(SessionVar).Env(), &buf).judge(first.Process.Pid)
	require.NoError(t, err)
	require.Equal(t, unknown, v)

	require.NoError(t, zombie.Wait())
	_ = first.Wait() // it was killed
	v, err = newRound(system, NewMark(SessionVar).Env(), &buf).judge(first.Process.Pid)
	require.NoError(t, err)
	require.Equal(t, gone, v)
}

// A child that can't be identified has no owner, so nobody would look for its own later.
func TestADiscardedChildTakesItsGroupAlong(t *testing.T) {
	output, inherited, err := os.Pipe()
	require.NoError(t, err)
	defer output.Close()
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", "sleep 60 & echo started; wait"}, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, inherited.Fd(), 2}, Sys: &syscall.SysProcAttr{Setsid: true}})
	require.NoError(t, err)
	require.NoError(t, inherited.Close())
	_, err = output.Read(make([]byte, 16))
	require.NoError(t, err)
	began := time.Now()
	discard(pid)
	_, err = output.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	require.Less(t, time.Since(began), 30*time.Second, "the sleep held it open")
}
