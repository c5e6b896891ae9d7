package supervisor

import (
	"fmt"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// Between two sweeps of leftovers that failed, doubling.
const (
	leftWaitFirst = time.Second
	leftWaitLast  = 30 * time.Second
)

func (s *supervisor) startLeftovers() {
	if s.keepCtx.Err() != nil {
		return
	}
	s.sweepLeft, s.leftovers = true, "sweeping what dead runtimes left behind"
	s.machine.Publish()
	actors.Go(s.self, s.keepCtx, s.sweepLeftovers,
		func(found []Leftover, err error) any { return leftoversSwept{found, err} }, nil)
}

func (s *supervisor) onLeftovers(msg leftoversSwept) {
	s.sweepLeft, s.leftovers = false, ""
	for _, left := range msg.found {
		if left.Err == nil {
			s.self.Event(messages.EventReaped, messages.Key{}, fmt.Sprintf("%d processes of runtime %d, which had died", len(left.Processes), left.PID))
		}
	}
	if msg.err != nil && s.keepCtx.Err() == nil {
		s.leftovers = fmt.Sprintf("what a dead runtime left is not ended, next attempt in %s: %v", s.leftWait, msg.err)
		s.self.Event(messages.EventSweepFailed, messages.Key{}, s.leftovers)
		s.self.After(s.leftWait, leftoversDue{})
		s.leftWait = min(2*s.leftWait, leftWaitLast)
	}
	s.machine.Publish()
	if msg.err == nil {
		s.unhold(holdLeftovers)
	}
	s.settle()
}
