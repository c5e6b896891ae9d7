package procscan

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// system is the machine's process table: /proc and pidfds, which need Linux 5.4.
var system source = procfs{}

// Limits names what this platform can't promise; nothing on Linux.
func Limits() []string { return nil }

// clockTick is USER_HZ, in which /proc gives times. It is part of the kernel's
// interface and 100 wherever Go runs.
const clockTick = 100

// BootID names this start of the machine; identities mean nothing beyond it.
// It is empty where the kernel doesn't tell.
func BootID() string {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(raw))
}

type procfs struct{}

func (procfs) pids() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	self, pids := os.Getpid(), make([]int, 0, len(names))
	seen := false
	for _, name := range names {
		if name[0] < '1' || name[0] > '9' {
			continue
		}
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		seen = seen || pid == self
		pids = append(pids, pid)
	}
	if !seen {
		return nil, errors.New("/proc doesn't show our own process: it is not mounted, or belongs to another PID namespace")
	}
	return pids, nil
}

// newest reads the last field of proc(5), loadavg. It counts threads too.
func (procfs) newest() int {
	var buf [128]byte
	raw, err := readAll("/proc/loadavg", buf[:], '\n')
	if err != nil {
		return 0
	}
	fields := bytes.Fields(raw)
	if len(fields) == 0 {
		return 0
	}
	pid, err := strconv.Atoi(string(fields[len(fields)-1]))
	if err != nil {
		return 0
	}
	return pid
}

func (src procfs) environ(pid int, buf []byte) ([]byte, error) {
	env, err := readAll("/proc/"+strconv.Itoa(pid)+"/environ", buf, 0)
	if err == unix.ESRCH {
		return src.threadEnviron(pid, buf)
	}
	return env, err
}

// threadEnviron asks the other threads: a process whose first thread has ended
// answers ESRCH for itself, as zombies and kernel threads do. Those last are
// many and in no process group, which is quickly asked. One that ends has given up
// its memory in all its threads, and is there all the same: it has no environment.
func (src procfs) threadEnviron(pid int, buf []byte) ([]byte, error) {
	if group, err := unix.Getpgid(pid); err != nil || group == 0 {
		return nil, ErrGone
	}
	if st, err := src.stat(pid); err != nil || st.dead() {
		return nil, ErrGone
	}
	tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return nil, err
	}
	for _, thread := range threads {
		env, err := readAll(tasks+thread.Name()+"/environ", buf, 0)
		if !IsGone(err) {
			return env, err
		}
	}
	return buf[:0], nil
}

func (procfs) stat(pid int) (procStat, error) {
	var buf [1024]byte
	path := "/proc/" + strconv.Itoa(pid) + "/stat"
	raw, err := readAll(path, buf[:], '\n')
	if err != nil {
		return procStat{}, err
	}
	if len(raw) == 0 {
		return procStat{}, fmt.Errorf("%s is empty: %w", path, ErrGone)
	}
	return parseStat(raw)
}

// readAll reads a file of /proc with as few system calls as there can be; os.File
// would cost twice as much. What came short of the room for it and ends as such
// a file does is whole: the kernel stops early only at the end.
func readAll(path string, buf []byte, last byte) ([]byte, error) {
	fd, err := retry(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	for used := 0; ; {
		if used == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)
		}
		n, err := retry(func() (int, error) { return unix.Read(fd, buf[used:]) })
		if err != nil {
			return nil, err
		}
		used += n
		if n == 0 || used < len(buf) && buf[used-1] == last {
			return buf[:used], nil
		}
	}
}

func (procfs) now() uint64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return 0 // everything counts as new then, which is the careful side
	}
	return uint64(ts.Sec)*clockTick + uint64(ts.Nsec)*clockTick/1e9
}

func (src procfs) hold(pid int) (Process, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err == unix.EINVAL {
		return nil, errThread
	}
	if err != nil {
		return nil, os.NewSyscallError("pidfd_open", err)
	}
	st, err := src.stat(pid)
	if err == nil && st.dead() {
		err = ErrGone
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &pidfdProcess{id: st.Identity, fd: fd}, nil
}

// pidfdProcess is held by a descriptor that means this process for ever.
type pidfdProcess struct {
	id Identity
	fd int
}

func (p *pidfdProcess) Identity() Identity { return p.id }

// Signal asks first whether the process has ended: the kernel takes a signal to
// a zombie without complaint.
func (p *pidfdProcess) Signal(sig os.Signal) error {
	number, ok := sig.(unix.Signal)
	if !ok {
		return fmt.Errorf("signal %v is none of this system", sig)
	}
	if pidfdEnded(p.fd) {
		return fmt.Errorf("signal process %s: %w", p.id, ErrGone)
	}
	if err := unix.PidfdSendSignal(p.fd, number, nil, 0); err != nil {
		return fmt.Errorf("signal process %s: %w", p.id, err)
	}
	return nil
}

func (p *pidfdProcess) Close() error { return unix.Close(p.fd) }

// pidfdEnded reports whether the process is a zombie or gone: that makes a
// pidfd readable.
func pidfdEnded(fd int) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, _ := retry(func() (int, error) { return unix.Poll(fds, 0) })
	return n > 0 && fds[0].Revents != 0
}
