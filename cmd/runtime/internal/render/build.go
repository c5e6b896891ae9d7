package render

import (
	"fmt"
	"strings"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
)

// Running says in one line what a watched build compiles now, the slowest first.
func Running(files []messages.RunningFile) string {
	parts := make([]string, len(files))
	for i, f := range files {
		parts[i] = fmt.Sprintf("%s %ds", f.File, int(f.Seconds))
	}
	return "compiling " + strings.Join(parts, ", ")
}

// Slowest gives the table of a build's slowest files, at most n; it is empty where no
// compile was seen.
func Slowest(report supervisor.BuildReport, n int) string {
	files := report.Slowest[:min(n, len(report.Slowest))]
	if len(files) == 0 {
		return ""
	}
	lines := []string{"SECONDS\tMEMORY\tFILE"}
	for _, f := range files {
		lines = append(lines, fmt.Sprintf("%.1f\t%d MiB\t%s", f.Seconds, f.Peak>>20, f.File))
	}
	return fmt.Sprintf("The slowest files, of %s that took long enough to be seen:\n", count(report.Compiles, "compile", "compiles")) + columns(lines)
}
