package supervisor

import (
	"fmt"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// onDown begins to clear away an actor that failed: what is below it is ended, not
// merely forgotten.
func (s *supervisor) onDown(down messages.Down) {
	if t := s.census.bySweeper(down.From); t != nil {
		s.onSweeperDown(t, down)
		return
	}
	s.dead[down.From] = &fallen{ref: down.From, parent: down.Parent, workersOut: down.Workers > 0}
	s.refuseBuild(down)
	for _, h := range s.self.System().Roster().Below(down.From) {
		if h.Parent().Ref() == down.From {
			h.Send(messages.Abort{}) // it passes on what is below it
		}
	}
	for _, t := range s.census.ownedBelow(down.From) {
		t.sweeper.Send(messages.Sweep{Tree: t.id})
	}
	s.clearAway()
}

func (s *supervisor) onWorkersIn(ref messages.Ref) {
	if t := s.census.bySweeper(ref); t != nil && t.fallen != nil {
		t.fallen.workersOut = false
		s.succeed(t)
		return
	}
	if f := s.dead[ref]; f != nil {
		f.workersOut = false
		s.clearAway()
	}
}

// onClosed hears that a child has finished: one of ours, or one whose parent is
// dead and passed it on.
func (s *supervisor) onClosed(from messages.Ref) {
	for _, child := range s.permanents {
		if child.handle.Ref() == from {
			child.gone = true
			child.handle.Stop()
			s.settle()
			return
		}
	}
	if t := s.temporary[from]; t != nil {
		delete(s.temporary, from)
		t.handle.Stop()
		s.settle()
		return
	}
	s.closed[from] = true
	s.clearAway()
}

// clearAway removes every dead actor whose part is empty. One that goes may make
// its parent's part empty in turn, so it looks until nothing changes.
func (s *supervisor) clearAway() {
	for again := true; again; {
		again = false
		for _, f := range s.dead {
			if s.partIsEmpty(f) {
				s.bury(f)
				again = true
			}
		}
	}
	s.settle()
}

// partIsEmpty tells whether nothing is left at or below a dead actor: no tree, no
// worker of its own, and no child that still has something to finish.
func (s *supervisor) partIsEmpty(f *fallen) bool {
	if f.workersOut || len(s.census.ownedBelow(f.ref)) > 0 {
		return false
	}
	for _, h := range s.self.System().Roster().Below(f.ref) {
		if h.Parent().Ref() == f.ref && !s.closed[h.Ref()] {
			return false // it will say Closed, or it is dead itself and goes first
		}
	}
	return true
}

func (s *supervisor) bury(f *fallen) {
	delete(s.dead, f.ref)
	roster := s.self.System().Roster()
	for _, h := range roster.Below(f.ref) {
		delete(s.closed, h.Ref())
		h.Stop()
		s.retract(h.ID())
	}
	if h := roster.Lookup(f.ref); h != nil {
		h.Stop()
	}
	s.retract(f.ref.ID)
	s.self.Send(f.parent, messages.TreesGone{From: f.ref})
	for _, child := range s.permanents {
		if child.handle.Ref() == f.ref {
			s.restart(child)
		}
	}
	delete(s.temporary, f.ref)
}

func (s *supervisor) retract(id string) {
	for _, child := range s.permanents {
		if child.observer {
			child.handle.Send(messages.Retract{Key: id})
		}
	}
}

// restart brings a permanent child back, unless everything is ending or it fails
// too often. An Observer that fails too often ends alone: status is refused, and
// everything else goes on.
func (s *supervisor) restart(child *permanentChild) {
	// A failed runtime's status still answers, so its Observer still comes back.
	ending := s.machine.In(stopping, aborting, stopped) || s.machine.In(failed) && !child.observer
	switch allowed := child.window.allow(time.Now()); {
	case ending, !allowed && child.observer:
		child.gone = true
	case !allowed:
		child.gone = true
		s.failRuntime(fmt.Errorf("%s failed more than %d times in %s", child.name, intensity, period))
	default:
		s.restarts[child.name]++
		s.start(child)
		s.self.Event(messages.EventRestarted, messages.Key{}, child.name)
		if child.observer {
			for _, h := range s.self.System().Roster().Live() {
				h.Send(messages.Republish{})
			}
		}
		s.machine.Publish()
	}
}

// failRuntime ends a runtime that can't go on: its callers are refused from now
// on, what it holds is aborted, and status still answers.
func (s *supervisor) failRuntime(reason error) {
	s.fail(messages.Errorf(messages.KindInternal, "the runtime has failed: %w; start another", reason))
	s.machine.Become(failed)
	s.unhold(holdGuard | holdLeftovers) // what was held is refused
	s.tellClosables(messages.Abort{})
}
