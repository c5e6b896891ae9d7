package wire

import (
	"fmt"
	"strings"

	"github.com/seed-f6977891/hearth/messages"
)

// DiagnosticsText is the text of a report, as version 1 of the socket protocol
// gives it, fixed to the letter: lines count from 1, columns from 0 in UTF-16.
func DiagnosticsText(r messages.DiagnosticsReport) string {
	if len(r.Diagnostics) == 0 {
		return "No diagnostics — file compiles cleanly."
	}
	count := make(map[messages.Severity]int)
	var lines strings.Builder
	for _, d := range r.Diagnostics {
		count[d.Severity]++
		fmt.Fprintf(&lines, "\n%d:%d: %s: %s", d.Range.Start.Line+1, d.Range.Start.Character, d.Severity, d.Message)
	}
	return fmt.Sprintf("Diagnostics: %d error(s), %d warning(s)%s",
		count[messages.SeverityError], count[messages.SeverityWarning], lines.String())
}

// HoverText is the text of a hover, as version 1 of the socket protocol gives it.
func HoverText(r messages.HoverReport) string {
	if r.Text == "" {
		return "No hover information at this position."
	}
	return r.Text
}

// Diagnostics is the result of lsp.diagnostics.
func Diagnostics(r messages.DiagnosticsReport, format Format) any {
	switch format {
	case FormatJSON:
		if r.Diagnostics == nil {
			return []messages.Diagnostic{}
		}
		return r.Diagnostics
	case FormatReport:
		return r
	}
	return DiagnosticsText(r)
}

// Hover is the result of lsp.hover; as JSON it is LSP's Hover, null where the
// server had nothing to say.
func Hover(r messages.HoverReport, format Format) any {
	switch format {
	case FormatJSON:
		if r.Text == "" {
			return nil
		}
		return lspHover{markup{kindOfMarkup(r), r.Text}, r.Range}
	case FormatReport:
		return r
	}
	return HoverText(r)
}

// Query is the result of lsp.query.
func Query(r messages.QueryReport, format Format) any {
	if format == FormatReport {
		return r
	}
	return r.Result
}

type lspHover struct {
	Contents markup          `json:"contents"`
	Range    *messages.Range `json:"range,omitempty"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

func kindOfMarkup(r messages.HoverReport) string {
	if r.Markdown {
		return "markdown"
	}
	return "plaintext"
}

// Run is the result of repl.run.
func Run(r messages.RunReport, format Format) any {
	if format == FormatText {
		return RunText(r)
	}
	return r
}
