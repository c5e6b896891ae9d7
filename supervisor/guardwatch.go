package supervisor

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// leash ties the guard process to the runtime. It isn't the supervisor's own, since
// the guard has to outlive a supervisor that failed: only the runtime's end lets
// go of it.
type leash struct {
	run     func(ctx context.Context, tell func(guardStep)) error
	ctx     context.Context // ends with the farewell
	dismiss context.CancelFunc
	running sync.WaitGroup
}

func newLeash(run func(context.Context, func(guardStep)) error) *leash {
	l := &leash{run: run}
	l.ctx, l.dismiss = context.WithCancel(context.Background())
	return l
}

// farewell dismisses the guard and waits for its end, which is bounded. Nothing may
// start another one meanwhile.
func (l *leash) farewell() {
	if l != nil {
		l.dismiss()
		l.running.Wait()
	}
}

// guarding is what the supervisor knows of its guard process.
type guarding struct {
	leash    *leash // nil: no guard was asked for
	out      bool   // one is started or watched
	state    string // as status shows it
	since    time.Time
	failures int // in a row
}

type (
	guardDue   struct{}
	guardTold  struct{ step guardStep }
	guardEnded struct{ err error }
)

const (
	// A guard that ends is replaced after a back-off that doubles from the first to
	// the last: until then nobody guards.
	guardBackoffFirst = 10 * time.Millisecond
	guardBackoffLast  = 10 * time.Second
	// guardProven is how long a guard has to last to be forgiven the failures before.
	guardProven = 10 * time.Second
)

func (s *supervisor) startGuard() {
	if s.guard.leash == nil || s.guard.leash.ctx.Err() != nil {
		return
	}
	s.guard.out, s.guard.since = true, time.Now()
	s.showGuard("starting")
	self, leash := s.self, s.guard.leash
	leash.running.Add(1)
	actors.Go(self, leash.ctx, func(ctx context.Context) (struct{}, error) {
		defer leash.running.Done()
		return struct{}{}, leash.run(ctx, func(step guardStep) { self.Tell(guardTold{step}) })
	}, func(_ struct{}, err error) any { return guardEnded{err} }, nil)
}

func (s *supervisor) onGuard(msg any) {
	switch msg := msg.(type) {
	case guardDue:
		s.startGuard()
	case guardTold:
		if msg.step.watching {
			s.showGuard(fmt.Sprintf("watching (process %d)", msg.step.pid))
		}
		s.unhold(holdGuard)
	case guardEnded:
		s.guard.out = false
		s.unhold(holdGuard) // rather without a guard than not at all
		s.replaceGuard(msg.err)
		s.settle()
	}
}

// replaceGuard starts the next guard in a while, unless this one was dismissed.
func (s *supervisor) replaceGuard(reason error) {
	if s.guard.leash.ctx.Err() != nil {
		s.showGuard("dismissed")
		return
	}
	if time.Since(s.guard.since) > guardProven {
		s.guard.failures = 0
	}
	wait := min(guardBackoffFirst<<min(s.guard.failures, 16), guardBackoffLast)
	s.guard.failures++
	s.self.Log().Warn("the guard process ended", "reason", reason, "next", wait)
	s.self.Event(messages.EventRestarted, messages.Key{}, fmt.Sprintf("guard: %v", reason))
	s.showGuard(fmt.Sprintf("starting again in %s: %v", wait, reason))
	s.self.After(wait, guardDue{})
}

func (s *supervisor) showGuard(state string) {
	s.guard.state = state
	s.machine.Publish()
}
