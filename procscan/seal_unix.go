//go:build unix

package procscan

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// SealDescriptors keeps descriptors that this program inherited from its own
// parent from going on to the children that it starts. What Go opens is closed
// in children anyway. It is for programs that are nothing but hearth: in a host,
// descriptors may be open for a child of its own.
func SealDescriptors() error {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
