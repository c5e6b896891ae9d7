package main_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/leanjson"
	"github.com/seed-f6977891/hearth/test/standins/play"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dialogue is a bare client of a REPL.
type dialogue struct {
	*standins.Child
	out *bufio.Reader
}

func talk(t *testing.T, s script.REPL) (*dialogue, standins.Scripted) {
	t.Helper()
	scripted := standins.WriteREPL(t, s)
	return again(t, scripted), scripted
}

func again(t *testing.T, scripted standins.Scripted) *dialogue {
	t.Helper()
	c := standins.Launch(t, t.TempDir(), nil, scripted.Command(standins.Build(t).REPL)...)
	return &dialogue{c, bufio.NewReader(c.Stdout)}
}

// raw sends bytes and returns the reply with its frame, "" if the output ended first.
func (d *dialogue) raw(t *testing.T, request string) string {
	t.Helper()
	_, err := io.WriteString(d.Stdin, request)
	require.NoError(t, err)
	require.NoError(t, d.Stdout.SetReadDeadline(time.Now().Add(standins.Bound)))
	reply := ""
	for !strings.HasSuffix(reply, "\n\n") {
		require.NoError(t, d.Stdout.SetReadDeadline(time.Now().Add(standins.Bound)))
		line, err := d.out.ReadString('\n')
		reply += line
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			return reply
		}
	}
	return reply
}

type reply struct {
	Env      *int
	Message  string
	Messages []struct{ Severity, Data string }
}

func (d *dialogue) run(t *testing.T, request map[string]any) reply {
	t.Helper()
	text, err := json.Marshal(request)
	require.NoError(t, err)
	var r reply
	require.NoError(t, json.Unmarshal([]byte(d.raw(t, string(text)+"\n\n")), &r))
	return r
}

func TestEnvsCountFromZeroAndOthersAreRefused(t *testing.T) {
	d, scripted := talk(t, script.REPL{})
	require.Equal(t, "{\"env\": 0}\n\n", d.raw(t, "{\"cmd\":\n \"import Mathlib\"}\n\n"))
	r := d.run(t, map[string]any{"cmd": "#check Nat -- marker M1", "env": 0})
	require.Equal(t, 1, *r.Env)
	require.Regexp(t, `^generation 1 env 1 pid \d+ sha256 [0-9a-f]{64} marker M1$`, r.Messages[0].Data)
	require.Equal(t, "Unknown environment.", d.run(t, map[string]any{"cmd": "x", "env": 2}).Message)

	d = again(t, scripted)
	require.Equal(t, 0, *d.run(t, map[string]any{"cmd": "x"}).Env)
	require.Contains(t, d.run(t, map[string]any{"cmd": "x"}).Messages[0].Data, "generation 2 env 1 ")
	require.NoError(t, d.Stdin.Close())
	require.Zero(t, d.ExitCode(t))
}

func TestWhatIsNoJSONEndsTheProcess(t *testing.T) {
	d, _ := talk(t, script.REPL{})
	require.Empty(t, d.raw(t, "\n"))
	require.Equal(t, 1, d.ExitCode(t))
	require.Contains(t, d.Stderr(t), `uncaught exception: {"message":"Could not parse JSON:`)
}

func TestSkippedQueriesGetNoReply(t *testing.T) {
	d, _ := talk(t, script.REPL{})
	require.Equal(t, "{\"env\": 0}\n\n", d.raw(t, "#eval 1\n\n-- x\n\n{\"cmd\": \"import A\"}\n\n"))
}

func TestEscapesOfSurrogatesAreRefusedAndRawTextIsHashed(t *testing.T) {
	d, scripted := talk(t, script.REPL{})
	code := "𝓤 ℝ ∀ 😀 \t\u2028<>&\u007f"
	require.Contains(t, d.raw(t, `{"cmd": "\ud835\udce4"}`+"\n\n"), "surrogate escape")
	first := d.run(t, map[string]any{"cmd": code}).Messages[0].Data
	second := d.run(t, map[string]any{"cmd": code}).Messages[0].Data
	require.Equal(t, first[strings.Index(first, "sha256"):], second[strings.Index(second, "sha256"):])
	seen := scripted.Select(t, standins.Is("repl", journal.Received, ""))
	require.Len(t, seen, 3)
	var query string
	require.NoError(t, json.Unmarshal(seen[1].Data, &query))
	require.Contains(t, query, "𝓤 ℝ ∀ 😀")
}

func TestEchoGivesTheSameTextRawAndEscaped(t *testing.T) {
	d, _ := talk(t, script.REPL{Rules: []script.Rule{
		script.Match("^raw", script.Echo(false)), script.Match("^esc", script.Echo(true)),
	}})
	require.Equal(t, "raw 𝕏∀", d.run(t, map[string]any{"cmd": "raw 𝕏∀"}).Messages[0].Data)
	bytes := d.raw(t, `{"cmd": "esc 𝕏∀"}`+"\n\n")
	require.Contains(t, bytes, `esc \ud835\udd4f\u2200`)
}

