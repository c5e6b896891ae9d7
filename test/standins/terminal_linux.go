package standins

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Terminal is a pseudo-terminal of 24 rows and 80 columns; what is shown on it is kept.
type Terminal struct {
	Theirs *os.File // the programs' side
	ours   *os.File

	mu    sync.Mutex
	shown strings.Builder
}

// OpenTerminal makes one for the test, which is skipped where none can be made.
func OpenTerminal(t testing.TB) *Terminal {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	must(t, err)
	must(t, unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0))
	theirs, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	must(t, err)
	must(t, unix.IoctlSetWinsize(int(theirs.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	tty := &Terminal{Theirs: theirs, ours: ours}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(tty, ours) // ends with EIO when the other side is closed
	}()
	t.Cleanup(func() {
		_ = theirs.Close()
		<-done
		_ = ours.Close()
	})
	return tty
}

// Write keeps what was shown.
func (tty *Terminal) Write(p []byte) (int, error) {
	tty.mu.Lock()
	defer tty.mu.Unlock()
	return tty.shown.Write(p)
}

// Text is all that was shown so far.
func (tty *Terminal) Text() string {
	tty.mu.Lock()
	defer tty.mu.Unlock()
	return tty.shown.String()
}

// Type types keys.
func (tty *Terminal) Type(t testing.TB, keys string) {
	t.Helper()
	_, err := tty.ours.WriteString(keys)
	must(t, err)
}

// Lead makes a command the leader of a session on the terminal, as a shell would.
func (tty *Terminal) Lead(c *exec.Cmd) {
	c.Stdin, c.Stdout, c.Stderr = tty.Theirs, tty.Theirs, tty.Theirs
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
}
