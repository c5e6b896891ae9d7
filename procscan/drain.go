//go:build unix

package procscan

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// settleMax bounds what is read once the leader has ended: a grandchild may go
// on writing for ever. A pipe holds at most 1 MiB for an ordinary user.
const settleMax = 1 << 20

var drainBuffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// drain reads a child's stderr into a ring for as long as anybody has it open,
// or until it is closed: a child whose stderr nobody reads stops at 64 KiB.
type drain struct {
	file *os.File
	conn syscall.RawConn
	ring Ring
	// pumping is held from a read until its bytes are in the ring, so that they
	// keep their order when settle reads too.
	pumping sync.Mutex
	done    chan struct{}
}

func startDrain(file *os.File) (*drain, error) {
	conn, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	d := &drain{file: file, conn: conn, done: make(chan struct{})}
	go d.run()
	return d, nil
}

func (d *drain) run() {
	defer close(d.done)
	// The error says only that close ended it.
	_ = d.conn.Read(func(fd uintptr) bool {
		for {
			if n, open := d.pump(int(fd)); n == 0 {
				return !open
			}
		}
	})
}

// pump reads once without blocking. A count of 0 means that there is nothing to
// read now, and with it open = false that there will never be more.
func (d *drain) pump(fd int) (n int, open bool) {
	buf := drainBuffers.Get().(*[]byte)
	defer drainBuffers.Put(buf)
	d.pumping.Lock()
	defer d.pumping.Unlock()
	n, err := retry(func() (int, error) { return unix.Read(fd, *buf) })
	if n > 0 {
		_, _ = d.ring.Write((*buf)[:n])
		return n, true
	}
	return 0, err == unix.EAGAIN
}

// settle takes what is in the pipe now: the goroutine may be late, and the last
// line of a child that has ended is the one which matters.
func (d *drain) settle() {
	// The error says that it is closed: then it was settled before.
	_ = d.conn.Control(func(fd uintptr) {
		for left := settleMax; left > 0; {
			n, _ := d.pump(int(fd))
			if n == 0 {
				return
			}
			left -= n
		}
	})
}

// close ends the goroutine and waits for it, also while a grandchild holds the
// other end open.
func (d *drain) close() {
	_ = d.file.Close()
	<-d.done
}

// retry repeats a system call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}
