package repl

import (
	"cmp"
	"maps"
	"slices"

	"github.com/seed-f6977891/hearth/messages"
)

// onEnd handles being told to end. What a worker has is its own to finish, or to
// break off; the rest was never begun.
func (p *Pool) onEnd(msg any) {
	_, aborted := msg.(messages.Abort)
	if p.machine.In(poolClosed) || p.machine.In(poolClosing) && !aborted {
		return // it joins
	}
	reason := messages.ErrClosing
	if aborted {
		reason = messages.ErrAborted
	}
	if p.machine.In(poolStarting, poolOpen) {
		if p.timer != nil {
			p.timer.Stop()
		}
		p.machine.Become(poolClosing)
		p.refuseQueue(reason)
	}
	for _, slot := range p.slots {
		if slot.worker != nil {
			slot.worker.Send(msg)
		}
	}
	p.finish()
}

func (p *Pool) refuseQueue(reason error) {
	for _, id := range p.queue.Drain() {
		p.answer(p.calls[id], messages.RunReport{}, reason)
	}
}

// finish says Closed once no worker is left, nor the goroutine that prepared them.
func (p *Pool) finish() {
	if !p.machine.In(poolClosing) || p.self.Workers() > 0 {
		return
	}
	for _, slot := range p.slots {
		if slot.worker != nil {
			return
		}
	}
	p.machine.Become(poolClosed)
	p.self.Retract()
	p.self.TellParent(messages.Closed{From: p.self.Ref()})
}

// RefuseAll answers what a failed Pool holds: what waited was never begun, what a
// worker has may have run.
func (p *Pool) RefuseAll(cause error) {
	calls := slices.SortedFunc(maps.Values(p.calls), func(a, b *poolCall) int { return cmp.Compare(a.op.ID, b.op.ID) })
	for _, c := range calls {
		if c.handed {
			c.op.Refuse(mayHaveRun(cause))
		} else {
			c.op.Refuse(cause)
		}
	}
}
