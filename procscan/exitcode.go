//go:build unix

package procscan

import (
	"os"
	"syscall"
)

// Continue is the signal that sets a stopped process going again.
var Continue os.Signal = syscall.SIGCONT

// signalCode is what shells add to the number of the signal that ended a command.
const signalCode = 128

// ExitCode is the status as shells give it to scripts: the code, or 128 and the
// number of the signal. It is -1 where nothing is known.
func (s Status) ExitCode() int {
	if number, ok := s.Signal.(syscall.Signal); ok {
		return signalCode + int(number)
	}
	return s.Code
}
