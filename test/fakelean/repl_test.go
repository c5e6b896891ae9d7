package main_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
)

// exe starts the REPL as a user does, in a project of its own.
func exe(t *testing.T, knobs ...string) (c *standins.Child, journalPath string) {
	t.Helper()
	bin, project := standins.Build(t), standins.Project(t, "lean")
	journalPath = standins.JournalPath(t)
	standins.EndSurvivors(t, journalPath)
	c = standins.Launch(t, project, bin.LeanEnv(journalPath, knobs...),
		filepath.Join(bin.LeanDir(), "lake"), "exe", "@repl/repl")
	require.NoError(t, c.Stdout.SetReadDeadline(time.Now().Add(standins.Bound)))
	return c, journalPath
}

// all sends requests, ends the input and returns all output.
func all(t *testing.T, c *standins.Child, requests string) string {
	t.Helper()
	_, err := io.WriteString(c.Stdin, requests)
	require.NoError(t, err)
	require.NoError(t, c.Stdin.Close())
	out, err := io.ReadAll(c.Stdout)
	require.NoError(t, err)
	return string(out)
}

func TestRecordedDialoguesAreSpokenByteForByte(t *testing.T) {
	for _, name := range []string{
		"app_type_mismatch_2", "assumption_proof", "dup_msg", "import_lean", "invalid_line_break", "line_breaks",
		"pickle_environment_with_imports", "proof_step", "readme", "sorry_hypotheses", "tactic_mode_sorry", "term_sorry",
		"unfinished_tactic_block", "unknown_proof_state",
	} {
		t.Run(name, func(t *testing.T) {
			requests, want := recorded(t, name)
			c, _ := exe(t)
			require.NoError(t, os.Mkdir(filepath.Join(c.Cmd.Dir, "test"), 0o755)) // some pickle into it
			require.Equal(t, want, all(t, c, requests))
			require.Zero(t, c.ExitCode(t))
		})
	}
}

// recorded returns a dialogue; app_type_mismatch_2 is one whose first exchange needs more of Lean than a table of rules.
func recorded(t *testing.T, name string) (requests, replies string) {
	t.Helper()
	file := filepath.Join("../testdata/lean-repl", strings.TrimSuffix(name, "_2"))
	in, err := os.ReadFile(file + ".in")
	require.NoError(t, err)
	out, err := os.ReadFile(file + ".expected.out")
	require.NoError(t, err)
	requests, replies = string(in), string(out)
	if strings.HasSuffix(name, "_2") {
		r, o := strings.Split(requests, "\n\n"), strings.Split(replies, "\n\n")
		return r[1] + "\n\n", strings.Replace(o[1], `"env": 1`, `"env": 0`, 1) + "\n\n"
	}
	return requests, replies
}

// message of a reply.
type said struct {
	Severity string
	Data     string
	Pos      struct{ Line, Column int }
}

func run(t *testing.T, c *standins.Child, requests ...map[string]any) (replies []struct {
	Env      *int
	Message  string
	Messages []said
}) {
	t.Helper()
	text := ""
	for _, r := range requests {
		one, err := json.Marshal(r)
		require.NoError(t, err)
		text += string(one) + "\n\n"
	}
	for _, one := range strings.SplitAfter(all(t, c, text), "\n\n") {
		if one == "" {
			continue
		}
		var reply struct {
			Env      *int
			Message  string
			Messages []said
		}
		require.NoError(t, json.Unmarshal([]byte(one), &reply))
		replies = append(replies, reply)
	}
	require.Len(t, replies, len(requests))
	return replies
}

func TestCommandsAreJudgedByTheTable(t *testing.T) {
	c, _ := exe(t)
	code := map[string]string{
		"#check Nat":                       "info 1:0 Nat : Type",
		"#eval 1+2*3":                      "info 1:0 7",
		"#eval \"a\"":                      "info 1:0 \"a\"",
		"#eval IO.println \"a\"":           "info 1:0 a\n",
		"#eval x":                          "error 1:6 Unknown identifier `x`",
		"#check x":                         "error 1:7 Unknown identifier `x`",
		"example : 1 = 1 := by rfl":        "",
		"def s : Nat := \"x\"":             "error 1:15 Type mismatch\n  \"x\"\nhas type\n  String\nbut is expected to have type\n  Nat",
		"hello":                            "error 1:0 unexpected identifier; expected command",
		"def a := 2 -- sorry\n\n#eval a*a": "info 3:0 4",
		"/- sorry -/ example : True := t":  "error 1:30 Unknown identifier `t`",
		"import Nowhere\n#eval 1":          "error 1:0 unknown module prefix 'Nowhere'",
		"import Mathlib\nopen Nat":         "",
		"-- fake: error 4:2 as told":       "error 4:2 as told",
	}
	var requests []map[string]any
	var wants []string
	for text, want := range code {
		requests, wants = append(requests, map[string]any{"cmd": text}), append(wants, want)
	}
	for i, reply := range run(t, c, requests...) {
		require.Equal(t, i, *reply.Env)
		got := ""
		if len(reply.Messages) > 0 {
			m := reply.Messages[0]
			where, err := json.Marshal([]int{m.Pos.Line, m.Pos.Column})
			require.NoError(t, err)
			got = m.Severity + " " + strings.Replace(strings.Trim(string(where), "[]"), ",", ":", 1) + " " + m.Data
		}
		if strings.HasPrefix(wants[i], "error 1:0 unknown module") {
			got, _, _ = strings.Cut(got, "\n")
		}
		require.Equal(t, wants[i], got, requests[i])
	}
}

