package explore

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// Desk is where workers wait for the environment: what it owes them is a Choice. The
// zero Desk is ready; at a test's end it is to be abandoned.
type Desk struct {
	mu        sync.Mutex
	owed      []*debt
	abandoned bool
}

type debt struct {
	name     string
	outcomes []string
	chosen   chan string
}

// Await blocks until one of the outcomes was chosen, or ctx has ended. The first
// outcome is the one that is due. It is called by what a worker calls.
func (d *Desk) Await(ctx context.Context, name string, outcomes ...string) (string, error) {
	owed := &debt{name, outcomes, make(chan string, 1)}
	d.mu.Lock()
	if d.abandoned {
		owed.chosen <- outcomes[0]
	} else {
		d.owed = append(d.owed, owed)
	}
	d.mu.Unlock()
	select {
	case outcome := <-owed.chosen:
		return outcome, nil
	case <-ctx.Done():
		d.drop(owed)
		return "", context.Cause(ctx)
	}
}

func (d *Desk) drop(owed *debt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.owed = slices.DeleteFunc(d.owed, func(other *debt) bool { return other == owed })
}

// Choices are the outcomes of all that is owed. Names of debts must be unique.
func (d *Desk) Choices() (choices []Choice) {
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.SortStableFunc(d.owed, func(a, b *debt) int { return strings.Compare(a.name, b.name) })
	for _, owed := range d.owed {
		for i, outcome := range owed.outcomes {
			choices = append(choices, Choice{Name: owed.name + ": " + outcome, Due: i == 0, Do: func() {
				d.drop(owed)
				owed.chosen <- outcome
			}})
		}
	}
	return choices
}

// Owed are the names of all that is owed.
func (d *Desk) Owed() (names []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, owed := range d.owed {
		names = append(names, owed.name)
	}
	slices.Sort(names)
	return names
}

// Abandon gives the first outcome to all who wait, and to all who come.
func (d *Desk) Abandon() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, owed := range d.owed {
		owed.chosen <- owed.outcomes[0]
	}
	d.owed, d.abandoned = nil, true
}
