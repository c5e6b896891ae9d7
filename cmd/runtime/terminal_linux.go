package main

import "golang.org/x/sys/unix"

// getAttributes asks a terminal for its settings.
const getAttributes = unix.TCGETS
