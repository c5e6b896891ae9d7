package watch_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/test/standins"
)

func TestBuildHasTheTerminalAndCtrlC(t *testing.T) {
	dir, tty := t.TempDir(), standins.OpenTerminal(t)
	w := watching(t, dir, "--grace", "30s", "--", "sh", "-c", `read line; test "$line" = typed && `+tidy)
	tty.Lead(w.Cmd)
	require.NoError(t, w.Start())
	tty.Type(t, "typed\n")
	await(t, dir, "begun")
	tty.Type(t, "\x03")
	assert.Equal(t, 9, w.wait(t), tty.Text())
	assert.NotContains(t, allOf(t, tty), "hearth:", "the build was interrupted, and we weren't")
}

// allOf is what a terminal has shown, to the last of it: that is on its way when a program has
// ended.
func allOf(t *testing.T, tty *standins.Terminal) string {
	t.Helper()
	const last = "that is all"
	_, err := tty.Theirs.WriteString(last)
	require.NoError(t, err)
	require.True(t, standins.Until(bound, func() bool { return strings.HasSuffix(tty.Text(), last) }))
	return strings.TrimSuffix(tty.Text(), last)
}

// Nothing would be there by which a shell could continue a build that Ctrl-Z has stopped.
func TestCtrlZDoesNotLeaveABuildStopped(t *testing.T) {
	dir, tty := t.TempDir(), standins.OpenTerminal(t)
	w := watching(t, dir, "--", "sh", "-c", tidy)
	tty.Lead(w.Cmd)
	require.NoError(t, w.Start())
	await(t, dir, "begun")
	tty.Type(t, "\x1a")
	require.True(t, standins.Until(bound, func() bool { return strings.Contains(tty.Text(), "^Z") }))
	tty.Type(t, "\x03")
	assert.Equal(t, 9, w.wait(t), tty.Text())
}

// A shell that Ctrl-Z meets in the middle of starting a program doesn't look stopped.
func TestCtrlZLeavesNoBuildStoppedThatStartsPrograms(t *testing.T) {
	dir, tty := t.TempDir(), standins.OpenTerminal(t)
	w := watching(t, dir, "--interval", "20ms", "--", "sh", "-c", `trap 'exit 9' INT; while :; do /bin/true; echo >>rounds; done`)
	tty.Lead(w.Cmd)
	require.NoError(t, w.Start())
	rounds := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "rounds"))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	for n := range 20 {
		before := rounds()
		require.True(t, standins.Until(bound, func() bool { return rounds() > before+50 }), "after Ctrl-Z number %d", n)
		tty.Type(t, "\x1a")
	}
	tty.Type(t, "\x03")
	assert.Equal(t, 9, w.wait(t), tty.Text())
}

func TestSlowFilesAreShownWhileTheyCompile(t *testing.T) {
	dir, tty := t.TempDir(), standins.OpenTerminal(t)
	write(t, 0o755, "#!/bin/sh\nwhile ! test -e enough; do sleep 0.1; done\n", dir, "cc")
	painted := regexp.MustCompile("\r\x1b\\[Kcompiling slow.c [0-9]+s\r")
	w := watching(t, dir, "--", "./cc", "-c", "slow.c")
	tty.Lead(w.Cmd)
	require.NoError(t, w.Start())
	assert.True(t, standins.Until(bound, func() bool {
		return painted.MatchString(tty.Text())
	}), "%q", tty.Text())
	write(t, 0o644, "", dir, "enough")
	assert.Zero(t, w.wait(t))
	_, end, _ := strings.Cut(allOf(t, tty), "compiling slow.c")
	assert.Contains(t, end, "\r\x1b[K\r", "the line is cleared before the table")
	assert.Contains(t, end, "SECONDS  MEMORY")
}

// A terminal that stops whoever writes from the background would stop the watcher, and
// the slow file would go on for ever.
func TestGateFiresAtATerminalThatStopsWriters(t *testing.T) {
	dir, tty := t.TempDir(), standins.OpenTerminal(t)
	write(t, 0o755, "#!/bin/sh\nsleep 600\n", dir, "cc")
	attributes, err := unix.IoctlGetTermios(int(tty.Theirs.Fd()), unix.TCGETS)
	require.NoError(t, err)
	attributes.Lflag |= unix.TOSTOP
	require.NoError(t, unix.IoctlSetTermios(int(tty.Theirs.Fd()), unix.TCSETS, attributes))
	w := watching(t, dir, append(quickly, "--", "./cc", "-c", "slow.c")...)
	tty.Lead(w.Cmd)
	// Below a shell with jobs, as a person has: nobody is stopped whom nobody could continue.
	w.Path, w.Args = "/bin/sh", append([]string{"sh", "-m", "-c", `"$@"; exit $?`, "sh", program}, w.Args[1:]...)
	assert.Equal(t, 124, w.run(t))
	assert.Equal(t, "slow.c", w.read(t).Breaches[0].File)
	assert.True(t, standins.Until(time.Minute, func() bool { return strings.Contains(tty.Text(), "slow.c ran for ") }), tty.Text())
}
