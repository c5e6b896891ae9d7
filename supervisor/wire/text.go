package wire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f6977891/hearth/messages"
)

// shownAtMost is how many warnings, or infos, a text shows; errors are all shown.
const shownAtMost = 10

// RunText is the text of a report, as version 1 of the socket protocol gives it.
// That of a Lean report is fixed to the letter: programs read it.
func RunText(r messages.RunReport) string {
	switch {
	case r.OutcomeUnknown:
		return "REPL error (execution outcome unknown; request not retried): " + r.Error + printedText(r)
	case r.Protocol == messages.ReportJSONL:
		return sessionText(r)
	case r.Error != "":
		return "REPL error: " + r.Error
	}
	text := compilerText(r.Messages)
	if len(r.Sorries) > 0 {
		text += fmt.Sprintf("\n\nSorries (%d)", len(r.Sorries))
		for _, s := range r.Sorries {
			text += "\n  - Line " + lineText(s.Pos) + ": " + s.Goal
		}
	}
	return text
}

// compilerText shows the worst that was said and nothing milder; traces never.
func compilerText(all []messages.Message) string {
	const clean = "Compiles successfully"
	if errors := ofSeverity(all, "error"); len(errors) > 0 {
		return listing("Compilation Errors", errors, len(errors))
	}
	if warnings := ofSeverity(all, "warning"); len(warnings) > 0 {
		return clean + "\n\n" + listing("Warnings", warnings, shownAtMost)
	}
	if infos := ofSeverity(all, "info"); len(infos) > 0 {
		return clean + "\n\n" + listing("Output", infos, shownAtMost)
	}
	return clean
}

func ofSeverity(all []messages.Message, severity string) []messages.Message {
	return slices.DeleteFunc(slices.Clone(all), func(m messages.Message) bool { return m.Severity != severity })
}

func listing(title string, list []messages.Message, most int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s (%d)", title, len(list))
	for _, m := range list[:min(most, len(list))] {
		text.WriteString("\n  - " + placeText(m.Pos) + m.Severity + ": " + m.Data)
	}
	if more := len(list) - most; more > 0 {
		fmt.Fprintf(&text, "\n  ... and %d more", more)
	}
	return text.String()
}

func placeText(p *messages.Place) string {
	switch {
	case p == nil:
		return ""
	case p.Column == messages.NoColumn:
		return fmt.Sprintf("%d: ", p.Line)
	}
	return fmt.Sprintf("%d:%d: ", p.Line, p.Column)
}

func lineText(p *messages.Place) string {
	if p == nil {
		return "?"
	}
	return fmt.Sprint(p.Line)
}

// printedText is what code had printed that did not come to its end. Lean tells nothing
// of that.
func printedText(r messages.RunReport) string {
	if r.Output == "" && r.Stderr == "" {
		return ""
	}
	return "\nPrinted until then:\n" + sessionText(messages.RunReport{Output: r.Output, Stderr: r.Stderr})
}

// sessionText shows what an interactive session would: what was printed as it is,
// then the rest under its name.
func sessionText(r messages.RunReport) string {
	var parts []string
	add := func(title, text string) {
		if text != "" {
			parts = append(parts, title+strings.TrimSuffix(text, "\n"))
		}
	}
	add("", r.Output)
	add("Stderr:\n", r.Stderr)
	add("Result: ", r.Result)
	add("Error:\n", r.Error)
	if parts == nil {
		return "Done, without output"
	}
	return strings.Join(parts, "\n")
}