func TestRulesMatchCodeAndCountCommands(t *testing.T) {
	third := script.Match("slow", script.StderrText("E-17"), script.Exit(3))
	third.Nth = 3
	d, _ := talk(t, script.REPL{Rules: []script.Rule{
		third, script.Match("noise", script.Raw("warning: x\n"), script.Default()),
		script.Match("fill", script.ReplyFill(6<<20)),
		script.Match("own", script.Reply(map[string]any{"env": "${env}", "messages": []any{}})),
	}})
	for range 2 {
		require.NotNil(t, d.run(t, map[string]any{"cmd": "slow"}).Env)
	}
	require.True(t, strings.HasPrefix(d.raw(t, `{"cmd": "noise"}`+"\n\n"), "warning: x\n{"))
	require.Equal(t, script.Fill(6<<20), d.run(t, map[string]any{"cmd": "fill"}).Messages[0].Data)
	require.Equal(t, "{\"messages\": [], \"env\": 4}\n\n", d.raw(t, `{"cmd": "own"}`+"\n\n"))
	require.Empty(t, d.raw(t, `{"cmd": "slow"}`+"\n\n"))
	require.Equal(t, 3, d.ExitCode(t))
	require.Equal(t, "E-17\n", d.Stderr(t))
}

func TestEachCommandTakesMemoryAndCommentsAreDone(t *testing.T) {
	d, scripted := talk(t, script.REPL{Grow: "16MiB"})
	d.run(t, map[string]any{"cmd": "a"})
	before := resident(t, d.PID)
	for range 4 {
		d.run(t, map[string]any{"cmd": "a"})
	}
	require.Greater(t, resident(t, d.PID)-before, 60<<20)
	d.run(t, map[string]any{"cmd": "-- fake: spawn setsid ignore-term"})
	child := scripted.Await(t, standins.Is(play.Sleeper, journal.Start, ""))
	require.Empty(t, d.raw(t, `{"cmd": "-- fake: crash kill"}`+"\n\n"))
	require.Equal(t, unix.SIGKILL, d.KilledBy(t))
	require.False(t, standins.Gone(child.PID, child.StartTicks))
}

func resident(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", itoa(pid), "statm"))
	require.NoError(t, err)
	fields := strings.Fields(string(text))
	pages := 0
	require.NoError(t, json.Unmarshal([]byte(fields[1]), &pages))
	return pages * os.Getpagesize()
}

func itoa(n int) string { text, _ := json.Marshal(n); return string(text) }

func TestEveryRecordedDialogueIsReplayedByteForByte(t *testing.T) {
	inputs, err := filepath.Glob("../testdata/lean-repl/*.in")
	require.NoError(t, err)
	require.Len(t, inputs, 36)
	for i, input := range inputs {
		name := strings.TrimSuffix(input, ".in")
		t.Run(filepath.Base(name), func(t *testing.T) {
			absolute, err := filepath.Abs(name)
			require.NoError(t, err)
			d, _ := talk(t, script.REPL{Replay: absolute, Shuffle: uint64(i + 1)})
			requests, err := os.ReadFile(input)
			require.NoError(t, err)
			_, err = d.Stdin.Write(requests)
			require.NoError(t, err)
			require.NoError(t, d.Stdin.Close()) // the last request of some files ends by the end of the input alone
			want, err := os.ReadFile(name + ".expected.out")
			require.NoError(t, err)
			require.NoError(t, d.Stdout.SetReadDeadline(time.Now().Add(standins.Bound)))
			got, err := io.ReadAll(d.out)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
		})
	}
}

func TestReplayKnowsACommandByItsCodeAlone(t *testing.T) {
	name, err := filepath.Abs("../testdata/lean-repl/dup_msg")
	require.NoError(t, err)
	d, _ := talk(t, script.REPL{Replay: name})
	r := d.run(t, map[string]any{"cmd": "#check f", "env": 7})
	require.Equal(t, "f : Nat", r.Messages[0].Data)
	require.Contains(t, d.run(t, map[string]any{"cmd": "other"}).Messages[0].Data, "generation 1 env 0")
}

func TestTheProtocolOfLinesAnswersInOneLine(t *testing.T) {
	d, _ := talk(t, script.REPL{Protocol: "jsonl", Rules: []script.Rule{
		script.Match("fail", script.Reply(map[string]any{"ok": false, "error": "no ${code}"})),
	}})
	_, err := io.WriteString(d.Stdin, `{"code": "1+1 # marker M7"}`+"\n"+`{"code": "fail"}`+"\n")
	require.NoError(t, err)
	line, err := d.out.ReadString('\n')
	require.NoError(t, err)
	require.Regexp(t, `^{"ok":true,"stdout":"","stderr":"","result":"generation 1 env 0 pid .* marker M7","error":null}\n$`, line)
	line, err = d.out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, `{"error":"no fail","ok":false}`+"\n", line)
}

func TestEndOfInputCanBeIgnored(t *testing.T) {
	d, scripted := talk(t, script.REPL{Rules: []script.Rule{script.When("eof")}})
	require.NoError(t, d.Stdin.Close())
	scripted.Await(t, standins.Is("repl", journal.EOF, ""))
	require.NoError(t, d.Cmd.Process.Signal(unix.SIGTERM))
	require.Equal(t, unix.SIGTERM, d.KilledBy(t))
}

func TestLayoutOfRepliesIsLeans(t *testing.T) {
	d, _ := talk(t, script.REPL{})
	bytes := d.raw(t, `{"cmd": "x"}`+"\n\n")
	laidOut, err := leanjson.Layout([]byte(bytes))
	require.NoError(t, err)
	require.Equal(t, laidOut+"\n\n", bytes)
}
