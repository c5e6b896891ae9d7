package supervisor

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// reaper is what the supervisor asks of a procscan.Reaper.
type reaper interface {
	Run(ctx context.Context, wake <-chan os.Signal) error
	Adopted() ([]procscan.Info, error)
	EndAdopted(ctx context.Context, grace procscan.Grace) error
}

// keeping is what the supervisor does beside its trees so that nothing survives:
// the guard, the orphans that were given to this process, and what dead runtimes
// left. It outlives every tree.
type keeping struct {
	guard     guarding
	holds     holds
	held      []messages.Adopt
	stopKeep  context.CancelFunc // of the work below
	keepCtx   context.Context
	reaping   bool // a worker reaps orphans
	looking   bool // a worker lists the adopted
	adopted   []procscan.Info
	unadopted bool // the adopted were ended, for the shutdown
	cleaned   bool // the control groups and the file are gone, for the shutdown
	sweepLeft bool // a worker sweeps leftovers
	leftovers string
	leftWait  time.Duration
}

type (
	reaperEnded struct{ err error }
	reapDue     struct{}
	adoptedDue  struct{}
	adoptedSeen struct {
		adopted []procscan.Info
		err     error
	}
	adoptedEnded   struct{ err error }
	settleDue      struct{}
	cleanedUp      struct{}
	leftoversDue   struct{}
	leftoversSwept struct {
		found []Leftover
		err   error
	}
)

// beginKeeping starts what keeps watch, before the first tree.
func (s *supervisor) beginKeeping() {
	s.keepCtx, s.stopKeep = context.WithCancel(s.self.Context())
	s.guard.leash = s.leash
	s.leftWait = leftWaitFirst
	s.beginHolding()
	s.startGuard()
	if s.sweepLeftovers != nil {
		s.startLeftovers()
	}
	if s.reaper != nil {
		s.startReaping()
		s.lookAtAdopted()
	}
}

func (s *supervisor) onKeep(msg any) {
	switch msg := msg.(type) {
	case holdOver:
		s.unhold(holdGuard | holdLeftovers)
	case reaperEnded:
		s.reaping = false
		if s.keepCtx.Err() == nil {
			s.self.Log().Error("cannot reap orphans", "reason", msg.err)
			s.self.After(retryLast, reapDue{})
		}
		s.settle()
	case reapDue:
		s.startReaping()
	case adoptedDue:
		s.lookAtAdopted()
	case adoptedSeen:
		s.onAdopted(msg)
	case adoptedEnded:
		s.onAdoptedEnded(msg.err)
	case leftoversDue:
		s.startLeftovers()
	case leftoversSwept:
		s.onLeftovers(msg)
	case settleDue:
		s.settle()
	case cleanedUp:
		s.cleaned = true
		s.settle()
	}
}

// endKeeping ends what keeps watch, once nothing else is left. It is true when all
// of that has ended.
func (s *supervisor) endKeeping() bool {
	if s.reaper != nil && !s.unadopted {
		s.endAdopted()
		return false
	}
	if (s.containment != nil || s.record != nil) && !s.cleaned {
		s.clean()
		return false
	}
	s.stopKeep()
	if s.guard.leash != nil {
		s.guard.leash.dismiss()
	}
	return s.keepers() == 0
}

// clean takes the control groups and the file away while the guard still watches: with
// a farewell first, a death in between would leave them to nobody.
func (s *supervisor) clean() {
	keep := s.keep
	actors.Go(s.self, s.self.Context(), func(context.Context) (struct{}, error) {
		keep.clear()
		return struct{}{}, nil
	}, func(struct{}, error) any { return cleanedUp{} }, nil)
}

// keepers counts the workers that are out to keep watch.
func (s *supervisor) keepers() (n int) {
	for _, out := range []bool{s.guard.out, s.reaping, s.looking, s.sweepLeft} {
		if out {
			n++
		}
	}
	return n
}

// stuckKeepers names what the end of the runtime still waits for, beside trees and
// actors.
func (s *supervisor) stuckKeepers() (stuck []string) {
	for _, p := range s.adopted {
		stuck = append(stuck, fmt.Sprintf("adopted process %d (%s)", p.PID, p.Comm))
	}
	if s.guard.out {
		stuck = append(stuck, "guard process: "+s.guard.state)
	}
	if s.sweepLeft {
		stuck = append(stuck, s.leftovers)
	}
	return stuck
}
