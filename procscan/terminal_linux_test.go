package procscan

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// openTerminal gives both sides of a new pseudo-terminal.
func openTerminal(t *testing.T) (ours, theirs *os.File) {
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	t.Cleanup(func() { _ = ours.Close() })
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0))
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = theirs.Close() })
	return ours, theirs
}

// TestForegroundChildHasTheTerminal: it may read it, which stops a process of the
// background, and we get it back in Reap, which would stop us if we were careless.
func TestForegroundChildHasTheTerminal(t *testing.T) {
	if !inside(t, func(cmd *exec.Cmd) {
		ours, theirs := openTerminal(t)
		cmd.Stdin = theirs
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		_, err := io.WriteString(ours, "typed\n")
		require.NoError(t, err)
	}) {
		return
	}
	tty := os.Stdin
	foreground := func() int {
		group, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
		require.NoError(t, err)
		return group
	}
	require.Equal(t, unix.Getpgrp(), foreground())
	child := shell(t, `read line; test "$line" = typed && exit 23`, func(s *Spec) {
		s.Mode = Foreground
		s.Stdio.Stdin = tty
	})
	require.Equal(t, child.Identity().PID, foreground())
	require.Equal(t, 23, child.finish(t).Code)
	require.Equal(t, unix.Getpgrp(), foreground())
}

func TestForegroundWithoutATerminalIsAGroupOfItsOwn(t *testing.T) {
	child := shell(t, "exec sleep 60", func(s *Spec) {
		s.Mode = Foreground
		s.Stdio.Stdin = devNull(t)
	})
	st, err := system.stat(child.Identity().PID)
	require.NoError(t, err)
	require.Equal(t, child.Identity().PID, st.PGID)
	own, err := unix.Getsid(0)
	require.NoError(t, err)
	require.Equal(t, own, st.SID)
	require.NoError(t, RetireGroup(t.Context(), child, polite))
	require.Equal(t, syscall.SIGTERM, child.end(t).Signal)
}
