package client

import (
	"errors"
	"io/fs"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/messages"
)

// RemoveStale removes a socket that a dead daemon left. The caller holds the lifetime
// lock, so that no living daemon can be about to listen on it. What is no socket, or
// somebody else's, or takes connections, is never removed: a program that isn't hearth
// knows of no lock.
func RemoveStale(socket string) error {
	var info unix.Stat_t
	switch err := unix.Lstat(socket, &info); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return messages.Errorf(messages.KindInternal, "cannot look at the socket %s: %w", socket, err)
	case info.Mode&unix.S_IFMT != unix.S_IFSOCK:
		return messages.Invalidf("%s is in the way and is no socket; it was not touched: move it away", socket)
	case int(info.Uid) != os.Geteuid():
		return messages.Invalidf("%s is a socket of user %d and was not touched; use a runtime_dir of your own", socket, info.Uid)
	}
	if err := refused(socket); err != nil {
		return err
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return messages.Errorf(messages.KindInternal, "cannot remove the socket that a dead daemon left: %w", err)
	}
	return nil
}

// refused makes sure that nobody listens on a socket.
func refused(socket string) error {
	conn, err := net.Dial("unix", socket)
	switch {
	case errors.Is(err, unix.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, unix.EAGAIN): // its queue is full
	case err != nil:
		return messages.Errorf(messages.KindInternal, "cannot tell whether somebody listens: %w", err)
	default:
		_ = conn.Close()
	}
	return messages.Errorf(messages.KindBusy,
		"somebody listens on %s already, which was not touched; if it is hearth's, hearth status shows who, hearth stop ends it", socket)
}
