package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

func finding(line, character int, severity messages.Severity, message string) messages.Diagnostic {
	at := messages.Position{Line: line, Character: character}
	return messages.Diagnostic{Range: messages.Range{Start: at, End: at}, Severity: severity, Message: message}
}

var everySeverity = messages.DiagnosticsReport{Diagnostics: []messages.Diagnostic{
	finding(0, 0, messages.SeverityError, "first"),
	finding(9, 4, messages.SeverityWarning, "two\nlines"),
	finding(10, 0, messages.SeverityInformation, "i"),
	finding(11, 0, messages.SeverityHint, "h"),
	finding(12, 0, 0, "none was given"),
	finding(13, 0, messages.SeverityError, "<é & 𝔸>"),
}}

func TestDiagnosticsReadToTheLetter(t *testing.T) {
	assert.Equal(t, "No diagnostics — file compiles cleanly.", wire.Diagnostics(messages.DiagnosticsReport{}, wire.FormatText))
	assert.Equal(t, `Diagnostics: 2 error(s), 1 warning(s)
1:0: error: first
10:4: warning: two
lines
11:0: info: i
12:0: hint: h
13:0: unknown: none was given
14:0: error: <é & 𝔸>`, wire.Diagnostics(everySeverity, wire.FormatText))
}

func TestHoverReadsToTheLetter(t *testing.T) {
	assert.Equal(t, "No hover information at this position.", wire.Hover(messages.HoverReport{}, wire.FormatText))
	assert.Equal(t, "```lean\nNat\n```", wire.Hover(messages.HoverReport{Text: "```lean\nNat\n```"}, wire.FormatText))
}

func TestResultsForPrograms(t *testing.T) {
	span := messages.Range{End: messages.Position{Character: 3}}
	run := messages.RunReport{Protocol: messages.ReportLean}
	for _, c := range []struct {
		result any
		want   string
	}{
		{wire.Diagnostics(messages.DiagnosticsReport{}, wire.FormatJSON), `[]`},
		{wire.Diagnostics(messages.DiagnosticsReport{Diagnostics: []messages.Diagnostic{finding(1, 2, messages.SeverityError, "m")}}, wire.FormatJSON),
			`[{"range":{"start":{"line":1,"character":2},"end":{"line":1,"character":2}},"severity":1,"message":"m"}]`},
		{wire.Hover(messages.HoverReport{}, wire.FormatJSON), `null`},
		{wire.Hover(messages.HoverReport{Text: "x", Markdown: true, Range: &span}, wire.FormatJSON),
			`{"contents":{"kind":"markdown","value":"x"},"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}}}`},
		{wire.Hover(messages.HoverReport{Text: "x"}, wire.FormatJSON), `{"contents":{"kind":"plaintext","value":"x"}}`},
		{wire.Run(run, wire.FormatText), `"Compiles successfully"`},
	} {
		got, err := json.Marshal(c.result)
		require.NoError(t, err)
		assert.JSONEq(t, c.want, string(got))
	}
	assert.Equal(t, everySeverity, wire.Diagnostics(everySeverity, wire.FormatReport))
	assert.Equal(t, messages.HoverReport{Text: "x"}, wire.Hover(messages.HoverReport{Text: "x"}, wire.FormatReport))
	assert.Equal(t, run, wire.Run(run, wire.FormatJSON))
}
