package repl_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/play"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

// TestReportedFault07AfterATimeoutTheNextCallerGetsItsOwnAnswer: the late answer of a
// timed-out call must not be read as that of the next.
func TestReportedFault07AfterATimeoutTheNextCallerGetsItsOwnAnswer(t *testing.T) {
	for _, mode := range []config.Mode{config.Fresh, config.Resident} {
		t.Run(string(mode), func(t *testing.T) {
			r := startFake(t, script.REPL{Rules: []script.Rule{
				script.Match("slow", script.Start(play.Spawn{Setsid: true}), script.Delay(time.Minute), script.Default()),
			}}, func(cfg *supervisor.Config) { cfg.REPL.Mode = mode })
			began := time.Now()
			assert.Equal(t, messages.KindTimeout, messages.KindOf(r.failure("slow marker M1", 3*time.Second)))
			assert.Less(t, time.Since(began), 30*time.Second)
			second := r.says("fast marker M2")
			assert.Contains(t, second, "marker M2")
			assert.Contains(t, second, "generation 2 ")
			first := r.replStarts()[0]
			assert.True(t, standins.Gone(first.PID, first.StartTicks), "a second worker beside the first")
			for _, child := range r.Select(t, standins.Is(play.Sleeper, journal.Start, "")) {
				assert.True(t, standins.Gone(child.PID, child.StartTicks), "what the first had started")
			}
			assert.Contains(t, r.says("fast marker M3"), "marker M3")
		})
	}
}

// TestReportedFault07AnswersThatArriveWithTheTimeoutAreNobodyElses repeats it with
// answers that come just before, or just behind, the end of the time.
func TestReportedFault07AnswersThatArriveWithTheTimeoutAreNobodyElses(t *testing.T) {
	const limit = 100 * time.Millisecond
	var rules []script.Rule
	for late := range 50 {
		rules = append(rules, script.Match(fmt.Sprintf("slow marker L%d$", late),
			script.Delay(limit*9/10+time.Duration(late)*limit/250), script.Default()))
	}
	r := startFake(t, script.REPL{Rules: rules}, resident)
	for late := range 50 {
		report, err := r.run(fmt.Sprintf("slow marker L%d", late), limit)
		if err == nil {
			assert.True(t, strings.HasSuffix(report.Messages[0].Data, fmt.Sprintf("marker L%d", late)))
		}
		assert.True(t, strings.HasSuffix(r.says(fmt.Sprintf("marker M%d", late)), fmt.Sprintf("marker M%d", late)))
	}
}

// TestReportedFault15StderrThatNobodyReadsBlocksNoChild writes far more to standard
// error than a pipe holds.
func TestReportedFault15StderrThatNobodyReadsBlocksNoChild(t *testing.T) {
	const mebibyte = 1 << 20
	r := startFake(t, script.REPL{Rules: []script.Rule{
		script.When(script.OnStart, script.Stderr(mebibyte, play.Lines)),
		script.Match("idle", script.Default(), script.Stderr(mebibyte, play.Lines)),
		script.Match("one line", script.Stderr(300<<10, play.OneLine), script.Default()),
		script.Match("no text", script.Stderr(mebibyte, play.Invalid), script.Default()),
		script.Match("exit", script.StderrText("E-17"), script.Exit(3)),
	}}, resident)
	for _, code := range []string{"first", "idle", "after", "one line", "no text"} {
		assert.Contains(t, r.says(code+" marker M"), "generation 1 ", code)
	}
	failed := r.failure("exit", plenty)
	var exit *messages.ExitError
	require.ErrorAs(t, failed, &exit)
	assert.Equal(t, "exit status 3", exit.Status)
	assert.True(t, strings.HasSuffix(exit.StderrTail, "E-17"))
	assert.Contains(t, failed.Error(), "E-17")
}

// TestReportedFault19PlainTextBeforeAReplyFailsThatCallAlone: a library's warning on
// standard output.
func TestReportedFault19PlainTextBeforeAReplyFailsThatCallAlone(t *testing.T) {
	for _, noise := range []string{"warning: x\n", "hello\n"} {
		r := startFake(t, script.REPL{Rules: []script.Rule{script.Match("noise", script.Raw(noise), script.Default())}}, resident)
		began := time.Now()
		failed := r.failure("noise", plenty)
		assert.Less(t, time.Since(began), plenty/2, "not by its timeout")
		assert.ErrorAs(t, failed, new(*messages.ProtocolError))
		assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(failed))
		assert.Contains(t, r.says("marker M2"), "generation 2 ")
	}
}

// TestReportedFault21OneVeryLongLineArrivesWholeAndOneTooLongIsNamed: no hidden limit
// below the documented one.
func TestReportedFault21OneVeryLongLineArrivesWholeAndOneTooLongIsNamed(t *testing.T) {
	for _, protocol := range []string{"lean", "jsonl"} {
		t.Run(protocol, func(t *testing.T) {
			r := startFake(t, script.REPL{Protocol: protocol, Rules: []script.Rule{
				script.Match("^fits", script.ReplyFill(6<<20)), script.Match("^too long", script.ReplyFill(11<<20)),
			}}, func(cfg *supervisor.Config) {
				lean := cfg.Languages["lean"]
				lean.REPL.Protocol = config.Protocol(protocol)
				cfg.Languages["lean"] = lean
			})
			said := func(code string) string {
				if protocol == "lean" {
					return r.says(code)
				}
				report, err := r.run(code, plenty)
				require.NoError(t, err)
				return report.Result
			}
			assert.Equal(t, sha256.Sum256([]byte(script.Fill(6<<20))), sha256.Sum256([]byte(said("fits"))))
			code := "x" + script.Fill(4<<20)
			assert.Contains(t, said(code), "sha256 "+digest(code))
			assert.ErrorContains(t, r.failure("too long", plenty), "exceeded 10485760 bytes")
			assert.Contains(t, said("marker M"), "marker M")
		})
	}
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// TestReportedFault38CharactersBeyondTheBMPArriveAsTheyAre: no surrogate escapes to
// the child, and either form from it.
func TestReportedFault38CharactersBeyondTheBMPArriveAsTheyAre(t *testing.T) {
	const strange = "𝓤 𝕏 ℝ ∀ 😀 \t\u2028<>&\u007f"
	r := startFake(t, script.REPL{Rules: []script.Rule{
		script.Match("^-- raw", script.Echo(false)), script.Match("^-- escaped", script.Echo(true)),
	}}, resident)
	assert.Contains(t, r.says("-- "+strange), "sha256 "+digest("-- "+strange))
	assert.Equal(t, "-- raw "+strange, r.says("-- raw "+strange))
	assert.Equal(t, "-- escaped "+strange, r.says("-- escaped "+strange))
	for _, received := range r.Select(t, standins.Is("repl", journal.Received, "")) {
		assert.NotRegexp(t, `(?i)\\\\ud[89a-f]`, string(received.Data))
	}
}
