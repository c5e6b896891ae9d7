package watch_test

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/test/standins"
)

// terminal is a pseudo-terminal; what is shown on it is kept.
type terminal struct {
	ours, theirs *os.File

	mu    sync.Mutex
	shown strings.Builder
}

func openTerminal(t *testing.T) *terminal {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0))
	theirs, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(theirs.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	tty := &terminal{ours: ours, theirs: theirs}
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
func (tty *terminal) Write(p []byte) (int, error) {
	tty.mu.Lock()
	defer tty.mu.Unlock()
	return tty.shown.Write(p)
}

func (tty *terminal) text() string {
	tty.mu.Lock()
	defer tty.mu.Unlock()
	return tty.shown.String()
}

func (tty *terminal) typed(t *testing.T, keys string) {
	t.Helper()
	_, err := tty.ours.WriteString(keys)
	require.NoError(t, err)
}

// at makes a run the leader of a session on the terminal, as a shell would.
func (w *watch) at(tty *terminal) {
	w.Stdin, w.Stdout, w.Stderr = tty.theirs, tty.theirs, tty.theirs
	w.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
}

func TestBuildHasTheTerminalAndCtrlC(t *testing.T) {
	dir, tty := t.TempDir(), openTerminal(t)
	w := watching(t, dir, "--grace", "30s", "--", "sh", "-c", `read line; test "$line" = typed && `+tidy)
	w.at(tty)
	require.NoError(t, w.Start())
	tty.typed(t, "typed\n")
	await(t, dir, "begun")
	tty.typed(t, "\x03")
	assert.Equal(t, 9, w.wait(t), tty.text())
	assert.NotContains(t, tty.text(), "hearth:", "the build was interrupted, and we weren't")
}

// Nothing would be there by which a shell could continue a build that Ctrl-Z has stopped.
func TestCtrlZDoesNotLeaveABuildStopped(t *testing.T) {
	dir, tty := t.TempDir(), openTerminal(t)
	w := watching(t, dir, "--", "sh", "-c", tidy)
	w.at(tty)
	require.NoError(t, w.Start())
	await(t, dir, "begun")
	tty.typed(t, "\x1a")
	require.True(t, standins.Until(bound, func() bool { return strings.Contains(tty.text(), "^Z") }))
	tty.typed(t, "\x03")
	assert.Equal(t, 9, w.wait(t), tty.text())
}

func TestSlowFilesAreShownWhileTheyCompile(t *testing.T) {
	dir, tty := t.TempDir(), openTerminal(t)
	write(t, 0o755, "#!/bin/sh\nwhile ! test -e enough; do sleep 0.1; done\n", dir, "cc")
	painted := regexp.MustCompile("\r\x1b\\[Kcompiling slow.c [0-9]+s\r")
	w := watching(t, dir, "--", "./cc", "-c", "slow.c")
	w.at(tty)
	require.NoError(t, w.Start())
	assert.True(t, standins.Until(bound, func() bool {
		return painted.MatchString(tty.text())
	}), "%q", tty.text())
	write(t, 0o644, "", dir, "enough")
	assert.Zero(t, w.wait(t))
	_, end, _ := strings.Cut(tty.text(), "compiling slow.c")
	assert.Contains(t, end, "\r\x1b[K\r", "the line is cleared before the table")
	assert.Contains(t, end, "SECONDS  MEMORY")
}

// A terminal that stops whoever writes from the background would stop the watcher, and
// the slow file would go on for ever.
func TestGateFiresAtATerminalThatStopsWriters(t *testing.T) {
	dir, tty := t.TempDir(), openTerminal(t)
	write(t, 0o755, "#!/bin/sh\nsleep 600\n", dir, "cc")
	attributes, err := unix.IoctlGetTermios(int(tty.theirs.Fd()), unix.TCGETS)
	require.NoError(t, err)
	attributes.Lflag |= unix.TOSTOP
	require.NoError(t, unix.IoctlSetTermios(int(tty.theirs.Fd()), unix.TCSETS, attributes))
	w := watching(t, dir, append(quickly, "--", "./cc", "-c", "slow.c")...)
	w.at(tty)
	// Below a shell with jobs, as a person has: nobody is stopped whom nobody could continue.
	w.Path, w.Args = "/bin/sh", append([]string{"sh", "-m", "-c", `"$@"; exit $?`, "sh", program}, w.Args[1:]...)
	assert.Equal(t, 124, w.run(t))
	assert.Equal(t, "slow.c", w.read(t).Breaches[0].File)
	assert.True(t, standins.Until(time.Minute, func() bool { return strings.Contains(tty.text(), "slow.c ran for ") }), tty.text())
}
