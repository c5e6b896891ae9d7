package supervisor

import (
	"context"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/procscan"
)

func (s *supervisor) startReaping() {
	if s.keepCtx.Err() != nil {
		return
	}
	s.reaping = true
	reaper, wake := s.reaper, s.wake
	actors.Go(s.self, s.keepCtx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, reaper.Run(ctx, wake)
	}, func(_ struct{}, err error) any { return reaperEnded{err} }, nil)
}

// lookAtAdopted lists the adopted. It costs far less than a walk of the process table.
func (s *supervisor) lookAtAdopted() {
	if s.keepCtx.Err() != nil {
		return
	}
	s.looking = true
	reaper := s.reaper
	actors.Go(s.self, s.keepCtx, func(context.Context) ([]procscan.Info, error) { return reaper.Adopted() },
		func(adopted []procscan.Info, err error) any { return adoptedSeen{adopted, err} }, nil)
}

func (s *supervisor) onAdopted(msg adoptedSeen) {
	s.looking = false
	changed := len(msg.adopted) != len(s.adopted)
	for i := range msg.adopted {
		changed = changed || msg.adopted[i].Identity != s.adopted[i].Identity
	}
	if msg.err == nil && changed {
		s.adopted = msg.adopted
		s.machine.Publish()
	}
	s.self.After(sampleInterval, adoptedDue{})
	s.settle()
}

// endAdopted ends the processes without a mark that came to us as their parents
// ended: with the last tree gone they can belong to nothing that is still wanted.
func (s *supervisor) endAdopted() {
	reaper, grace := s.reaper, s.grace
	actors.Go(s.self, s.self.Context(), func(ctx context.Context) (struct{}, error) {
		return struct{}{}, reaper.EndAdopted(ctx, grace)
	}, func(_ struct{}, err error) any { return adoptedEnded{err} }, nil)
}

func (s *supervisor) onAdoptedEnded(err error) {
	if err != nil {
		s.self.Log().Warn("cannot end the adopted processes yet", "reason", err)
		s.self.After(retryLast, settleDue{})
		return
	}
	s.unadopted, s.adopted = true, nil
	s.settle()
}
