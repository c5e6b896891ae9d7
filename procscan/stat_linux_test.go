package procscan

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// statLine makes a line with the name given and its other fields numbered.
func statLine(name string, fields map[int]string) string {
	line := "77 (" + name + ")"
	for field := statState; field <= 52; field++ {
		value, given := fields[field]
		if !given {
			value = fmt.Sprint(field)
		}
		line += " " + value
	}
	return line + "\n"
}

func TestStatLineIsReadFromTheLastParenthesis(t *testing.T) {
	for _, name := range []string{"cat", "a) S 1 (b", "((", "))", "two words", "new\nline", ""} {
		st, err := parseStat([]byte(statLine(name, map[int]string{statState: "R"})))
		require.NoError(t, err)
		require.Equal(t, Info{Identity: Identity{PID: 77, StartTicks: statStart}, PPID: statPPID, PGID: statPGID, SID: statSID, State: 'R', Comm: name}, st.Info)
		require.Equal(t, int64(statRSS*os.Getpagesize()), st.rss)
		require.Equal(t, statThreads, st.threads)
	}
}

func TestStatLineTellsWhatTheRulesNeed(t *testing.T) {
	parse := func(fields map[int]string) procStat {
		fields[statState] = "Z"
		st, err := parseStat([]byte(statLine("x", fields)))
		require.NoError(t, err)
		return st
	}
	require.True(t, parse(map[int]string{statThreads: "1"}).dead())
	require.False(t, parse(map[int]string{statThreads: "2"}).dead(), "the first thread ended before the others")
	require.True(t, parse(map[int]string{statFlags: "2129984"}).kernel)
	require.True(t, parse(map[int]string{statEnvStart: "4096", statEnvEnd: "4096"}).noEnv)
	require.False(t, parse(map[int]string{statEnvStart: "0", statEnvEnd: "0"}).noEnv, "0 stands for an image that isn't set up, and for no permission")
	require.Zero(t, parse(map[int]string{statPGID: "-1"}).PGID)
}

func TestStatLineThatIsCutIsAnError(t *testing.T) {
	whole := statLine("x", map[int]string{statState: "R"})
	for _, line := range []string{"", "77", "77 (x", "77 (x)", "x (y) R", ") (", strings.TrimSuffix(whole, " 51 52\n"), strings.Replace(whole, " 22 ", " a ", 1)} {
		_, err := parseStat([]byte(line))
		require.Error(t, err, "%q", line)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add(statLine("cat", nil))
	f.Add("1 (a) b) R")
	f.Fuzz(func(t *testing.T, line string) {
		st, err := parseStat([]byte(line))
		if err == nil && !strings.Contains(line, "("+st.Comm+")") {
			t.Errorf("name %q is not in %q", st.Comm, line)
		}
	})
}
