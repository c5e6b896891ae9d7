package procscan

import (
	"context"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// leader is our hold on a child: its number, which is pinned until we reap it.
type leader struct{ pid int }

func startLeader(path string, argv []string, attr *syscall.ProcAttr) (*leader, int, error) {
	pid, err := syscall.ForkExec(path, argv, attr)
	if err != nil {
		return nil, 0, err
	}
	return &leader{pid: pid}, pid, nil
}

// exitPoll is how often an end is looked for: waitid(2) without WNOHANG would
// block a thread for each child.
const exitPoll = 20 * time.Millisecond

func (l *leader) wait(ctx context.Context, ended func() bool) error {
	for !ended() {
		if err := pause(ctx, exitPoll); err != nil {
			return err
		}
	}
	return nil
}

// childInfo is the head of siginfo_t, which is 104 bytes long.
type childInfo struct {
	signo, errno, code int32
	pid                int32
	uid                uint32
	status             int32
	_                  [80]byte
}

// The values of code, from <signal.h>. The kernel also reports stopped children
// to those who ask for ended ones only.
const (
	childExited = 1
	childKilled = 2
	childDumped = 3
)

// peek gives the exit status and leaves the zombie.
func (l *leader) peek() (status Status, ended bool) {
	var info childInfo
	const byPID = 1 // P_PID
	_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(l.pid), uintptr(unsafe.Pointer(&info)),
		unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, 0, 0)
	switch {
	case errno == unix.EINTR:
		return Status{}, false
	case errno != 0:
		return Status{Code: -1}, true
	case info.pid == 0:
		return Status{}, false
	case info.code == childExited:
		return Status{Code: int(info.status)}, true
	case info.code == childKilled, info.code == childDumped:
		return Status{Code: -1, Signal: syscall.Signal(info.status)}, true
	}
	return Status{}, false
}

// reap takes the exit status; the PID is free from then on.
func (l *leader) reap() Status {
	var status unix.WaitStatus
	_, err := retry(func() (int, error) { return unix.Wait4(l.pid, &status, 0, nil) })
	switch {
	case err != nil:
		return Status{Code: -1}
	case status.Signaled():
		return Status{Code: -1, Signal: status.Signal()}
	}
	return Status{Code: status.ExitStatus()}
}

func (l *leader) close() {}
