package standins

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Kill sends sig to the process that wrote e, if it is still that one: a newcomer with the same number is never hit.
func Kill(t testing.TB, e Event, sig unix.Signal) {
	t.Helper()
	if err := send(e, sig); err != nil {
		t.Fatalf("signal %v to %s %d: %v", sig, e.Role, e.PID, err)
	}
}

func kill(e Event) { _ = send(e, unix.SIGKILL) }

func send(e Event, sig unix.Signal) error {
	// On Linux FindProcess opens a pidfd: once the start time is seen to fit, no other process can take its place.
	p, err := os.FindProcess(e.PID)
	if err != nil {
		return err
	}
	defer func() { _ = p.Release() }()
	if Gone(e.PID, e.StartTicks) {
		return nil
	}
	if err := p.Signal(sig); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
