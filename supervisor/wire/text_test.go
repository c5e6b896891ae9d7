package wire

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
)

// TestRecordedReportsReadToTheLetter takes the reports that the REPL's tests get
// from recorded replies.
func TestRecordedReportsReadToTheLetter(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "actors", "repl", "testdata", "reports", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			var reports []*messages.RunReport
			require.NoError(t, json.Unmarshal(raw, &reports))
			var got strings.Builder
			for i, report := range reports {
				text := "NOT A REPLY TO A COMMAND"
				if report != nil {
					text = RunText(*report)
				}
				fmt.Fprintf(&got, "== reply %d\n%s\n", i+1, text)
			}
			want, err := os.ReadFile(filepath.Join("testdata", "texts", name+".txt"))
			require.NoError(t, err)
			assert.Equal(t, string(want), got.String())
		})
	}
}

func TestRunTextOfLean(t *testing.T) {
	at := func(line, column int) *messages.Place { return &messages.Place{Line: line, Column: column} }
	many := func(severity string, n int) (list []messages.Message) {
		for i := range n {
			list = append(list, messages.Message{Severity: severity, Pos: at(i+1, 0), Data: "m"})
		}
		return list
	}
	for name, c := range map[string]struct {
		report messages.RunReport
		want   string
	}{
		"nothing said": {want: "Compiles successfully"},
		"refused":      {messages.RunReport{Error: "Disallowed imports: Foo"}, "REPL error: Disallowed imports: Foo"},
		"outcome unknown": {messages.RunReport{Error: "REPL process exited", OutcomeUnknown: true},
			"REPL error (execution outcome unknown; request not retried): REPL process exited"},
		"timed out": {(&messages.RunError{Sent: true, Err: &messages.TimeoutError{After: time.Second}}).Report(),
			"REPL error (execution outcome unknown; request not retried): timed out after 1s"},
		"an error hides what is milder": {messages.RunReport{Messages: append(many("warning", 1), many("error", 1)...)},
			"Compilation Errors (1)\n  - 1:0: error: m"},
		"errors are all shown": {messages.RunReport{Messages: many("error", 12)},
			"Compilation Errors (12)" + lines("error", 12)},
		"ten warnings are all shown": {messages.RunReport{Messages: many("warning", 10)},
			"Compiles successfully\n\nWarnings (10)" + lines("warning", 10)},
		"of eleven warnings ten are shown": {messages.RunReport{Messages: many("warning", 11)},
			"Compiles successfully\n\nWarnings (11)" + lines("warning", 10) + "\n  ... and 1 more"},
		"infos are output": {messages.RunReport{Messages: many("info", 13)},
			"Compiles successfully\n\nOutput (13)" + lines("info", 10) + "\n  ... and 3 more"},
		"a warning hides infos":  {messages.RunReport{Messages: append(many("info", 1), many("warning", 1)...)}, "Compiles successfully\n\nWarnings (1)\n  - 1:0: warning: m"},
		"traces are never shown": {messages.RunReport{Messages: many("trace", 3)}, "Compiles successfully"},
		"no column":              {messages.RunReport{Messages: []messages.Message{{Severity: "error", Pos: at(7, messages.NoColumn), Data: "m"}}}, "Compilation Errors (1)\n  - 7: error: m"},
		"no place":               {messages.RunReport{Messages: []messages.Message{{Severity: "error", Data: "a\nb"}}}, "Compilation Errors (1)\n  - error: a\nb"},
		"sorries come last": {messages.RunReport{Messages: many("error", 1), Sorries: []messages.Sorry{{Pos: at(3, 9), Goal: "⊢ a"}, {Goal: "⊢ b"}}},
			"Compilation Errors (1)\n  - 1:0: error: m\n\nSorries (2)\n  - Line 3: ⊢ a\n  - Line ?: ⊢ b"},
	} {
		t.Run(name, func(t *testing.T) {
			c.report.Protocol = messages.ReportLean
			assert.Equal(t, c.want, RunText(c.report))
		})
	}
}

func lines(severity string, n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "\n  - %d:0: %s: m", i+1, severity)
	}
	return text.String()
}

func TestRunTextOfASession(t *testing.T) {
	for name, c := range map[string]struct {
		report messages.RunReport
		want   string
	}{
		"nothing":      {want: "Done, without output"},
		"output alone": {messages.RunReport{Output: "a\nb\n"}, "a\nb"},
		"everything": {messages.RunReport{Output: "out\n", Stderr: "noise\n", Result: "42", Error: "Traceback\nE"},
			"out\nStderr:\nnoise\nResult: 42\nError:\nTraceback\nE"},
		"outcome unknown": {messages.RunReport{Error: "REPL process exited", OutcomeUnknown: true},
			"REPL error (execution outcome unknown; request not retried): REPL process exited"},
		"timed out": {(&messages.RunError{Sent: true, Err: &messages.TimeoutError{After: time.Second,
			Partial: messages.RunReport{Output: "out\n", Stderr: "noise\n", Error: "Traceback\nhere"}}}).Report(),
			"REPL error (execution outcome unknown; request not retried): timed out after 1s\nTraceback\nhere\nPrinted until then:\nout\nStderr:\nnoise"},
	} {
		t.Run(name, func(t *testing.T) {
			c.report.Protocol = messages.ReportJSONL
			assert.Equal(t, c.want, RunText(c.report))
		})
	}
}
