package procscan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestGoneIsENOENTAndESRCHWhereverTheyComeFrom(t *testing.T) {
	for _, err := range []error{ErrGone, fs.ErrNotExist, syscall.ENOENT, syscall.ESRCH, &os.PathError{Op: "read", Path: "/proc/1/stat", Err: syscall.ESRCH},
		os.NewSyscallError("pidfd_open", syscall.ESRCH), fmt.Errorf("wrapped: %w", syscall.ESRCH)} {
		require.True(t, IsGone(err), "%v", err)
	}
	for _, err := range []error{nil, errors.New("x"), syscall.EIO, syscall.EACCES, syscall.EPERM, fs.ErrPermission} {
		require.False(t, IsGone(err), "%v", err)
	}
}

func TestMarksAreRandomAndValid(t *testing.T) {
	one, two := NewMark(SessionVar), NewMark(SessionVar)
	require.NoError(t, one.Validate())
	require.NotEqual(t, one, two)
	require.Regexp(t, "^_HEARTH_SESSION_TOKEN=[0-9a-f]{32}$", one.Env())
}

func TestStatusSaysWhatTheShellWouldSay(t *testing.T) {
	require.Equal(t, "exit status 3", Status{Code: 3}.String())
	require.Equal(t, "signal: killed", Status{Code: -1, Signal: syscall.SIGKILL}.String())
	require.Equal(t, "exit status unknown", Status{Code: -1}.String())
	require.True(t, Status{}.Success())
	require.False(t, Status{Code: 1}.Success())
	require.False(t, Status{Code: -1, Signal: syscall.SIGTERM}.Success())
}

func TestChildEnv(t *testing.T) {
	session, runtime := Mark{SessionVar, "s"}, Mark{RuntimeVar, "r"}
	base := []string{"HOME=/", SessionVar + "=outer", "PATH=/bin", "PYTHONPATH=/x", "TWICE=1", "TWICE=2", "broken", "=x", "EMPTY=", RuntimeVar + "=outer"}
	before := fmt.Sprint(base)
	got := ChildEnv(base, []string{"PYTHONPATH", "KEPT"}, []string{"PATH=/usr/bin", "KEPT=1", SessionVar + "=forged", "A=1", "A=2"}, []Mark{session, runtime})
	require.Equal(t, []string{session.Env(), runtime.Env(), "HOME=/", "TWICE=2", "EMPTY=", "PATH=/usr/bin", "KEPT=1", "A=2"}, got)
	require.Equal(t, before, fmt.Sprint(base), "the arguments stay as they are")
	require.Empty(t, ChildEnv(nil, nil, nil, nil))
	require.Equal(t, []string{SessionVar + "=outer"}, ChildEnv([]string{SessionVar + "=outer"}, nil, nil, nil), "without marks an inherited one stays")
}

func TestRingKeepsTheEnd(t *testing.T) {
	var r Ring
	require.Empty(t, r.Tail(3))
	for i := range 20000 {
		fmt.Fprintf(&r, "line %d\n", i)
	}
	require.Equal(t, "line 19997\nline 19998\nline 19999", r.Tail(3))
	require.Greater(t, r.Total(), int64(ringSize))
	require.LessOrEqual(t, len(r.text()), ringSize)

	_, _ = r.Write([]byte(strings.Repeat("x", 300<<10) + "E-17"))
	require.Equal(t, "..."+strings.Repeat("x", tailLineMax-4)+"E-17", r.Tail(5), "one line that is longer than the ring")
}

func TestRingTailIsReadable(t *testing.T) {
	var r Ring
	_, _ = r.Write([]byte("one\r\n\n  \ntw\xffo\nthree"))
	require.Equal(t, "one\ntw\uFFFDo\nthree", r.Tail(9))
	require.Equal(t, "three", r.Tail(1))
	require.Empty(t, r.Tail(0))

	_, _ = r.Write([]byte("\n" + strings.Repeat("é", 400)))
	require.True(t, utf8.ValidString(r.Tail(1)), "a line is cut between characters")
	require.LessOrEqual(t, len(r.Tail(1)), tailLineMax+len("..."))
}

func FuzzRing(f *testing.F) {
	f.Add([]byte("a\nb"), uint16(3))
	f.Fuzz(func(t *testing.T, data []byte, repeat uint16) {
		var r Ring
		var all []byte
		for range int(repeat)%200 + 1 {
			_, _ = r.Write(data)
			all = append(all, data...)
		}
		want := strings.ToValidUTF8(string(all[max(0, len(all)-ringSize):]), "\uFFFD")
		require.Equal(t, want, r.text())
		require.True(t, utf8.ValidString(r.Tail(3)))
	})
}
