package procscan

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

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
