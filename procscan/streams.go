//go:build unix

package procscan

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// streams are both ends of a child's standard streams while it is started.
type streams struct {
	child  [3]uintptr
	opened []int    // the child's ends of our pipes
	stdin  *os.File // our ends, nil where the child got a file
	stdout *os.File
	stderr *os.File
}

// openStreams makes the pipes. os.Pipe won't do: both its ends are non-blocking,
// which a child doesn't expect of its standard streams.
func openStreams(stdio Stdio) (*streams, error) {
	s := &streams{}
	var err error
	if s.stdin, err = s.open(0, stdio.Stdin, "stdin"); err == nil {
		if s.stdout, err = s.open(1, stdio.Stdout, "stdout"); err == nil {
			s.stderr, err = s.open(2, stdio.Stderr, "stderr")
		}
	}
	if err != nil {
		s.closeChild()
		s.closeOurs()
		return nil, err
	}
	return s, nil
}

func (s *streams) open(number int, given *os.File, name string) (*os.File, error) {
	if given != nil {
		// Fd would turn the file, which isn't ours, to blocking mode.
		conn, err := given.SyscallConn()
		if err != nil {
			return nil, err
		}
		return nil, conn.Control(func(fd uintptr) { s.child[number] = fd })
	}
	ends, err := closeOnExecPipe()
	if err != nil {
		return nil, os.NewSyscallError("pipe", err)
	}
	ours, theirs := ends[0], ends[1]
	if number == 0 {
		ours, theirs = theirs, ours
	}
	s.child[number] = uintptr(theirs)
	s.opened = append(s.opened, theirs)
	if err := unix.SetNonblock(ours, true); err != nil {
		unix.Close(ours)
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(ours), name), nil
}

// closeOnExecPipe works without pipe2(2), which darwin lacks.
func closeOnExecPipe() (ends [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(ends[:]); err != nil {
		return ends, err
	}
	unix.CloseOnExec(ends[0])
	unix.CloseOnExec(ends[1])
	return ends, nil
}

func (s *streams) closeChild() {
	for _, fd := range s.opened {
		unix.Close(fd)
	}
	s.opened = nil
}

func (s *streams) closeOurs() {
	for _, file := range []*os.File{s.stdin, s.stdout, s.stderr} {
		if file != nil {
			_ = file.Close()
		}
	}
}
