package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// inherited lists the descriptors beside the standard ones that this program was
// started with. What Go itself opens is closed in children and so is told apart by the
// flag for that; it has to be asked for before that flag is set on the others.
func inherited() []int {
	entries, _ := os.ReadDir("/dev/fd") // where it can't be read nothing is known, and nothing closed
	var list []int
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			list = append(list, fd)
		}
	}
	return list
}
