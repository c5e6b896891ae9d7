package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// columnsMost is how wide a line for a person may be.
const columnsMost = 80

// Daemon gives a daemon's status at a glance: itself in a few lines, then what it holds
// by project.
func Daemon(s wire.Status, socket string, colour bool) string {
	var text strings.Builder
	state := "running"
	if s.Stopping {
		state = "stopping: it finishes what it has begun"
	}
	fmt.Fprintf(&text, "hearth   pid %d, up %s, %s\n", s.PID, Age(float64(s.Uptime)), state)
	fmt.Fprintf(&text, "socket   %s\n", socket)
	fmt.Fprintf(&text, "servers  %d of %d\n", len(s.LSPProjects.Resident), s.LSPProjects.Limit)
	fmt.Fprintf(&text, "pools    %d, of %s by their weights\n", len(s.REPLProjects.Resident), Bytes(s.REPLProjects.Limit))
	for _, note := range keepingNotes(s.Keeping) {
		fmt.Fprintln(&text, cut(note, columnsMost))
	}
	byProject := map[string][]string{}
	add := func(kind string, p wire.Projects) {
		for _, r := range p.Resident {
			byProject[r.ProjectDir] = append(byProject[r.ProjectDir], residentLine(kind, r, colour))
		}
		for _, dir := range p.Creating {
			byProject[dir] = append(byProject[dir], fmt.Sprintf("  %-4s  %-10s  %s", kind, "", paint(wire.StateWarming, wire.StateWarming, colour)))
		}
		for _, r := range p.Retiring {
			byProject[r.ProjectDir] = append(byProject[r.ProjectDir], retiringLine(kind, r, colour))
		}
	}
	add("lsp", s.LSPProjects)
	add("repl", s.REPLProjects)
	for _, dir := range slices.Sorted(maps.Keys(byProject)) {
		fmt.Fprintf(&text, "\n%s\n%s\n", cutLeft(dir, columnsMost), strings.Join(byProject[dir], "\n"))
	}
	return text.String()
}

func keepingNotes(k wire.Keeping) []string {
	notes := []string{"guard    " + cmp.Or(k.Guard, "none")}
	if k.Leftovers != "" {
		notes = append(notes, "sweep    "+k.Leftovers)
	}
	for _, orphan := range k.Adopted {
		notes = append(notes, fmt.Sprintf("adopted  %d (%s), a process that carries no mark", orphan.PID, orphan.Command))
	}
	for _, limit := range k.Limits {
		notes = append(notes, "limit    "+limit)
	}
	return notes
}

func residentLine(kind string, r wire.Project, colour bool) string {
	use := fmt.Sprintf("idle %s", Age(float64(r.Idle)))
	if r.Active+r.Waiting > 0 {
		use = fmt.Sprintf("%d at work, %d waiting", r.Active, r.Waiting)
	}
	if !r.Valid {
		use += ", outdated"
	}
	return fmt.Sprintf("  %-4s  %-10s  %s  %-23s  %s", kind, cut(r.Language, 10), paint(fmt.Sprintf("%-8s", r.State), r.State, colour),
		use, processesText(r.PIDs, r.Memory))
}

// processesText says how many there are and, once that was measured, how large.
func processesText(pids []int, memory int64) string {
	text := count(len(pids), "process", "processes")
	if memory > 0 {
		text += ", " + Bytes(memory)
	}
	return text
}

func retiringLine(kind string, r wire.Retiring, colour bool) string {
	what := r.Step
	if r.Attempts > 0 {
		what += fmt.Sprintf(", %s failed", count(r.Attempts, "attempt", "attempts"))
	}
	if len(r.Remaining) > 0 {
		what += fmt.Sprintf(", left: %s", strings.Trim(fmt.Sprint(r.Remaining), "[]"))
	}
	if r.Reason != "" {
		what += ": " + r.Reason
	}
	// What precedes the text takes 30 columns.
	return fmt.Sprintf("  %-4s  %-10s  %s  %s", kind, cut(r.Language, 10), paint(wire.StateRetiring, wire.StateRetiring, colour), cut(what, columnsMost-30))
}

// colours are those of a project's states.
var colours = map[string]string{wire.StateWarm: "32", wire.StateWarming: "33", wire.StateRetiring: "31"}

// paint colours a text as a state is coloured.
func paint(text, state string, colour bool) string {
	if code := colours[state]; colour && code != "" {
		return "\x1b[" + code + "m" + text + "\x1b[0m"
	}
	return text
}

// Age gives a time in seconds in its two largest units.
func Age(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second)).Truncate(time.Second)
	switch {
	case d >= 24*time.Hour:
		return fmt.Sprintf("%dd%dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}

// Bytes gives a memory in MiB or GiB.
func Bytes(n int64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// cut shortens a text to so many characters.
func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// cutLeft shortens a path at its beginning: its end tells more.
func cutLeft(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return "…" + string(runes[len(runes)-most+1:])
	}
	return text
}
