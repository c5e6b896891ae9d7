package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/seed-f6977891/hearth/cmd/runtime/internal/render"
)

const (
	progressAfter    = time.Second // what is quicker needs no word
	progressInterval = 250 * time.Millisecond
	progressPatience = 100 * time.Millisecond // for the engine to say what it does
)

// clearLine empties a terminal's line and begins it anew.
const clearLine = "\r\x1b[K"

// progress shows, at a terminal, what a command waits for and for how long. The
// function that it gives ends that and clears the line.
func (a *app) progress(ctx context.Context, eng engine) (stop func()) {
	if a.width == 0 {
		return func() {}
	}
	line := &progressLine{out: a.stderr, width: a.width, began: time.Now(), what: func() string {
		ctx, cancel := context.WithTimeout(ctx, progressPatience)
		defer cancel()
		status, err := eng.Status(ctx)
		if err != nil {
			return ""
		}
		return render.Awaited(status)
	}}
	line.mu.Lock()
	defer line.mu.Unlock()
	line.timer = time.AfterFunc(progressAfter, line.paint)
	return line.clear
}

// progressLine is a line of a terminal that is painted over and over.
type progressLine struct {
	out   io.Writer
	width int
	began time.Time
	what  func() string

	mu      sync.Mutex // over the line and the fields below
	timer   *time.Timer
	painted bool
	over    bool
}

// paint runs on the timer's goroutine.
func (l *progressLine) paint() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	text := l.what()
	if text == "" {
		text = "waiting for the engine"
	}
	line := []rune(fmt.Sprintf("%s (%s)", text, time.Since(l.began).Truncate(time.Second)))
	if len(line) >= l.width { // a line that wraps could not be painted over
		line = line[:l.width-1]
	}
	fmt.Fprint(l.out, clearLine+string(line))
	l.painted = true
	l.timer.Reset(progressInterval)
}

// clear waits for a paint that is in work, so that nothing is written after it.
func (l *progressLine) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	l.timer.Stop()
	if l.painted {
		fmt.Fprint(l.out, clearLine)
	}
}
