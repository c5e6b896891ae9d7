package actors

import (
	"sync"

	"github.com/seed-f6977891/hearth/messages"
)

// Handle is an actor's address together with its end. It stays valid, and Send
// harmless, after the actor has ended.
type Handle struct {
	pid    messages.Ref
	actor  *process
	parent *Handle // nil for the root
	depth  int     // the root's is 0
	done   chan struct{}
	stop   sync.Once
}

// Ref is the actor's name, as messages carry it.
func (h *Handle) Ref() messages.Ref { return h.pid }

// ID is the actor's id: kind, a slash, and a name with its generation.
func (h *Handle) ID() string { return h.pid.ID }

// Parent is the actor that spawned this one, nil for the root.
func (h *Handle) Parent() *Handle { return h.parent }

// Send puts a message into the actor's mailbox. It never blocks; an operation that
// finds its actor ended is refused, any other message dropped. It needs no look at
// the engine's registry, which a Ref does.
func (h *Handle) Send(msg any) { h.actor.post(msg) }

// Stop ends the actor once it has handled what it was sent before. However often
// it is called, the actor is stopped once.
func (h *Handle) Stop() { h.stop.Do(func() { h.Send(stop{}) }) }

// Done is closed when the actor has ended, in whatever way.
func (h *Handle) Done() <-chan struct{} { return h.done }

// Roster holds every live actor of a runtime with its parent. It is the one
// structure that actors share: Spawn enters, the guard strikes out, and only the
// Supervisor and its view of the tree read it.
type Roster struct {
	mu   sync.Mutex
	live map[messages.Ref]*Handle
}

func (r *Roster) enter(h *Handle) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live == nil {
		r.live = make(map[messages.Ref]*Handle)
	}
	r.live[h.pid] = h
}

func (r *Roster) strike(h *Handle) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.live, h.pid)
}

// Lookup gives the handle of a live actor, nil if it has ended.
func (r *Roster) Lookup(ref messages.Ref) *Handle {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live[ref]
}

// Len counts the live actors.
func (r *Roster) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.live)
}

// Live gives every live actor, in no order.
func (r *Roster) Live() []*Handle {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*Handle, 0, len(r.live))
	for _, h := range r.live {
		all = append(all, h)
	}
	return all
}

// Below gives the live descendants of an actor, the deepest first, without itself.
func (r *Roster) Below(ref messages.Ref) []*Handle {
	var found []*Handle
	for _, h := range r.Live() {
		if h.pid != ref && h.IsAtOrBelow(ref) {
			found = append(found, h)
		}
	}
	sortDeepestFirst(found)
	return found
}

// IsAtOrBelow tells whether h is the actor ref or a descendant of it.
func (h *Handle) IsAtOrBelow(ref messages.Ref) bool {
	for at := h; at != nil; at = at.parent {
		if at.pid == ref {
			return true
		}
	}
	return false
}
