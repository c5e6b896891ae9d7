package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f6977891/hearth/supervisor"
)

// Diagnostics gives each finding as a compiler prints it, so that editors and
// people's eyes find the place: FILE:LINE:COLUMN: severity: message [source], counted
// from 1 in characters. The further lines of a message are indented: a line that
// begins with a file's name is always a finding. source is the file's text.
func Diagnostics(name string, source []byte, found []supervisor.Diagnostic) string {
	var text strings.Builder
	for _, d := range inOrder(found) {
		line, column := supervisor.PositionCharacter(source, d.Range.Start)
		fmt.Fprintf(&text, "%s:%d:%d: %s: %s", name, line, column, d.Severity, indented(d.Message))
		if d.Source != "" {
			fmt.Fprintf(&text, " [%s]", d.Source)
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// inOrder sorts by place: servers publish in the order in which their checkers ran.
func inOrder(found []supervisor.Diagnostic) []supervisor.Diagnostic {
	return slices.SortedStableFunc(slices.Values(found), func(a, b supervisor.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Range.Start.Line, b.Range.Start.Line), cmp.Compare(a.Range.Start.Character, b.Range.Start.Character))
	})
}

func indented(message string) string {
	message = strings.ReplaceAll(strings.TrimRight(message, "\r\n"), "\r\n", "\n")
	return strings.ReplaceAll(message, "\n", "\n    ")
}
