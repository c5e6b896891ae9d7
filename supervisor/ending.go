package supervisor

import (
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// onEnd handles the ways in which a runtime is asked to end.
func (s *supervisor) onEnd(msg any) {
	switch msg := msg.(type) {
	case shutdown:
		s.waiting = append(s.waiting, waiter{msg.reply, s.self.Expire(msg.ctx, shutdownOver{})})
		switch s.machine.State() {
		case running:
			s.machine.Become(stopping)
			s.tellClosables(messages.Close{})
		case failed: // nothing is left that could be finished in order
			s.abortAll()
		}
		s.settle()
	case abort:
		s.waiting = append(s.waiting, waiter{reply: msg.reply})
		s.abortAll()
		s.settle()
	case shutdownOver:
		s.abortAll()
	case graceOver:
		s.answer(s.unreaped())
	}
}

// abortAll aborts what is there, once, and arms the grace for whoever waits now.
func (s *supervisor) abortAll() {
	if s.machine.In(running, stopping, failed) {
		s.machine.Become(aborting)
		s.unhold(holdGuard | holdLeftovers) // what was held is refused
		s.tellClosables(messages.Abort{})
	}
	if s.machine.In(aborting) && len(s.waiting) > 0 {
		s.machine.After(s.abortGrace, graceOver{})
	}
}

// tellClosables sends to every child that has something to finish.
func (s *supervisor) tellClosables(msg any) {
	for _, child := range s.permanents {
		if !child.observer && !child.gone {
			child.handle.Send(msg)
		}
	}
	for _, t := range s.temporary {
		t.handle.Send(msg)
	}
}

// settle ends what keeps watch and then the Observer, the last of all, once nothing
// else is left.
func (s *supervisor) settle() {
	if s.machine.In(stopped) {
		s.answer(nil)
		return
	}
	if !s.machine.In(stopping, aborting) || len(s.census.trees) > 0 || len(s.dead) > 0 || s.self.Workers() > s.keepers() {
		return
	}
	roster, observer := s.self.System().Roster(), s.observer()
	observed := observer != nil && roster.Lookup(observer.Ref()) != nil
	if others := roster.Len() - 1; others > 1 || others == 1 && !observed {
		return
	}
	if !s.endKeeping() {
		return // its workers' answers bring us here again
	}
	if observed {
		observer.Stop() // its Stopped brings us here again
		return
	}
	s.machine.Become(stopped)
	s.answer(nil)
}

func (s *supervisor) observer() *actors.Handle {
	for _, child := range s.permanents {
		if child.observer {
			return child.handle
		}
	}
	return nil
}

func (s *supervisor) answer(err error) {
	for _, w := range s.waiting {
		if err != nil {
			w.reply.Fail(err)
		} else {
			w.reply.Send(struct{}{})
		}
		if w.callOff != nil {
			w.callOff() // the context may outlive the runtime by far
		}
	}
	s.waiting = nil
}

// unreaped says what is left when the grace of an abort is over.
func (s *supervisor) unreaped() error {
	left := &messages.UnreapedError{}
	sweepers := make(map[messages.Ref]bool)
	for _, t := range s.census.trees {
		left.Trees = append(left.Trees, t.snapshot())
		sweepers[t.sweeper.Ref()] = true
	}
	observer := s.observer()
	for _, h := range s.self.System().Roster().Live() {
		if h.Ref() != s.self.Ref() && h != observer && !sweepers[h.Ref()] {
			left.Stuck = append(left.Stuck, h.ID())
		}
	}
	left.Stuck = append(left.Stuck, s.stuckKeepers()...)
	return left
}

// sampleInterval is how often the memory of all trees is measured while there is
// any: one walk of the process table.
const sampleInterval = 2 * time.Second

// startSampling measures now, unless the next measurement is due anyway.
func (s *supervisor) startSampling() {
	if s.sampling {
		return
	}
	s.sampling = true
	actors.Go(s.self, s.self.Context(), s.sample, func(trees map[string]procscan.TreeSample, err error) any {
		return sampled{time.Now(), trees, err}
	}, nil)
}

func (s *supervisor) onSample(msg any) {
	switch msg := msg.(type) {
	case sampled:
		s.publishSample(msg)
		s.self.After(sampleInterval, sampleDue{})
		s.settle()
	case sampleDue:
		s.sampling = false
		if s.census.launched() > 0 {
			s.startSampling()
		}
	}
}

// publishSample hands the sample to the Observer and to the trees' owners, which
// may have a limit to keep.
func (s *supervisor) publishSample(msg sampled) {
	if msg.err != nil {
		s.self.Log().Warn("cannot measure the trees' memory", "reason", msg.err)
		return
	}
	out := messages.Sampled{At: msg.at, Trees: make(map[messages.TreeID]procscan.TreeSample)}
	for value, id := range s.census.byMark() {
		if sample, ok := msg.trees[value]; ok {
			out.Trees[id] = sample
		}
	}
	if observer := s.observer(); observer != nil {
		observer.Send(out)
	}
	for _, t := range s.census.trees {
		if t.role == messages.RoleREPL {
			t.owner.Send(out)
		}
	}
}
