package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Names of events that every stand-in writes.
const (
	Start    = "start"    // the process began; Data holds its argv
	Signal   = "signal"   // a signal arrived; Detail is its name
	Exit     = "exit"     // the process is about to end; Detail is its exit code or the signal that ends it
	Received = "received" // a message arrived; Detail is its method (empty for a response), Data the message
	Sent     = "sent"     // a message was written; Detail is its method (empty for a response)
	Spawned  = "spawned"  // a child was started; Detail is its kind, Data a Child
	EOF      = "eof"      // standard input ended
)

// Event is one line of a journal.
type Event struct {
	TimeNS     int64           `json:"time_ns"` // nanoseconds of CLOCK_MONOTONIC
	Role       string          `json:"role"`
	PID        int             `json:"pid"`
	PPID       int             `json:"ppid"`
	PGID       int             `json:"pgid"`
	SID        int             `json:"sid"`
	StartTicks uint64          `json:"start_ticks"` // field 22 of /proc/PID/stat: with PID it names the process for good
	Event      string          `json:"event"`
	Detail     string          `json:"detail,omitempty"`
	Data       json.RawMessage `json:"data,omitempty"`
}

// Child is the Data of a Spawned event.
type Child struct {
	PID        int    `json:"pid"`
	StartTicks uint64 `json:"start_ticks"`
}

// Read returns the events of the journal at path in the order in which they were written. A journal that doesn't exist
// yet is empty.
func Read(path string) ([]Event, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	events, _, err := Parse(text)
	return events, err
}

// Parse returns the events of a part of a journal, and how many bytes of it they take: a last line without its newline
// isn't read. Nor is one of which only a part was written, because its writer was killed (the kernel writes page by
// page): another's line goes on behind it.
func Parse(text []byte) (events []Event, read int, err error) {
	for {
		line, _, whole := bytes.Cut(text[read:], []byte("\n"))
		if !whole {
			return events, read, nil
		}
		var e Event
		err := json.Unmarshal(line, &e)
		if torn := bytes.LastIndex(line, []byte(`{"time_ns":`)); err != nil && torn > 0 {
			e = Event{}
			err = json.Unmarshal(line[torn:], &e)
		}
		if err != nil {
			return events, read, fmt.Errorf("journal line %d: %w", len(events)+1, err)
		}
		events = append(events, e)
		read += len(line) + 1
	}
}
