package supervisor

import (
	"fmt"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// onDown begins to clear away an actor that failed: what is below it is ended, not
// merely forgotten.
func (s *supervisor) onDown(down messages.Down) {
	if t := s.census.sweepers[down.From]; t != nil {
		s.onSweeperDown(t, down)
		return
	}
	f := &fallen{ref: down.From, parent: down.Parent, workersOut: down.Workers > 0, open: make(map[messages.Ref]bool)}
	s.dead[f.ref] = f
	s.refuseBuild(down)
	for _, h := range s.self.System().Roster().Below(f.ref) {
		if h.Parent().Ref() == f.ref {
			f.open[h.Ref()] = true
			h.Send(messages.Abort{}) // it passes on what is below it
		}
	}
	for _, t := range s.census.ownedBelow(f.ref) {
		f.trees++
		t.sweeper.Send(messages.Sweep{Tree: t.id})
	}
	s.clearAway(f)
}

func (s *supervisor) onWorkersIn(ref messages.Ref) {
	if t := s.census.sweepers[ref]; t != nil && t.fallen != nil {
		t.fallen.workersOut = false
		s.succeed(t)
		return
	}
	if f := s.dead[ref]; f != nil {
		f.workersOut = false
		s.clearAway(f)
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
	if h := s.self.System().Roster().Lookup(from); h != nil {
		s.noLongerOpen(from, h.Parent().Ref())
	}
}

// noLongerOpen notes that a child has nothing left to finish, or has ended.
func (s *supervisor) noLongerOpen(child, parent messages.Ref) {
	if f := s.dead[parent]; f != nil {
		delete(f.open, child)
		s.clearAway(f)
	}
}

// clearAway removes a dead actor if its part is empty: no tree is left at or below
// it, no worker of its own, and no child that still has something to finish. A child
// that is dead itself goes first, and its parent is looked at again when it has ended.
func (s *supervisor) clearAway(f *fallen) {
	if !f.workersOut && f.trees == 0 && len(f.open) == 0 {
		s.bury(f)
		s.settle()
	}
}

func (s *supervisor) bury(f *fallen) {
	delete(s.dead, f.ref)
	roster := s.self.System().Roster()
	for _, h := range roster.Below(f.ref) {
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
	case ending:
		child.gone = true
	case !allowed && child.observer:
		child.gone = true
		child.at.lost.Store(true)
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
