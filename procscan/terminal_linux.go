package procscan

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// terminal is one whose foreground was given to a child.
type terminal struct {
	file *os.File // our own duplicate
	own  int      // the group that had it before
}

// takeTerminal makes the child's group the foreground one of the terminal that
// stdin is, if it is one and ours is the foreground now. It gives nil otherwise.
//
// We do it and not the child before its exec: that would have to ignore or block
// SIGTTOU, and the program would inherit this. A child that touched the
// terminal too early was stopped for it; SIGCONT sets it going again.
func takeTerminal(stdin *os.File, pgid int) *terminal {
	if stdin == nil {
		return nil
	}
	conn, err := stdin.SyscallConn()
	if err != nil {
		return nil
	}
	var t *terminal
	_ = conn.Control(func(fd uintptr) {
		own, err := unix.IoctlGetInt(int(fd), unix.TIOCGPGRP)
		if err != nil || own != unix.Getpgrp() {
			return
		}
		dup, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 3)
		if err == nil {
			t = &terminal{file: os.NewFile(uintptr(dup), stdin.Name()), own: own}
		}
	})
	if t != nil {
		t.give(pgid)
		_ = unix.Kill(-pgid, unix.SIGCONT)
	}
	return t
}

// restore takes the terminal back.
func (t *terminal) restore() {
	if t == nil {
		return
	}
	t.give(t.own)
	_ = t.file.Close()
}

// give sets the foreground group. Who does that from the background is stopped
// by SIGTTOU, unless the thread blocks it; the process's handlers aren't ours.
func (t *terminal) give(pgid int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var block, before unix.Sigset_t
	block.Val[0] = 1 << (unix.SIGTTOU - 1)
	if unix.PthreadSigmask(unix.SIG_BLOCK, &block, &before) != nil {
		return
	}
	// It fails when the terminal is gone; then there is nothing to give.
	_ = unix.IoctlSetPointerInt(int(t.file.Fd()), unix.TIOCSPGRP, pgid)
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
}
