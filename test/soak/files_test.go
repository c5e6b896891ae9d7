//go:build linux

package soak_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// file is one that is edited while calls read it.
type file struct {
	path     string
	language string

	mu      sync.Mutex
	written int
	history []version
}

// version is a text of a file; sign is what an answer about it holds.
type version struct {
	sign        string
	from, until time.Time // a zero until: it is there now
}

// historyKept is how many versions are remembered: more than can come during one call.
const historyKept = 256

// edit writes the next version in one step, so that nobody reads half of it. slow makes
// Lean take three seconds for it.
func (f *file) edit(slow bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.written++
	text := fmt.Sprintf("word %d\n", f.written)
	next := version{sign: digest(text), from: time.Now()}
	if f.language == lean {
		next.sign = fmt.Sprint(100_000 + f.written)
		text = "#eval " + next.sign + "\n"
		if slow {
			text = "-- fake: sleep 3s\n" + text
		}
	}
	fresh := f.path + ".new"
	if err := os.WriteFile(fresh, []byte(text), 0o644); err != nil {
		return err
	}
	if err := os.Rename(fresh, f.path); err != nil {
		return err
	}
	if n := len(f.history); n > 0 {
		f.history[n-1].until = time.Now()
	}
	f.history = append(f.history, next)
	f.history = f.history[max(0, len(f.history)-historyKept):]
	return nil
}

// wasThere tells whether the version with the sign was on disk at any moment of a call.
func (f *file) wasThere(sign string, begun, ended time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range f.history {
		if v.sign == sign {
			return v.from.Before(ended) && (v.until.IsZero() || v.until.After(begun))
		}
	}
	return false
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// The languages of projects: fakelean's, and that of the scripted stand-ins.
const (
	lean = "lean"
	fake = "fake"
)

// project is one that agents work in.
type project struct {
	dir       string
	language  string
	sheltered bool // no process of it is killed
	files     []*file
	slow      *file // Lean's takes its time

	mu     sync.Mutex
	struck time.Time // the last kill
}

// aftermath is how long after a kill its effects may be seen: the daemon notices a death
// in milliseconds, on a machine that gives it the time.
const aftermath = 10 * time.Second

func (p *project) strike() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.struck = time.Now()
}

func (p *project) wasStruck(begun time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.struck.After(begun.Add(-aftermath))
}

// newProject writes a project's files.
func newProject(dir, language string, sheltered bool) (*project, error) {
	p := &project{dir: dir, language: language, sheltered: sheltered}
	extension := map[string]string{lean: ".lean", fake: ".fake"}[language]
	for _, name := range []string{"A", "B", "C", "Slow"} {
		f := &file{path: filepath.Join(dir, name+extension), language: language}
		if err := f.edit(false); err != nil {
			return nil, err
		}
		p.files = append(p.files, f)
	}
	last := len(p.files) - 1
	p.files, p.slow = p.files[:last], p.files[last]
	return p, nil
}
