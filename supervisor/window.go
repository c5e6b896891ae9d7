package supervisor

import "time"

// The restart intensity, in OTP's words: a permanent child that fails more than
// intensity times within a period is not restarted again.
const (
	intensity = 5
	period    = 5 * time.Second
)

// window counts the failures of one child within the period.
type window struct{ failures []time.Time }

// allow notes a failure at now and tells whether the child may be restarted.
func (w *window) allow(now time.Time) bool {
	kept := w.failures[:0]
	for _, at := range w.failures {
		if now.Sub(at) < period {
			kept = append(kept, at)
		}
	}
	w.failures = append(kept, now)
	return len(w.failures) <= intensity
}
