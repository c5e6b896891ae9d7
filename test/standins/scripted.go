package standins

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f6977891/hearth/test/standins/script"
)

// Scripted is a script on disk with the journal of the processes that play it.
type Scripted struct {
	Script  string
	Journal string
}

// WriteLSP writes a script of fakelsp. What its processes leave behind is ended with the test.
func WriteLSP(t testing.TB, s script.LSP) Scripted {
	t.Helper()
	return write(t, s)
}

// WriteREPL writes a script of fakerepl.
func WriteREPL(t testing.TB, s script.REPL) Scripted {
	t.Helper()
	return write(t, s)
}

func write(t testing.TB, s any) Scripted {
	t.Helper()
	dir := t.TempDir()
	scripted := Scripted{Script: filepath.Join(dir, "script.json"), Journal: filepath.Join(dir, "journal")}
	scripted.rewrite(t, s)
	EndSurvivors(t, scripted.Journal)
	return scripted
}

// RewriteLSP replaces the script for the processes that start from now on.
func (s Scripted) RewriteLSP(t testing.TB, l script.LSP) { t.Helper(); s.rewrite(t, l) }

// RewriteREPL replaces the script for the processes that start from now on.
func (s Scripted) RewriteREPL(t testing.TB, r script.REPL) { t.Helper(); s.rewrite(t, r) }

func (s Scripted) rewrite(t testing.TB, v any) {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	// Replaced in one step: a process that starts right now reads the old script or the new one.
	fresh := s.Script + ".new"
	if err := os.WriteFile(fresh, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(fresh, s.Script); err != nil {
		t.Fatal(err)
	}
}

// Command returns the command line that makes program play the script.
func (s Scripted) Command(program string) []string {
	return []string{program, "--script", s.Script, "--journal", s.Journal}
}

// Await waits for the first event of the journal for which is holds.
func (s Scripted) Await(t testing.TB, is func(Event) bool) Event {
	t.Helper()
	return AwaitEvent(t, s.Journal, is, Bound)
}

// Select returns the events of the journal for which is holds.
func (s Scripted) Select(t testing.TB, is func(Event) bool) []Event {
	t.Helper()
	return Select(t, s.Journal, is)
}
