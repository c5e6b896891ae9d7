package repl

import (
	"context"
	"errors"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// poolCall is one call from its arrival until it is settled.
type poolCall struct {
	assignment
	free    context.CancelFunc // releases the call's context
	callOff func() bool
	handed  bool // a worker has it, or has answered it
	done    bool // nobody works on it any longer
}

// errOutOfTime is the cause of a call's context whose own Timeout was over.
var errOutOfTime = errors.New("its time was over")

// onRunCode takes a call: its Timeout starts here, and spans waiting, header check
// and run.
func (p *Pool) onRunCode(op messages.RunCode) {
	if !p.machine.In(poolOpen) {
		p.settled(op.ID, messages.Returned)
		return
	}
	c := &poolCall{assignment: assignment{op: op, arrived: time.Now()}}
	p.calls[op.ID] = c
	c.ctx, c.free = context.WithTimeoutCause(op.Ctx, op.Timeout, errOutOfTime)
	c.callOff = p.self.Expire(c.ctx, expired{op.ID})
	c.decision = p.decide(op.Code)
	if c.decision.Refused != nil {
		p.answer(c, messages.RunReport{}, &messages.RunError{Err: c.decision.Refused})
		return
	}
	p.queue.Push(op.ID)
	p.serve()
}

func (p *Pool) decide(code string) Decision {
	if p.headers == nil {
		return Decision{Run: &Request{Code: code}}
	}
	return p.headers.Decide(code)
}

// serve hands over what can be, starts what is due, and shows it.
func (p *Pool) serve() {
	for id, at, ok := p.queue.Next(); ok; id, at, ok = p.queue.Next() {
		c := p.calls[id]
		c.handed = true
		p.slots[at].call = c
		p.slots[at].worker.Send(c.assignment)
	}
	p.refill()
	p.machine.Publish()
}

func (p *Pool) onExpired(id messages.OperationID) {
	if p.queue.Remove(id) {
		c := p.calls[id]
		p.answer(c, messages.RunReport{}, inVain(c))
	}
}

// inVain is why a call that got no worker is answered.
func inVain(c *poolCall) error {
	if cause := context.Cause(c.ctx); messages.KindOf(cause) == messages.KindCancelled {
		return messages.Errorf(messages.KindCancelled, "cancelled while waiting for an idle REPL: %w", cause)
	}
	return &messages.BusyError{Project: c.op.Key.Root, Waited: time.Since(c.arrived), Reason: messages.WorkerQueue}
}

func (p *Pool) onAnswered(msg answered) {
	slot := p.slotOf(msg.from)
	if slot < 0 || p.slots[slot].call == nil || p.slots[slot].call.op.ID != msg.id {
		return // its call was refused when it failed
	}
	p.answerOf(slot, msg.report, msg.err)
}

// answerOf replies to the call of a slot, whose worker may still be busy with what it
// left behind.
func (p *Pool) answerOf(slot int, report messages.RunReport, err error) {
	c := p.slots[slot].call
	p.slots[slot].call = nil
	p.answer(c, report, err)
}

// answer replies to a call that nobody else holds any longer, and settles it. It
// stays in calls until it has its reply, so that RefuseAll can't miss it.
func (p *Pool) answer(c *poolCall, report messages.RunReport, err error) {
	c.done = true
	p.lastUsed = time.Now()
	p.machine.Publish()
	if err != nil {
		c.op.Refuse(err)
	} else {
		c.op.Reply.Send(report)
	}
	p.forget(c, p.verdict())
}

// verdict is what a settled call says of the whole pool: that one of its children is
// ending doesn't end the pool.
func (p *Pool) verdict() messages.Verdict {
	if p.machine.In(poolOpen) {
		return messages.Healthy
	}
	return messages.Broken
}

func (p *Pool) forget(c *poolCall, verdict messages.Verdict) {
	c.callOff()
	c.free()
	delete(p.calls, c.op.ID)
	p.settled(c.op.ID, verdict)
}

func (p *Pool) settled(id messages.OperationID, verdict messages.Verdict) {
	p.self.TellParent(messages.Settled{From: p.self.Ref(), ID: id, Verdict: verdict, Cause: p.cause})
}

// onSettled hears what a worker is good for after a call.
func (p *Pool) onSettled(msg messages.Settled) {
	slot := p.slotOf(msg.From)
	if slot < 0 {
		return
	}
	if msg.Verdict == messages.Returned {
		p.takeBack(slot)
	} else if p.machine.In(poolOpen) {
		p.used(slot, msg)
	}
	if p.machine.In(poolOpen) {
		p.serve()
	}
}

func (p *Pool) used(slot int, msg messages.Settled) {
	switch {
	case msg.Verdict == messages.Broken:
		p.queue.Settled(slot, false)
		p.replaced(slot, msg.Cause)
	case p.cfg.Resident:
		p.queue.Settled(slot, true)
	default: // answered without its child, which is as good as new
		p.queue.Unused(slot)
	}
}

// takeBack puts a worker's call, which its child never saw, back to where it was in
// the queue.
func (p *Pool) takeBack(slot int) {
	c := p.slots[slot].call
	if c == nil {
		return
	}
	p.slots[slot].call, c.handed = nil, false
	if !p.machine.In(poolOpen) {
		p.forget(c, messages.Returned)
		return
	}
	p.queue.Return(slot)
	if c.ctx.Err() != nil && p.queue.Remove(c.op.ID) { // it expired on the way
		p.answer(c, messages.RunReport{}, inVain(c))
	}
}
