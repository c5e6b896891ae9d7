package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/messages"
)

// TakeFingerprint looks at the files whose change makes a project's running children
// stale: name, modification time and size of each in the profile's order, missing
// ones left out. The directory's device and inode come first, so that a project that
// was deleted and made again counts as another, even with the same files; a running
// child's working directory keeps the old inode from being given away.
//
// The time is that before the first look: an older look then can never pass for a
// newer one, however slow it was.
func TakeFingerprint(root string, l Language) (messages.Fingerprint, error) {
	taken := time.Now()
	var dir unix.Stat_t
	if err := stat(root, &dir); err != nil {
		return messages.Fingerprint{}, err
	}
	var value strings.Builder
	fmt.Fprintf(&value, "%d:%d", dir.Dev, dir.Ino)
	for _, name := range l.Fingerprint {
		var file unix.Stat_t
		err := stat(filepath.Join(root, name), &file)
		if absent(err) {
			continue
		}
		if err != nil {
			return messages.Fingerprint{}, err
		}
		fmt.Fprintf(&value, " %s@%d:%d", name, file.Mtim.Nano(), file.Size)
	}
	return messages.Fingerprint{Value: value.String(), Taken: taken}, nil
}

// stat is unix.Stat with the path in its error, and over interrupts.
func stat(path string, into *unix.Stat_t) error {
	for {
		err := unix.Stat(path, into)
		switch err {
		case nil:
			return nil
		case unix.EINTR:
			continue
		}
		return fmt.Errorf("stat %s: %w", path, err)
	}
}
