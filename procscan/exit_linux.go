package procscan

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// leader is our hold on a child: its end can be awaited and looked at without
// reaping it.
type leader struct{ pidfd *os.File }

// startLeader starts the program. The attributes' PidFD makes the kernel give
// the descriptor with the process, so that no number is ever looked up again.
func startLeader(path string, argv []string, attr *syscall.ProcAttr) (*leader, int, error) {
	fd := -1
	attr.Sys.PidFD = &fd
	pid, err := syscall.ForkExec(path, argv, attr)
	if err != nil {
		return nil, 0, err
	}
	if fd < 0 {
		err = fmt.Errorf("the kernel gives no pidfd, Linux 5.4 is needed: %w", syscall.ENOSYS)
	} else if err = unix.SetNonblock(fd, true); err == nil {
		return &leader{pidfd: os.NewFile(uintptr(fd), "pidfd")}, pid, nil
	} else {
		unix.Close(fd)
	}
	discard(pid)
	return nil, 0, err
}

// wait blocks until ended says so. No thread is blocked: the runtime's poller
// watches the pidfd. Each wait has a duplicate of its own, so that its context
// ends only itself.
func (l *leader) wait(ctx context.Context, ended func() bool) error {
	if ended() {
		return nil
	}
	dup, err := l.duplicate()
	if err != nil {
		if ended() {
			return nil // reaped in between, which closes the pidfd
		}
		return err
	}
	defer dup.Close()
	conn, err := dup.SyscallConn()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = dup.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err = conn.Read(func(uintptr) bool { return ended() })
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (l *leader) duplicate() (*os.File, error) {
	conn, err := l.pidfd.SyscallConn()
	if err != nil {
		return nil, err
	}
	dup := -1
	if ctlErr := conn.Control(func(fd uintptr) {
		dup, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	}); ctlErr != nil {
		return nil, ctlErr
	}
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(dup), "pidfd"), nil
}

// peek gives the exit status and leaves the zombie.
func (l *leader) peek() (status Status, ended bool) { return l.waitid(unix.WNOWAIT) }

// reap takes the exit status; the PID is free from then on.
func (l *leader) reap() Status {
	status, _ := l.waitid(0)
	return status
}

func (l *leader) waitid(flags int) (status Status, ended bool) {
	conn, err := l.pidfd.SyscallConn()
	if err != nil {
		return Status{Code: -1}, true
	}
	var info childInfo
	ctlErr := conn.Control(func(fd uintptr) {
		_, err = retry(func() (int, error) { return 0, info.wait(int(fd), unix.WEXITED|unix.WNOHANG|flags) })
	})
	if ctlErr != nil || err != nil {
		// ECHILD: the host program waited for it. What it knows we can't learn.
		return Status{Code: -1}, true
	}
	return info.status()
}

func (l *leader) close() { _ = l.pidfd.Close() }
