package render

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/seed-f6977891/hearth/supervisor/config"
)

// Settings gives the table of settings, with what each has and where from.
func Settings(rows []config.Row) string {
	lines := []string{"SETTING\tVALUE\tFROM"}
	for _, row := range rows {
		lines = append(lines, row.Key+"\t"+row.Value+"\t"+row.From)
	}
	return columns(lines)
}

// Section is a part of what `hearth doctor` found.
type Section struct {
	Title string `json:"title"`
	Facts []Fact `json:"facts"`
}

// Fact is one line of it.
type Fact struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Text string `json:"text"` // what is there; where OK is false, what to do about it
}

// Doctor gives the sections, with what needs doing marked.
func Doctor(sections []Section) string {
	var parts []string
	for _, section := range sections {
		var lines []string
		for _, fact := range section.Facts {
			mark := "ok"
			if !fact.OK {
				mark = "--"
			}
			lines = append(lines, fmt.Sprintf("  %s\t%s\t%s", mark, fact.Name, fact.Text))
		}
		parts = append(parts, section.Title+"\n"+columns(lines))
	}
	return strings.Join(parts, "\n")
}

// columns lines cells up that tabs separate.
func columns(lines []string) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(lines, "\n"))
	_ = table.Flush() // a strings.Builder takes everything
	return text.String()
}
