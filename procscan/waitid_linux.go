package procscan

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// childInfo is siginfo_t as waitid(2) fills it in, of which x/sys names only
// the head. The empty array gives the rest the alignment of the kernel's union.
type childInfo struct {
	signo, errno, code int32
	_                  [0]uintptr
	pid                int32
	uid                uint32
	exit               int32
	_                  [128]byte
}

// childExited is CLD_EXITED of <signal.h>, a value of code.
const childExited = 1

func (i *childInfo) wait(pidfd, options int) error {
	return unix.Waitid(unix.P_PIDFD, pidfd, (*unix.Siginfo)(unsafe.Pointer(i)), options, nil)
}

func (i *childInfo) status() (status Status, ended bool) {
	switch {
	case i.pid == 0:
		return Status{}, false
	case i.code == childExited:
		return Status{Code: int(i.exit)}, true
	default: // killed, with a core dump or without
		return Status{Code: -1, Signal: syscall.Signal(i.exit)}, true
	}
}
