//go:build linux

package soak_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/client"
)

// agent makes one call after the other.
type agent struct {
	w      *world
	number int
	rng    *rand.Rand
	line   line
}

// line is what an agent calls by, and how many upgrades were over when it was made.
type line struct {
	by   caller
	made int64
}

// pause is how long an agent thinks at most between two calls.
const pause = 400 * time.Millisecond

// work calls until ctx ends. Each call has its whole time: the end of the work is no
// excuse.
func (a *agent) work(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		if a.line.by == nil && !a.connect(ctx) {
			return
		}
		c := draw(a.rng, a.w, a.number, n)
		calling, cancel := c.context(context.Background())
		begun := time.Now()
		sign, err := c.do(calling, a.line.by)
		ended := time.Now()
		cancel()
		if a.w.judge(c, a.line, sign, err, begun, ended) {
			a.disconnect()
		}
		sleep(ctx, time.Duration(a.rng.Int64N(int64(pause))))
	}
	a.disconnect()
}

// sharers is how many of the agents use the shared connection.
const sharers = 8

func (a *agent) connect(ctx context.Context) bool {
	if a.number < sharers {
		a.line = a.w.shared.get(ctx, a.w)
		return a.line.by != nil
	}
	a.line.made = a.w.finished.Load()
	c, err := a.w.client()
	if err != nil {
		a.w.breach("agent %d has no client: %v", a.number, err)
		return false
	}
	a.line.by = c
	return true
}

func (a *agent) disconnect() {
	if c, own := a.line.by.(*client.Client); own {
		_ = c.Close()
	}
	a.line.by = nil
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// judge holds what came of a call against what happened to it. It tells whether the
// agent has to connect anew.
func (w *world) judge(c call, l line, sign string, err error, begun, ended time.Time) (reconnect bool) {
	var excuses []excuse
	switch c.deed {
	case limited:
		excuses = append(excuses, ownLimit)
	case hurried:
		excuses = append(excuses, ownDeadline)
	case cancelled:
		excuses = append(excuses, ownLeave)
	}
	if c.kind != status && c.project.wasStruck(begun) {
		excuses = append(excuses, struck)
	}
	touched := w.started.Load() > l.made
	if touched {
		excuses = append(excuses, upgraded)
	}
	kind := messages.KindOf(err)
	switch {
	case err == nil && !c.expected(sign, begun, ended):
		w.breach("the answer is another's: %q for %v, called %v before its end", sign, c, ended.Sub(begun))
	case err != nil && !excused(err, excuses):
		w.breach("%v (%v) after %v for %v with the excuses %v", err, kind, ended.Sub(begun), c, excuses)
	}
	w.figures.note(c, ended.Sub(begun), err, kind.String(), excuses)
	if c.kind == run {
		least, most := times(err)
		w.promise(c.label, least, most)
	}
	return err != nil && touched
}

// shared is the connection of the agents that share one.
type shared struct {
	mu   sync.Mutex
	taps []*tap
	line line // the present one
}

// get gives the present connection, and makes it anew after an upgrade.
func (s *shared) get(ctx context.Context, w *world) line {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ctx.Err() == nil {
		made := w.finished.Load()
		if s.line.by != nil && s.line.made == made {
			return s.line
		}
		c, err := w.client(client.WithoutStart())
		if err != nil {
			w.breach("no client: %v", err)
			return line{}
		}
		if t, err := openTap(c.Socket()); err == nil {
			s.taps = append(s.taps, t)
			s.line = line{t, made}
			return s.line
		}
		sleep(ctx, 20*time.Millisecond) // the daemon is being replaced
	}
	return line{}
}

// close ends all connections and gives their breaches.
func (s *shared) close() (breaches []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.taps {
		_ = t.Close()
		breaches = append(breaches, t.found()...)
	}
	return breaches
}
