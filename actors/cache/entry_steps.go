package cache

import (
	"slices"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

func (e *entry) lease(op messages.Operation) {
	head := op.Header()
	switch e.State() {
	case entryCreating:
		e.kept = append(e.kept, kept{op, head, time.Now(), arm(e.self, head.Ctx, head.AcquireBy, expired{head.ID})})
		e.Publish()
	case entryResident:
		e.forward(op, head.ID)
	default:
		e.release(head.ID, messages.Returned, e.ended())
	}
}

func (e *entry) expired(id messages.OperationID) {
	at := slices.IndexFunc(e.kept, func(k kept) bool { return k.head.ID == id })
	if at < 0 {
		return // it was forwarded or refused while the message was on its way
	}
	late := e.kept[at]
	e.kept = slices.Delete(e.kept, at, at+1)
	e.Publish()
	reason := outOfTime(&late.head, late.since, messages.CreationBudget)
	e.self.Event(messages.EventRefused, e.key, reason.Error())
	late.refuse(reason)
	e.release(id, messages.Healthy, nil)
}

func (e *entry) ready() {
	keptUntilNow := e.takeKept()
	e.Become(entryResident)
	e.self.TellParent(messages.EntryReady{From: e.self.Ref()})
	for _, k := range keptUntilNow {
		k.clocks.stop()
		e.forward(k.op, k.head.ID)
	}
}

func (e *entry) forward(op messages.Operation, id messages.OperationID) {
	if e.forwarded == nil {
		e.forwarded = make(map[messages.OperationID]messages.Operation)
	}
	e.forwarded[id] = op
	e.self.Forward(e.child.Ref(), op)
}

func (e *entry) settled(msg messages.Settled) {
	if _, ok := e.forwarded[msg.ID]; !ok {
		return // it was refused when the child failed
	}
	delete(e.forwarded, msg.ID)
	if msg.Verdict != messages.Healthy && e.In(entryResident) {
		e.cause = msg.Cause
		e.Become(entryClosing)
		e.child.Send(messages.Close{})
	}
	e.release(msg.ID, msg.Verdict, msg.Cause)
}

// failed ends an Entry whose child can't go on; the child's own end follows.
func (e *entry) failed(cause error) {
	if e.cause == nil {
		e.cause = cause
	}
	e.close(cause)
}

// end is a Close or an Abort from above.
func (e *entry) end(command any) {
	_, aborted := command.(messages.Abort)
	if aborted || !e.In(entryClosing) {
		e.child.Send(command)
	}
	if aborted {
		e.close(messages.ErrAborted)
	} else {
		e.close(messages.ErrClosing)
	}
}

// close leaves a serving state, and refuses what the child never got.
func (e *entry) close(reason error) {
	if e.In(entryClosing) {
		return
	}
	e.refuseKept(entryClosing, reason)
}

// childGone ends an Entry of which nothing is left.
func (e *entry) childGone(settleForwarded func()) {
	e.refuseKept(entryClosed, e.ended())
	settleForwarded()
	e.child.Stop()
	e.self.Retract()
	e.self.TellParent(messages.EntryClosed{From: e.self.Ref(), Cause: e.cause})
}

func (e *entry) refuseKept(next entryState, reason error) {
	refused := e.takeKept()
	e.Become(next)
	for _, k := range refused {
		k.refuse(reason)
		e.release(k.head.ID, messages.Broken, reason)
	}
}

func (e *entry) takeKept() []kept {
	taken := e.kept
	e.kept = nil
	return taken
}

func (k kept) refuse(reason error) {
	k.clocks.stop()
	k.op.Refuse(reason)
}

func (e *entry) refuseForwarded(reason error) {
	for id, op := range e.forwarded {
		op.Refuse(reason)
		e.release(id, messages.Broken, reason)
	}
	e.forwarded = nil
}

// returnForwarded gives back what the child had not settled when it closed: it
// settled everything that it had, so these never reached it.
func (e *entry) returnForwarded() {
	for id := range e.forwarded {
		e.release(id, messages.Returned, e.ended())
	}
	e.forwarded = nil
}

// ended is why the Entry takes nothing more.
func (e *entry) ended() error {
	if e.cause != nil {
		return e.cause
	}
	return messages.ErrClosing
}

func (e *entry) release(id messages.OperationID, verdict messages.Verdict, cause error) {
	e.self.TellParent(messages.LeaseReleased{From: e.self.Ref(), ID: id, Verdict: verdict, Cause: cause})
}

// RefuseAll answers what a failed Entry holds: what it only kept was never begun.
func (e *entry) RefuseAll(cause error) {
	for _, k := range e.kept {
		k.refuse(cause)
	}
	for _, op := range e.forwarded {
		op.Refuse(mayHaveRun(cause))
	}
}
