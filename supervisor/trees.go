package supervisor

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/sweeper"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// adopt enters a tree into the census before it exists. While Stopping it goes on:
// a pool that drains needs a fresh child for each admitted call.
func (s *supervisor) adopt(msg messages.Adopt) {
	if s.holds != 0 && s.machine.In(running, stopping) {
		s.held = append(s.held, msg)
		return
	}
	owner := s.self.System().Roster().Lookup(msg.Owner)
	if !s.machine.In(running, stopping) || owner == nil || s.belowDead(owner) {
		s.self.Send(msg.Owner, messages.LaunchFailed{Tree: msg.Tree, Err: messages.ErrClosing})
		return
	}
	t := &tree{id: msg.Tree, owner: owner, role: msg.Role, key: msg.Key, mark: procscan.NewMark(procscan.SessionVar), grace: s.grace}
	if msg.Grace > 0 {
		t.grace.Term = msg.Grace
	}
	s.census.trees[t.id] = t
	s.spawnSweeper(t)
	spec := msg.Spec
	spec.Marks = []procscan.Mark{t.mark, s.mark}
	t.sweeper.Send(messages.Launch{Spec: spec, Start: msg.Start})
	s.machine.Publish()
}

func (s *supervisor) belowDead(h *actors.Handle) bool {
	for ref := range s.dead {
		if h.IsAtOrBelow(ref) {
			return true
		}
	}
	return false
}

func (s *supervisor) spawnSweeper(t *tree) {
	t.sweeper = s.self.Spawn("sweeper", fmt.Sprint(t.id), sweeper.New(sweeper.Config{Tree: t.id, Owner: t.owner.Ref(),
		Role: t.role, Key: t.key, Mark: t.mark, Launcher: s.launcher, Table: s.table, Grace: t.grace, Child: t.child}))
	s.census.sweepers[t.sweeper.Ref()] = t
}

// onTree handles what concerns one tree of the census. A tree that is not in it is
// gone already, and asks for nothing more.
func (s *supervisor) onTree(msg any) {
	switch msg := msg.(type) {
	case messages.Launched:
		if t := s.census.trees[msg.Tree]; t != nil {
			t.child = msg.Child
			s.startSampling()
		}
	case messages.LaunchFailed:
		s.strike(msg.Tree)
	case messages.LeaderReaped:
		s.strike(msg.Tree)
	case messages.Sweep:
		if t := s.census.trees[msg.Tree]; t != nil {
			t.sweeper.Send(msg)
		} else {
			s.callOff(msg.Tree)
		}
	case messages.SignalTree:
		if t := s.census.trees[msg.Tree]; t != nil {
			t.sweeper.Send(msg)
		}
	case messages.LaunchOrphaned:
		if t := s.census.trees[msg.Tree]; t != nil && msg.Child != nil {
			t.child = msg.Child
		}
	case sweptAnyway:
		if t := s.census.trees[msg.tree]; t != nil {
			s.onSweptAnyway(t, msg)
		}
	case sweepAnywayDue:
		if t := s.census.trees[msg.tree]; t != nil {
			s.sweepAnyway(t)
		}
	}
}

// strike takes a tree that is gone out of the census.
func (s *supervisor) strike(id messages.TreeID) {
	t := s.census.trees[id]
	if t == nil {
		return
	}
	delete(s.census.trees, id)
	delete(s.census.sweepers, t.sweeper.Ref())
	t.sweeper.Stop()
	s.machine.Publish()
	for at := t.owner; at != nil; at = at.Parent() {
		if f := s.dead[at.Ref()]; f != nil {
			f.trees--
			s.clearAway(f)
		}
	}
	s.settle()
}

// onSweeperDown finds a successor for a Sweeper that failed, once its last worker
// is in: two must never work on one child.
func (s *supervisor) onSweeperDown(t *tree, down messages.Down) {
	t.failures++
	t.fallen = &fallenSweep{reason: down.Reason, workersOut: down.Workers > 0}
	s.succeed(t)
}

func (s *supervisor) succeed(t *tree) {
	if t.fallen.workersOut {
		return // a launch that is still out may bring a child
	}
	reason := t.fallen.reason
	t.fallen = nil
	delete(s.census.sweepers, t.sweeper.Ref())
	t.sweeper.Stop()
	switch {
	case t.child == nil: // it failed before there was anything to end
		s.self.Send(t.owner.Ref(), messages.LaunchFailed{Tree: t.id, Err: reason})
		s.strike(t.id)
	case t.failures > intensity:
		s.sweepAnyway(t)
	default:
		s.spawnSweeper(t)
	}
}

// sweepAnyway tries to end a tree whose Sweepers keep failing by plain work. What
// made them fail may make this fail too: only its success counts.
func (s *supervisor) sweepAnyway(t *tree) {
	id, child, mark, table, grace := t.id, t.child, t.mark, s.table, t.grace
	actors.Go(s.self, s.self.Context(), func(ctx context.Context) (procscan.Status, error) {
		return endTree(ctx, child, table, mark, grace)
	}, func(status procscan.Status, err error) any { return sweptAnyway{id, status, err} }, nil)
}

// onSweptAnyway goes on as long as it takes, as a Sweeper would.
func (s *supervisor) onSweptAnyway(t *tree, msg sweptAnyway) {
	if msg.err != nil {
		s.self.Log().Warn("cannot end a tree", "tree", msg.tree, "reason", msg.err)
		s.self.After(time.Second, sweepAnywayDue{msg.tree})
		return
	}
	s.self.Send(t.owner.Ref(), messages.LeaderReaped{Tree: msg.tree, Status: msg.status})
	s.strike(msg.tree)
}

func endTree(ctx context.Context, child procscan.Child, table procscan.Table, mark procscan.Mark,
	grace procscan.Grace) (procscan.Status, error) {
	_ = child.CloseStdin() // closed before, mostly
	if err := procscan.RetireGroup(ctx, child, grace); err != nil {
		return procscan.Status{}, err
	}
	target := procscan.Target{Mark: mark, Leader: child.Identity(), Cage: child.Cage()}
	if err := procscan.Sweep(ctx, table, target, grace); err != nil {
		return procscan.Status{}, err
	}
	return child.Reap(ctx)
}
