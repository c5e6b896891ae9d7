package actors

import (
	"fmt"
	"slices"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// State is an actor's named wait.
type State interface {
	comparable
	fmt.Stringer
}

// Legal lists, for each state, the states that may follow it.
type Legal[S State] map[S][]S

// Machine keeps an actor's state: the only way to change it is Become.
type Machine[S State] struct {
	self    *Self
	legal   Legal[S]
	publish func() messages.Snapshot
	state   S
	since   time.Time
	epoch   uint64
	timers  map[uint64]*time.Timer // armed ones of this state, by their number
	armed   uint64
	dropped map[string]bool
}

// NewMachine starts in initial. publish makes the snapshot that every change of
// state publishes.
func NewMachine[S State](self *Self, initial S, legal Legal[S], publish func() messages.Snapshot) *Machine[S] {
	return &Machine[S]{self: self, legal: legal, publish: publish, state: initial, since: time.Now()}
}

// State is the state that the actor is in.
func (m *Machine[S]) State() S { return m.state }

// In tells whether the actor is in one of the states.
func (m *Machine[S]) In(states ...S) bool { return slices.Contains(states, m.state) }

// Become changes the state, ends the old state's timers, and publishes. A step
// that the table does not allow is a fault of the program: it panics, and the
// guard ends the actor rather than let it go on in a state nobody planned.
func (m *Machine[S]) Become(next S) {
	if !slices.Contains(m.legal[m.state], next) {
		panic(fmt.Sprintf("illegal step %s -> %s", m.state, next))
	}
	m.self.Log().Debug("state", "from", m.state.String(), "to", next.String())
	for _, timer := range m.timers {
		timer.Stop()
	}
	clear(m.timers)
	m.state, m.since = next, time.Now()
	m.epoch++
	m.Publish()
}

// Publish hands the Observer a snapshot without a change of state.
func (m *Machine[S]) Publish() { m.self.Publish(m.publish()) }

// PublishForward publishes at the end of a turn, see [Self.PublishForward].
func (m *Machine[S]) PublishForward() { m.self.PublishForward(m.publish()) }

// Snapshot is the part that every actor's snapshot has.
func (m *Machine[S]) Snapshot() messages.ActorSnapshot {
	return m.self.Snapshot(m.state.String(), m.since)
}

// stateTimeout is a timer's message with the visit to a state that it belongs to.
type stateTimeout struct {
	epoch, number uint64
	msg           any
}

// After sends msg to the actor once d has passed, unless the state was left by then.
func (m *Machine[S]) After(d time.Duration, msg any) {
	if m.timers == nil {
		m.timers = make(map[uint64]*time.Timer)
	}
	m.armed++
	m.timers[m.armed] = m.self.After(d, stateTimeout{m.epoch, m.armed, msg})
}

// Unwrap gives the message that Receive is to handle. It is false for the timer of
// a state that was left: such a message is dropped.
func (m *Machine[S]) Unwrap(msg any) (any, bool) {
	timeout, ok := msg.(stateTimeout)
	if !ok {
		return msg, true
	}
	if timeout.epoch != m.epoch {
		return timeout.msg, false
	}
	delete(m.timers, timeout.number) // a state that is never left must not collect them
	return timeout.msg, true
}

// Unexpected handles what the table does not list for the present state: it is
// logged once for each kind of message and state, and dropped; an operation is
// refused.
func (m *Machine[S]) Unexpected(msg any) {
	if op, ok := msg.(messages.Operation); ok {
		op.Refuse(messages.ErrClosing)
	}
	key := fmt.Sprintf("%T in %s", msg, m.state)
	if m.dropped[key] {
		return
	}
	if m.dropped == nil {
		m.dropped = make(map[string]bool)
	}
	m.dropped[key] = true
	m.self.Log().Debug("dropped", "message", key)
}
