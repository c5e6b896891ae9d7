package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// stopsWriters tells whether a terminal stops whoever writes to it from the background
// (stty tostop), as we do while a build has its foreground.
func stopsWriters(terminal *os.File) bool {
	attributes, err := unix.IoctlGetTermios(int(terminal.Fd()), getAttributes)
	return err == nil && attributes.Lflag&unix.TOSTOP != 0
}
