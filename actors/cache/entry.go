package cache

import (
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
	if sender(msg) != e.child.Ref() {
		e.Unexpected(msg)
		return
	}
	switch msg := msg.(type) {
	case messages.Settled:
		e.settled(msg)
	case messages.Down:
		e.failed(msg.Reason)
		e.refuseForwarded(mayHaveRun(msg.Reason))
	case messages.Closed:
		e.childGone(e.returnForwarded)
	case messages.TreesGone:
		e.childGone(func() { e.refuseForwarded(mayHaveRun(e.ended())) })
	default:
		e.turned(msg)
	}
}

// turned handles a child's step from one of its states to the next. What the child
// says of its start or its end while this Entry is ending anyway is of no use.
func (e *entry) turned(msg any) {
	switch msg := msg.(type) {
	case messages.Ready:
		if e.In(entryCreating) {
			e.ready()
		}
	case messages.StartFailed:
		if e.In(entryCreating) {
			e.failed(msg.Err)
		}
	case messages.Ending:
		if e.In(entryResident) {
			e.failed(msg.Err)
		}
	}
}

// sender is whom a message is from, or about.
func sender(msg any) messages.Ref {
	switch msg := msg.(type) {
	case messages.Settled:
		return msg.From
	case messages.Ready:
		return msg.From
	case messages.StartFailed:
		return msg.From
	case messages.Ending:
		return msg.From
	case messages.Down:
		return msg.From
	case messages.Closed:
		return msg.From
	case messages.TreesGone:
		return msg.From
	}
	return nil
}
