package procscan

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// ErrGone says that a process exists no more, or only as a zombie: it runs
// nothing and holds nothing, and only its parent can do anything about it.
var ErrGone = errors.New("process is gone")

// Identity names one process of this machine since its last start. It is
// comparable, and good for maps, logs and comparisons; it isn't enough to send
// a signal by, since start times are 10 ms coarse and PIDs can come around
// faster than that.
type Identity struct {
	PID int
	// StartTicks is when the process started, in the kernel's own clock ticks
	// since boot (field 22 of /proc/PID/stat). It doesn't move when the wall
	// clock is set. Elsewhere than on Linux: microseconds since the epoch.
	StartTicks uint64
}

// String gives the form PID@TICKS that logs and files use.
func (id Identity) String() string { return fmt.Sprintf("%d@%d", id.PID, id.StartTicks) }

// Read gives the identity of the living process that has this PID now. IsGone
// tells from the error that there is none.
func Read(pid int) (Identity, error) {
	st, err := system.stat(pid)
	if err != nil {
		return Identity{}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	if st.dead() {
		return Identity{}, fmt.Errorf("identify process %d: %w", pid, ErrGone)
	}
	return st.Identity, nil
}

// IsGone reports whether err says that the process in question has ended: it is
// missing, vanished between an open and a read, or is a zombie. ENOENT and
// ESRCH both mean that, wherever they come from: /proc gives ESRCH for a
// process that ended after the open, and errors.Is(ESRCH, fs.ErrNotExist) is
// false.
func IsGone(err error) bool {
	return errors.Is(err, ErrGone) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

// isUnreadable tells a process that we may not look into from a real error.
// EPERM is what a /proc mounted with hidepid=1 gives.
func isUnreadable(err error) bool { return errors.Is(err, fs.ErrPermission) }
