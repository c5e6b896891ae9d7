package standins

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// Kill sends sig to the process that wrote e, if it is still that one. The signal goes through a pidfd, so that it can't
// hit a newcomer with the same number.
func Kill(t testing.TB, e Event, sig unix.Signal) {
	t.Helper()
	if err := send(e, sig); err != nil {
		t.Fatalf("signal %v to %s %d: %v", sig, e.Role, e.PID, err)
	}
}

func kill(e Event) { _ = send(e, unix.SIGKILL) }

func send(e Event, sig unix.Signal) error {
	fd, err := unix.PidfdOpen(e.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	if Gone(e.PID, e.StartTicks) {
		return nil
	}
	if err := unix.PidfdSendSignal(fd, sig, nil, 0); !errors.Is(err, unix.ESRCH) {
		return err
	}
	return nil
}