func TestEnvsAreKeptAndOthersRefused(t *testing.T) {
	c, _ := exe(t)
	replies := run(t, c,
		map[string]any{"cmd": "def f := 2"}, map[string]any{"cmd": "#eval f", "env": 0},
		map[string]any{"cmd": "#eval f"}, map[string]any{"cmd": "import Lean", "env": 0},
		map[string]any{"cmd": "x", "env": 9}, map[string]any{"path": "none.lean"}, map[string]any{"path": "Main.lean"})
	require.Equal(t, "2", replies[1].Messages[0].Data)
	require.Equal(t, "Unknown identifier `f`", replies[2].Messages[0].Data)
	require.Contains(t, replies[3].Messages[0].Data, "invalid 'import' command")
	require.Equal(t, "Unknown environment.", replies[4].Message)
	require.Contains(t, replies[5].Message, "none.lean")
	require.Equal(t, "answer : Nat", replies[6].Messages[0].Data)
}

func TestWhatIsNoRequestEndsTheREPL(t *testing.T) {
	for request, want := range map[string]string{
		"\n":                 `uncaught exception: {"message":"Could not parse JSON:`,
		"hello\n\n":          `uncaught exception: {"message":"Could not parse JSON:`,
		"{\"gc\": true}\n\n": `uncaught exception: {"message":"Could not parse as a valid JSON command:`,
	} {
		c, _ := exe(t)
		require.Empty(t, all(t, c, request))
		require.Equal(t, 1, c.ExitCode(t))
		require.Contains(t, c.Stderr(t), want)
	}
}

func TestCodeMakesTheREPLMisbehave(t *testing.T) {
	t.Run("noise before the reply", func(t *testing.T) {
		c, _ := exe(t)
		require.Equal(t, "hello\n{\"env\": 0}\n\n", all(t, c, `{"cmd": "-- fake: garbage hello"}`+"\n\n"))
	})
	t.Run("half a reply and silence", func(t *testing.T) {
		c, journalPath := exe(t)
		_, err := io.WriteString(c.Stdin, `{"cmd": "-- fake: partial-frame"}`+"\n\n")
		require.NoError(t, err)
		got := make([]byte, len(`{"en`))
		_, err = io.ReadFull(c.Stdout, got)
		require.NoError(t, err)
		require.Equal(t, `{"en`, string(got))
		repl := standins.AwaitEvent(t, journalPath, standins.Is("repl", journal.Start, ""), standins.Bound)
		require.False(t, standins.Gone(repl.PID, repl.StartTicks))
	})
	t.Run("a crash passes through the wrapper as a code", func(t *testing.T) {
		c, _ := exe(t)
		require.Empty(t, all(t, c, `{"cmd": "-- fake: crash kill"}`+"\n\n"))
		require.Equal(t, 128+int(syscall.SIGKILL), c.ExitCode(t))
	})
	t.Run("a missing module as an exception", func(t *testing.T) {
		c, _ := exe(t, standins.At("repl", "imports-throw"))
		reply := run(t, c, map[string]any{"cmd": "import Nowhere"})[0]
		require.Nil(t, reply.Env)
		require.Contains(t, reply.Message, "unknown module prefix 'Nowhere'")
	})
}

func TestTheREPLIsAChildOfTheWrapperInItsGroup(t *testing.T) {
	c, journalPath := exe(t)
	repl := standins.AwaitEvent(t, journalPath, standins.Is("repl", journal.Start, ""), standins.Bound)
	group, session, parent := ids(t, repl.PID)
	require.Equal(t, []int{c.PID, c.PID, c.PID}, []int{group, session, parent})
	require.NoError(t, c.Cmd.Process.Kill())
	c.Wait(t)
	require.False(t, standins.Gone(repl.PID, repl.StartTicks))
	require.NoError(t, c.Stdin.Close())
	standins.AwaitGone(t, repl.PID, repl.StartTicks)
}
