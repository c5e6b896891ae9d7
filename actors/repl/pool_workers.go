package repl

import (
	"fmt"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// onStarting handles what brings workers up, or shows that one can't be.
func (p *Pool) onStarting(msg any) {
	switch msg := msg.(type) {
	case prepared:
		p.onPrepared(msg)
	case startDue:
		if p.machine.In(poolOpen) {
			p.serve()
		}
	case messages.Ready:
		p.onReady(p.slotOf(msg.From))
	case messages.StartFailed:
		p.onStartFailed(p.slotOf(msg.From), msg.Err)
	case messages.Ending:
		p.onEnding(p.slotOf(msg.From), msg.Err)
	}
}

func (p *Pool) onPrepared(msg prepared) {
	switch {
	case !p.machine.In(poolStarting):
		p.finish()
	case msg.err != nil:
		p.startFailed(msg.err)
	default:
		p.warm = msg.warm
		if header := p.cfg.Header; header != nil {
			p.headers = NewHeaders(p.warm, header.Allowed, header.Spec.Argv != nil)
		}
		p.refill()
	}
}

// refill starts a worker in every slot where one is due, and sets the timer for the
// next that is not due yet.
func (p *Pool) refill() {
	for _, at := range p.queue.Starts(time.Now()) {
		p.slots[at] = poolSlot{worker: p.self.Spawn("worker", fmt.Sprint(at),
			p.workers(workerConfig{PoolConfig: p.cfg, warm: p.warm}))}
	}
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	if due, ok := p.queue.NextStart(); ok {
		p.timer = p.self.After(time.Until(due), startDue{})
	}
}

// slotOf gives the slot of a worker, -1 for one that is no longer there.
func (p *Pool) slotOf(ref messages.Ref) int {
	for at, slot := range p.slots {
		if slot.worker != nil && slot.worker.Ref() == ref {
			return at
		}
	}
	return -1
}

func (p *Pool) onReady(slot int) {
	if slot < 0 || !p.machine.In(poolStarting, poolOpen) {
		return
	}
	p.slots[slot].ready = time.Now()
	p.queue.Ready(slot)
	if p.machine.In(poolStarting) {
		p.machine.Become(poolOpen)
		p.self.TellParent(messages.Ready{From: p.self.Ref()})
		return
	}
	p.serve()
}

func (p *Pool) onStartFailed(slot int, err error) {
	if slot < 0 || !p.machine.In(poolStarting, poolOpen) {
		return
	}
	p.queue.StartFailed(slot, time.Now())
	p.cause = err
	p.self.Event(messages.EventBroken, p.cfg.Key, err.Error())
	switch {
	case p.machine.In(poolStarting) && p.queue.Counts()[Warming] == 0:
		p.startFailed(err)
	case p.machine.In(poolOpen):
		if p.queue.Hopeless() {
			p.refuseQueue(err)
		}
		p.serve()
	}
}

// startFailed gives up a pool of which no worker came to be.
func (p *Pool) startFailed(err error) {
	p.cause = err
	p.self.TellParent(messages.StartFailed{From: p.self.Ref(), Err: err})
	p.machine.Become(poolClosing)
	p.finish()
}

// onEnding hears that an idle worker is ending by itself. A call that is on its way to
// it comes back.
func (p *Pool) onEnding(slot int, err error) {
	if slot < 0 || !p.machine.In(poolOpen) || p.queue.State(slot) != Warm {
		return
	}
	p.endIdle(slot)
	p.replaced(slot, err)
	p.serve()
}

// endIdle takes an idle worker out of the reserve. One that hardly lived counts as a
// start that failed, or a program that soon exits would be started without end.
func (p *Pool) endIdle(slot int) {
	if time.Since(p.slots[slot].ready) < longestBackoff {
		p.queue.StartFailed(slot, time.Now())
	} else {
		p.queue.End(slot)
	}
}

// replaced notes that a worker has to be replaced that was not simply spent.
func (p *Pool) replaced(slot int, cause error) {
	if cause == nil {
		return
	}
	p.cause = cause
	p.restarts++
	p.self.Event(messages.EventRestarted, p.cfg.Key, fmt.Sprintf("worker %d: %s", slot, cause))
}

// onGone handles the end of a worker: its failure, and that nothing is left of it.
func (p *Pool) onGone(msg any) {
	switch msg := msg.(type) {
	case messages.Down:
		p.onDown(p.slotOf(msg.From), msg.Reason)
	case messages.TreesGone:
		slot := p.slotOf(msg.From)
		p.onDown(slot, errWorkerFailed)
		p.emptied(slot)
	case messages.Closed:
		p.emptied(p.slotOf(msg.From))
	}
}

// onDown takes a failed worker's slot out of use until its trees are gone.
func (p *Pool) onDown(slot int, reason error) {
	if slot < 0 {
		return
	}
	if p.slots[slot].call != nil {
		p.answerOf(slot, messages.RunReport{}, mayHaveRun(reason))
	}
	if !p.machine.In(poolStarting, poolOpen) {
		return
	}
	switch p.queue.State(slot) {
	case Warming:
		p.onStartFailed(slot, reason)
		return
	case Warm:
		p.endIdle(slot)
	case Busy:
		p.queue.Settled(slot, false)
	default: // it was ending, or this is the second word of the same failure
		return
	}
	p.replaced(slot, reason)
	if p.machine.In(poolOpen) {
		p.serve()
	}
}

// errWorkerFailed is the reason where that of the failure itself was not told.
var errWorkerFailed error = messages.Errorf(messages.KindInternal, "the REPL's worker failed")

// mayHaveRun is the answer to a call whose worker, or Pool, failed.
func mayHaveRun(cause error) error { return &messages.RunError{Sent: true, Err: cause} }

// emptied frees the slot of a worker of which nothing is left. A call that it still
// has crossed its end, and was never sent.
func (p *Pool) emptied(slot int) {
	if slot < 0 {
		return
	}
	p.takeBack(slot)
	p.slots[slot].worker.Stop()
	p.slots[slot] = poolSlot{}
	if !p.machine.In(poolStarting, poolOpen) {
		p.finish()
		return
	}
	switch p.queue.State(slot) {
	case Warming, Warm:
		p.queue.End(slot)
	case Busy:
		p.queue.Settled(slot, false)
	}
	p.queue.Emptied(slot)
	p.serve()
}
