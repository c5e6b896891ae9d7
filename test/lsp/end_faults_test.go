package lsp_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

// TestReportedFault07LateHoverIsNobodyElsesAnswer: the answer of a call that had timed
// out was read as that of the next.
func TestReportedFault07LateHoverIsNobodyElsesAnswer(t *testing.T) {
	const turns, short = 50, 100 * time.Millisecond
	var rules []script.Rule
	var lines strings.Builder
	for turn := range turns {
		fmt.Fprintf(&lines, "w%d\n", turn)
		late := short*9/10 + time.Duration(turn)*short/(5*turns) // around the end of the call's time
		rules = append(rules, script.Rule{When: "textDocument/hover", Nth: 2*turn + 1,
			Do: []script.Action{script.Delay(late), script.Default()}})
	}
	s := startScripted(t, script.LSP{Rules: rules})
	s.write("A.lean", lines.String())
	ask := func(line int, timeout time.Duration) (string, error) {
		doc := s.doc("A.lean")
		doc.Timeout = timeout
		report, err := s.Hover(s.bounded(), doc, supervisor.Position{Line: line})
		return report.Text, err
	}
	for turn := range turns {
		text, err := ask(turn, short)
		if err == nil {
			assert.Equal(t, fmt.Sprintf("w%d", turn), text)
		} else {
			assert.Equal(t, messages.KindTimeout, messages.KindOf(err), "%v", err)
		}
		other := (turn + 1) % turns
		text, err = ask(other, standins.Bound)
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprintf("w%d", other), text, "its own, after turn %d", turn)
	}
	assert.Len(t, s.starts(), 1, "a late server is no dead one")
}

// TestReportedFault40ShutdownThatIsNeverAnsweredEndsInTime: a close waited for a reply
// that would not come, or killed before the server had had a chance.
func TestReportedFault40ShutdownThatIsNeverAnsweredEndsInTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "written")
	for name, row := range map[string]struct {
		rules  []script.Rule
		killed bool   // its group got a signal
		exit   string // its own exit code; empty: it had none
	}{
		"never answered": {rules: []script.Rule{script.When("shutdown")}, exit: "1"},
		"dies on it":     {rules: []script.Rule{script.When("shutdown", script.Exit(9))}, exit: "9"},
		"ignores exit":   {rules: []script.Rule{script.When("exit"), script.When(script.OnEOF)}, killed: true},
		"an error":       {rules: []script.Rule{script.When("shutdown", script.ReplyError(-32603, "busy"))}, exit: "1"},
		"slow to end": {rules: []script.Rule{script.When("exit", script.Delay(time.Second),
			script.WriteFile(file, "whole"), script.Default())}, exit: "0"},
		"talks before": {rules: []script.Rule{script.When("shutdown",
			script.Repeat(1000, script.Notify("window/logMessage", map[string]any{"type": 4, "message": "x"})),
			script.AskAndWait("last", "workspace/configuration", map[string]any{"items": []any{}}), script.Default())}, exit: "0"},
		"closes its output": {rules: []script.Rule{script.When("shutdown", script.KillSelf())}},
		"deaf":              {rules: []script.Rule{script.When("shutdown", script.IgnoreTerm(), script.StopReading())}, killed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startScripted(t, script.LSP{Rules: row.rules})
			assert.Equal(t, "alpha", s.hovered("A.lean"))
			began := time.Now()
			var closes sync.WaitGroup
			for range 3 {
				closes.Go(func() { assert.NoError(t, s.Shutdown(s.bounded())) })
			}
			closes.Wait()
			assert.Less(t, time.Since(began), 30*time.Second, "within the close budget")
			server := s.starts()[0]
			assert.True(t, standins.Gone(server.PID, server.StartTicks))
			order := s.order("shutdown", "exit")
			assert.Equal(t, 1, s.received("shutdown"), "asked once, however often it is closed")
			signals := s.Select(t, standins.Is("server", journal.Signal, ""))
			// One that stands still while it is asked notes nothing, as SIGKILL comes soon.
			byItself := len(signals) == 0 && len(s.Select(t, standins.Is("server", journal.Exit, ""))) > 0
			assert.NotEqual(t, row.killed, byItself, "%v", signals)
			for _, signal := range signals {
				assert.Greater(t, signal.TimeNS, order, "politely asked first")
			}
			exits := s.Select(t, standins.Is("server", journal.Exit, row.exit))
			assert.Equal(t, row.exit != "", len(exits) > 0 && exits[0].Detail == row.exit)
		})
	}
	t.Cleanup(func() { // after the parallel rows
		assert.FileExists(t, file, "a server that is still writing is let finish")
	})
}

// order wants messages to have come in this order, those that came at all, and gives the
// time of the last.
func (s *scripted) order(methods ...string) (last int64) {
	for _, method := range methods {
		for _, e := range s.Select(s.t, standins.Is("server", journal.Received, method)) {
			assert.Greater(s.t, e.TimeNS, last, method)
			last = e.TimeNS
		}
	}
	return last
}
