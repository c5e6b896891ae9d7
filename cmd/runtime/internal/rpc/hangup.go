package rpc

import (
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
	c.flight.whenIdle(func() { _ = c.conn.SetReadDeadline(time.Unix(1, 0)) })
	// The callback's false makes the runtime wait for the next event on the descriptor:
	// a hang-up is one, without a byte to read.
	if raw.Read(func(fd uintptr) bool { return hungUp(int(fd)) }) == nil {
		c.abort()
	}
}

// hungUp tells whether the peer has closed both halves.
func hungUp(fd int) bool {
	asked := []unix.PollFd{{Fd: int32(fd)}}
	n, err := unix.Poll(asked, 0)
	return err == nil && n == 1 && asked[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0
}
