package supervisor

import (
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// holds are the reasons for which no tree is launched yet.
type holds uint8

const (
	// holdGuard: the guard process is being started, and has to be there before
	// the first child is.
	holdGuard holds = 1 << iota
	// holdLeftovers: what dead runtimes left still takes memory and locks that the
	// first children are going to need.
	holdLeftovers
)

// holdLimit bounds how long a launch is held up: a guard that can't be had, or a
// leftover that can't be ended, must not keep the runtime from its work.
const holdLimit = 10 * time.Second

type holdOver struct{}

// beginHolding holds every Adopt, in its order.
func (s *supervisor) beginHolding() {
	if s.guard.leash != nil {
		s.holds |= holdGuard
	}
	if s.sweepLeftovers != nil {
		s.holds |= holdLeftovers
	}
	if s.holds != 0 {
		s.self.After(holdLimit, holdOver{})
	}
}

func (s *supervisor) unhold(reasons holds) {
	if s.holds &^= reasons; s.holds != 0 {
		return
	}
	held := s.held
	s.held = nil
	for _, msg := range held {
		s.adopt(msg)
	}
}

// callOff ends a tree that is still held: it never came to be.
func (s *supervisor) callOff(id messages.TreeID) {
	for i, msg := range s.held {
		if msg.Tree == id {
			s.held = append(s.held[:i:i], s.held[i+1:]...)
			s.self.Send(msg.Owner, messages.LaunchFailed{Tree: id, Err: messages.ErrClosing})
			return
		}
	}
}
