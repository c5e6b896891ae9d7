package cache

import (
	"slices"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

type entryState uint8

const (
	entryCreating entryState = iota + 1
	entryResident
	entryClosing
	entryClosed
)

func (s entryState) String() string {
	return [...]string{
		entryCreating: "creating", entryResident: "resident", entryClosing: "closing", entryClosed: "closed",
	}[s]
}

var entryLegal = actors.Legal[entryState]{
	entryCreating: {entryResident, entryClosing, entryClosed},
	entryResident: {entryClosing, entryClosed},
	entryClosing:  {entryClosed},
}

// entry is one key's resource and its one child, for life: a replacement is another
// Entry. It ends only when its child has ended.
//
//	Creating  | Lease               | keep; arm its clocks                                       | Creating
//	Creating  | expired(id)         | refuse                                                     | Creating
//	Creating  | Ready               | EntryReady -> Cache; forward the kept, with copies         | Resident
//	Creating  | StartFailed, Down   | refuse the kept with the reason, at once                   | Closing
//	Resident  | Lease               | forward, with a copy                                       | Resident
//	Resident  | Settled Healthy     | LeaseReleased                                              | Resident
//	Resident  | Settled Broken, Returned | LeaseReleased; Close -> child (it joins)              | Closing
//	Resident  | Ending              |                                                            | Closing
//	Resident  | Down                | refuse the unanswered (OutcomeUnknown)                     | Closing
//	Creating, Resident | Close, Abort | the same -> child; refuse the kept                       | Closing
//	Closing, Closed | Lease         | LeaseReleased Returned, never an answer                    | same
//	Closing   | Settled             | LeaseReleased                                              | Closing
//	Closing   | Down                | refuse the unanswered                                      | Closing
//	Closing   | Abort               | Abort -> child                                             | Closing
//	Closing   | Close, Ready, StartFailed, Ending | join                                         | Closing
//	any but Closed | Closed         | refuse the kept; the unsettled: LeaseReleased Returned; stop the child; EntryClosed -> Cache | Closed
//	any but Closed | TreesGone      | refuse the kept and the unanswered; stop the child; EntryClosed -> Cache | Closed
//	any but Closed | Outdated, Republish | publish                                                | same
//
// To refuse is to answer and then to send LeaseReleased: Healthy while the child
// isn't ending, Broken where it is. What doesn't come from the child is dropped.
type entry struct {
	*actors.Machine[entryState]
	self      *actors.Self
	key       messages.Key
	child     *actors.Handle
	kept      []kept                                      // in the order in which they came
	forwarded map[messages.OperationID]messages.Operation // not settled
	cause     error                                       // why it is ending unasked
	stale     bool                                        // as status shows it
}

// kept is an operation that waits for the child.
type kept struct {
	op     messages.Operation
	head   messages.Head
	since  time.Time
	clocks clocks
}

func newEntry(key messages.Key, kind string, resource func(messages.Key) func(*actors.Self) actors.Behaviour) func(*actors.Self) actors.Behaviour {
	return func(self *actors.Self) actors.Behaviour {
		e := &entry{self: self, key: key}
		e.Machine = actors.NewMachine(self, entryCreating, entryLegal, e.snapshot)
		e.child = self.Spawn(kind, hashed(key), resource(key))
		e.Publish()
		return e
	}
}

func (e *entry) snapshot() messages.Snapshot {
	return messages.EntrySnapshot{
		ActorSnapshot: e.Snapshot(), Key: e.key, Warm: e.In(entryResident), Ending: e.In(entryClosing), Stale: e.stale, Kept: len(e.kept),
	}
}

func (e *entry) Receive(msg any) {
	if lease, ok := msg.(messages.Lease); ok {
		e.lease(lease.Op)
		return
	}
	if e.In(entryClosed) {
		e.Unexpected(msg)
		return
	}
	switch msg := msg.(type) {
	case expired:
		e.expired(msg.id)
	case messages.Close, messages.Abort:
		e.end(msg)
	case messages.Outdated:
		e.stale = true
		e.Publish()
	case messages.Republish:
		e.Publish()
	default:
		e.ofChild(msg)
	}
}

// ofChild handles what the child says, and what the Supervisor says of it.
func (e *entry) ofChild(msg any) {
	child := e.child.Ref()
	switch msg := msg.(type) {
	case messages.Settled:
		if msg.From == child {
			e.settled(msg)
			return
		}
	case messages.Ready:
		if msg.From == child && e.In(entryCreating) {
			e.ready()
			return
		}
	case messages.StartFailed:
		if msg.From == child && e.In(entryCreating) {
			e.failed(msg.Err)
			return
		}
	case messages.Ending:
		if msg.From == child && e.In(entryResident) {
			e.cause = msg.Err
			e.Become(entryClosing)
			return
		}
	case messages.Down:
		if msg.From == child {
			e.failed(msg.Reason)
			e.refuseForwarded(mayHaveRun(msg.Reason))
			return
		}
	case messages.Closed:
		if msg.From == child {
			e.childGone(func() { e.returnForwarded() })
			return
		}
	case messages.TreesGone:
		if msg.From == child {
			e.childGone(func() { e.refuseForwarded(mayHaveRun(e.ended())) })
			return
		}
	}
	e.Unexpected(msg)
}

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
	late.refuse(outOfTime(late.head, late.since, messages.CreationBudget))
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
	e.child.Send(op)
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
