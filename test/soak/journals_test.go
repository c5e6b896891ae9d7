//go:build linux

package soak_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
)

// journals follows what the stand-ins note. What was read is given back to the disk, so
// that a run of hours needs no more of it than one of minutes.
type journals struct {
	paths []string

	mu    sync.Mutex
	tails map[string]*tail
	alive map[process]standins.Event // started, and not yet seen to have ended
	runs  map[string]int             // label of a run: how often a REPL got its code
	last  []standins.Event
	begun int // processes
}

type process struct {
	pid   int
	ticks uint64
}

// tail is how far a journal was read.
type tail struct {
	offset int64 // of the first line that was not read
	freed  int64
}

const (
	lastKept  = 60
	freeEvery = 4 << 20 // bytes; whole blocks of every file system
)

func newJournals(paths ...string) *journals {
	j := &journals{paths: paths, tails: map[string]*tail{}, alive: map[process]standins.Event{}, runs: map[string]int{}}
	for _, path := range paths {
		j.tails[path] = &tail{}
	}
	return j
}

// follow reads what is new.
func (j *journals) follow() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, path := range j.paths {
		if err := j.read(path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	for id := range j.alive {
		if standins.Gone(id.pid, id.ticks) {
			delete(j.alive, id)
		}
	}
	return nil
}

func (j *journals) read(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing has started yet
	}
	if err != nil {
		return err
	}
	defer f.Close()
	at := j.tails[path]
	info, err := f.Stat()
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.NewSectionReader(f, at.offset, info.Size()-at.offset))
	if err != nil {
		return err
	}
	events, read, err := journal.Parse(text)
	if err != nil {
		return err
	}
	for _, e := range events {
		j.note(e)
	}
	at.offset += int64(read)
	if whole := at.offset / freeEvery * freeEvery; whole > at.freed {
		// A hole keeps the offsets, of this reader and of those who append. A file system
		// that has none keeps the text, which does no harm.
		_ = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, at.freed, whole-at.freed)
		at.freed = whole
	}
	return nil
}

var label = regexp.MustCompile(`soak-\d+-\d+`)

func (j *journals) note(e standins.Event) {
	j.last = append(j.last, e)
	j.last = j.last[max(0, len(j.last)-lastKept):]
	switch e.Event {
	case journal.Start:
		j.begun++
		j.alive[process{e.PID, e.StartTicks}] = e
	case journal.Received:
		if name := label.FindString(e.Detail); name != "" {
			j.runs[name]++
		}
	}
}

// survivors are the processes that live.
func (j *journals) survivors() (list []standins.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.alive {
		list = append(list, e)
	}
	return list
}

// end is the journals' last lines.
func (j *journals) end() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var text strings.Builder
	for _, e := range j.last {
		fmt.Fprintf(&text, "%d %s pid %d %s %s %.120s\n", e.TimeNS, e.Role, e.PID, e.Event, e.Detail, e.Data)
	}
	return text.String()
}
