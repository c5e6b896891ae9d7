package procscan

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMemberIsSeenWhateverItsName: a name with parentheses and blanks once moved
// the fields of stat.
func TestMemberIsSeenWhateverItsName(t *testing.T) {
	dir := t.TempDir()
	real, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	const name = "a) S 1 (b"
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nsleep 60\n"), 0o755))
	began := time.Now()
	child := shell(t, `exec "./`+name+`" -c slow.c`, func(s *Spec) { s.Dir = dir })
	args := []string{"/bin/sh", "./" + name, "-c", "slow.c"}
	var seen Member
	var look Look
	require.Eventually(t, func() bool {
		var err error
		look, err = Members(t.Context(), child.mark)
		require.NoError(t, err)
		for _, m := range look.Members {
			// In the middle of an exec one may be the old program's and one the new one's.
			if m.Comm == name && slices.Equal(m.Args, args) {
				seen = m
				return true
			}
		}
		return false
	}, time.Minute, time.Millisecond)
	require.Equal(t, child.Identity(), seen.Identity)
	require.Equal(t, os.Getpid(), seen.PPID)
	require.Equal(t, real, seen.Dir)
	require.Positive(t, seen.Peak)
	require.LessOrEqual(t, look.Age(seen.Identity), time.Since(began)+2*time.Second/clockTick)
	child.end(t)
	look, err = Members(t.Context(), child.mark)
	require.NoError(t, err)
	require.Empty(t, look.Members)
}

// TestMemberIsSeenBelowAPathThatIsTooLong: gnulib's test of getcwd goes there, in the
// configure script of many a package.
func TestMemberIsSeenBelowAPathThatIsTooLong(t *testing.T) {
	child := shell(t, `
		i=0
		while [ $i -lt 25 ]; do mkdir "$0" && cd -P "$0" || exit 9; i=$((i+1)); done
		echo deep
		exec sleep 60`, func(s *Spec) {
		s.Dir = t.TempDir()
		s.Argv = append(s.Argv, strings.Repeat("d", 200))
	})
	line, err := bufio.NewReader(child.Stdout()).ReadString('\n')
	require.NoError(t, err, child.Stderr())
	require.Equal(t, "deep\n", line)
	eventually(t, "a look at it", func() bool { // there is none in the middle of the exec
		look, err := Members(t.Context(), child.mark)
		require.NoError(t, err)
		return len(look.Members) == 1 && look.Members[0].Dir == "" && look.Members[0].Args[0] == "sleep"
	})
	child.end(t)
}

func TestPeakIsReadFromStatus(t *testing.T) {
	for raw, want := range map[string]int64{
		"Name:\tx\nVmPeak:\t  100 kB\nVmHWM:\t    12 kB\nVmRSS:\t 5 kB\n": 12 << 10,
		"Name:\tVmHWM: 9 kB\nState:\tZ (zombie)\n":                        0,
	} {
		got, err := parsePeak("status", []byte(raw))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, raw := range []string{"Name:\tx\nVmHWM:\t12 MB\n", "Name:\tx\nVmHWM:\tmany kB\n"} {
		_, err := parsePeak("status", []byte(raw))
		require.ErrorContains(t, err, "VmHWM")
	}
}
