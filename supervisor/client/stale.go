package client

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/messages"
)

// RemoveStale removes a socket that a dead daemon left. The caller holds the lifetime
// lock, so that no living daemon can be about to listen on it, and has seen that
// connections to it are refused. What is no socket, or somebody else's, is never removed.
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
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return messages.Errorf(messages.KindInternal, "cannot remove the socket that a dead daemon left: %w", err)
	}
	return nil
}
