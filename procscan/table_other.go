//go:build !linux

package procscan

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/shirou/gopsutil/v4/process"
	"golang.org/x/sys/unix"
)

// system is the machine's process table as gopsutil shows it, where there are
// no /proc and no pidfds.
var system source = portable{}

func init() {
	// Without it start times move when the wall clock is set, and with them the
	// identity of every process.
	process.EnableBootTimeCache(true)
}

// Limits names what this platform can't promise, one sentence each.
func Limits() []string {
	return []string{
		"between a look at a process and a signal to it its number may be reused: this system has no handles of processes",
		"a process whose environment the system hides, as it does for its own programs, is found only through its process group",
		"an orphan goes to the system's first process: there are no control groups and no subreaper",
		"a command that is run in the foreground doesn't get the terminal's foreground group",
	}
}

type portable struct{}

func (portable) pids() ([]int, error) {
	list, err := process.Pids()
	if err != nil {
		return nil, err
	}
	pids := make([]int, 0, len(list))
	for _, pid := range list {
		if pid > 0 {
			pids = append(pids, int(pid))
		}
	}
	return pids, nil
}

func (portable) stat(pid int) (procStat, error) {
	p, err := process.NewProcess(int32(pid))
	if err != nil {
		return procStat{}, goneIfMissing(pid, err)
	}
	started, err := p.CreateTime()
	if err != nil {
		return procStat{}, goneIfMissing(pid, err)
	}
	states, err := p.Status()
	if err != nil {
		return procStat{}, goneIfMissing(pid, err)
	}
	st := procStat{Info: Info{Identity: Identity{PID: pid, StartTicks: uint64(started)}, State: stateLetter(states)}}
	st.Comm, _ = p.Name() // the rest is missing for a process that just ended: it is as good as gone
	if parent, err := p.Ppid(); err == nil {
		st.PPID = int(parent)
	}
	st.PGID, _ = unix.Getpgid(pid)
	st.SID, _ = unix.Getsid(pid)
	if memory, err := p.MemoryInfo(); err == nil {
		st.rss = int64(memory.RSS)
	}
	return st, nil
}

func stateLetter(states []string) byte {
	for _, state := range states {
		switch state {
		case process.Zombie:
			return 'Z'
		case process.Stop:
			return 'T'
		case process.Running:
			return 'R'
		}
	}
	return 'S'
}

// goneIfMissing asks the kernel: gopsutil's errors don't tell reliably.
func goneIfMissing(pid int, err error) error {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	return err
}

func (portable) newest() int { return 0 }

func (portable) now() uint64 { return uint64(time.Now().UnixMilli()) }

func (src portable) hold(pid int) (Process, error) {
	st, err := src.stat(pid)
	if err != nil {
		return nil, err
	}
	return checkedProcess{st.Identity, src}, nil
}

// checkedProcess compares the start time before each signal, which is the most
// that can be done without a handle.
type checkedProcess struct {
	id  Identity
	src portable
}

func (p checkedProcess) Identity() Identity { return p.id }

func (p checkedProcess) Signal(sig os.Signal) error {
	number, ok := sig.(syscall.Signal)
	if !ok {
		return fmt.Errorf("signal %v is none of this system", sig)
	}
	st, err := p.src.stat(p.id.PID)
	if err == nil && (st.Identity != p.id || st.dead()) {
		err = ErrGone
	}
	if err == nil {
		err = unix.Kill(p.id.PID, number)
	}
	if err != nil {
		return fmt.Errorf("signal process %s: %w", p.id, err)
	}
	return nil
}

func (p checkedProcess) Close() error { return nil }
