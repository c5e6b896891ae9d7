package standins

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-f6977891/hearth/test/standins/journal"
)

// Bound is how long a wait may take before the test fails: far beyond what a slow, shared machine needs.
const Bound = 60 * time.Second

// poll is the pause between two looks at a file or a process.
const poll = 5 * time.Millisecond

// Event is a line of a journal.
type Event = journal.Event

// JournalPath returns a path for a new journal.
func JournalPath(t testing.TB) string {
	return filepath.Join(t.TempDir(), "journal")
}

// ReadJournal returns the events at path so far.
func ReadJournal(t testing.TB, path string) []Event {
	t.Helper()
	events, err := journal.Read(path)
	if err != nil {
		t.Fatalf("journal: %v", err)
	}
	return events
}

// Select returns the events at path for which is holds.
func Select(t testing.TB, path string, is func(Event) bool) []Event {
	t.Helper()
	return slices.DeleteFunc(ReadJournal(t, path), func(e Event) bool { return !is(e) })
}

// AwaitEvent waits until the journal at path holds an event for which is holds and returns the first such.
func AwaitEvent(t testing.TB, path string, is func(Event) bool, bound time.Duration) Event {
	t.Helper()
	return AwaitEvents(t, path, is, 1, bound)[0]
}

// AwaitEvents waits until the journal at path holds n events for which is holds and returns all that do.
func AwaitEvents(t testing.TB, path string, is func(Event) bool, n int, bound time.Duration) []Event {
	t.Helper()
	var found []Event
	if !Until(bound, func() bool { found = Select(t, path, is); return len(found) >= n }) {
		t.Fatalf("the journal has %d of %d awaited events after %v:\n%s", len(found), n, bound, dump(t, path))
	}
	return found
}

// Is returns a predicate of events by role, event and detail; an empty argument fits everything.
func Is(role, event, detail string) func(Event) bool {
	return func(e Event) bool {
		return (role == "" || role == e.Role) && (event == "" || event == e.Event) && (detail == "" || detail == e.Detail)
	}
}

// Until looks at ok again and again and says whether it came true within bound.
func Until(bound time.Duration, ok func() bool) bool {
	for deadline := time.Now().Add(bound); ; time.Sleep(poll) {
		if ok() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}

func dump(t testing.TB, path string) string {
	text := ""
	for _, e := range ReadJournal(t, path) {
		data := string(e.Data)
		text += fmt.Sprintf("%d %s pid %d %s %s %.200s\n", e.TimeNS, e.Role, e.PID, e.Event, e.Detail, data)
	}
	return text
}
