package config

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/messages"
)

// PrivateDir makes sure that a directory exists which only this user can enter, with
// its parents. One that is there already is never changed: what belongs to somebody
// else, or is open to others, may be a trap and is refused.
func PrivateDir(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil && !os.IsExist(err) {
		return fmt.Errorf("make the runtime directory: %w", err)
	}
	// Lstat: a symlink could be turned elsewhere after the check.
	var info unix.Stat_t
	if err := unix.Lstat(path, &info); err != nil {
		return fmt.Errorf("look at the runtime directory %s: %w", path, err)
	}
	return checkPrivate(path, uint32(info.Mode), info.Uid, os.Geteuid())
}

// checkPrivate judges a directory by its mode, as lstat gives it, and its owner.
func checkPrivate(path string, mode, owner uint32, user int) error {
	switch {
	case mode&unix.S_IFMT != unix.S_IFDIR:
		return messages.Invalidf("the runtime directory is not a directory of its own: %s (a symlink is refused too; remove it or set runtime_dir)", path)
	case owner != uint32(user):
		return messages.Invalidf("the runtime directory belongs to user %d, not to %d: %s (set runtime_dir to a directory of your own)", owner, user, path)
	case mode&0o077 != 0:
		return messages.Invalidf("the runtime directory is open to others (mode %04o): %s (run chmod 700 on it)", mode&0o7777, path)
	}
	return nil
}
