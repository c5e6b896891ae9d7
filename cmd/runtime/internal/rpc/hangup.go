package rpc

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// awaitHangup is for a client that sends no more. It blocks until all of its requests
// are answered, or until the client has closed its receiving half, too: then nobody
// waits for them, and they are cancelled.
func (c *connection) awaitHangup() {
	raw, err := c.conn.SyscallConn()
	if err != nil || c.flight == nil {
		return // it is closed, or nothing was begun
	}
	c.timing.stop(time.Time{})
	c.flight.whenIdle(func() { _ = c.conn.SetReadDeadline(past) })
	// The callback's false makes the runtime wait for the next event on the descriptor:
	// a hang-up is one, without a byte to read.
	if raw.Read(func(fd uintptr) bool { return hungUp(int(fd)) }) == nil {
		c.abort()
	}
}

// hungUp tells whether the peer has closed both halves.
func hungUp(fd int) bool { return polled(fd, 0)&(unix.POLLHUP|unix.POLLERR) != 0 }

// past is a deadline that is over.
var past = time.Unix(1, 0)

// atOnce bounds what doesn't wait, since it is ready.
const atOnce = time.Second

// ready tells whether there is something to read, or to accept, behind a deadline that is
// over: with one, nothing is tried any more.
func ready(conn syscall.Conn) (is bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false // it is closed
	}
	err = raw.Control(func(fd uintptr) { is = polled(int(fd), unix.POLLIN) != 0 })
	return is && err == nil
}

// polled gives what is so of a descriptor now.
func polled(fd int, events int16) int16 {
	asked := []unix.PollFd{{Fd: int32(fd), Events: events}}
	if n, err := unix.Poll(asked, 0); err != nil || n != 1 {
		return 0
	}
	return asked[0].Revents
}
