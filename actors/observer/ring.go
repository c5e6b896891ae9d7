package observer

import "github.com/seed-f6977891/hearth/messages"

// ringSize is how many events are kept.
const ringSize = 256

// ring holds the last ringSize events.
type ring struct {
	events [ringSize]messages.Event
	count  int // of all events ever; the next one goes to count % ringSize
}

func (r *ring) add(event messages.Event) {
	r.events[r.count%ringSize] = event
	r.count++
}

// list copies the kept events that keep approves of, the oldest first.
func (r *ring) list(keep func(messages.Event) bool) []messages.Event {
	kept := make([]messages.Event, 0, min(r.count, ringSize))
	for i := max(0, r.count-ringSize); i < r.count; i++ {
		if event := r.events[i%ringSize]; keep(event) {
			kept = append(kept, event)
		}
	}
	return kept
}
