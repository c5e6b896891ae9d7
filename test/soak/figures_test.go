//go:build linux

package soak_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// figures are what the calls came to.
type figures struct {
	mu    sync.Mutex
	kinds map[string]*outcomes
}

type outcomes struct {
	answered []time.Duration // of plain calls that have a result
	all      int
	strict   int // that had no excuse
	errors   map[string]int
}

func (f *figures) note(c call, took time.Duration, err error, kind string, excuses []excuse) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.kinds[c.kind]
	if o == nil {
		o = &outcomes{errors: map[string]int{}}
		f.kinds[c.kind] = o
	}
	o.all++
	if len(excuses) == 0 {
		o.strict++
	}
	switch {
	case err != nil:
		o.errors[kind]++
	case c.deed == plain:
		o.answered = append(o.answered, took)
	}
}

// String is a table of percentiles of plain calls that have a result, and of how many
// calls had which error.
func (f *figures) String() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "call\tall\tno excuse\tp50\tp95\tp99\tmost\terrors")
	for _, kind := range slices.Sorted(maps.Keys(f.kinds)) {
		o := f.kinds[kind]
		slices.Sort(o.answered)
		var errs []string
		for _, name := range slices.Sorted(maps.Keys(o.errors)) {
			errs = append(errs, fmt.Sprintf("%s %d", name, o.errors[name]))
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%v\t%v\t%v\t%v\t%s\n", kind, o.all, o.strict, percentile(o.answered, 50), percentile(o.answered, 95),
			percentile(o.answered, 99), percentile(o.answered, 100), strings.Join(errs, ", "))
	}
	_ = table.Flush()
	return text.String()
}

// sums are of calls of all kinds, and of those that had no excuse for an error.
func (f *figures) sums() (all, strict int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.kinds {
		all, strict = all+o.all, strict+o.strict
	}
	return all, strict
}

// percentile is of sorted values.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)-1)*p/100].Round(10 * time.Microsecond)
}

// life is what was sampled of one daemon.
type life struct {
	pid         int
	memory      []int // resident, KiB
	descriptors []int
}

// samplesToTell is how many samples a daemon's life needs to say anything of its course.
const samplesToTell = 15

// Tolerances, of what is far less than a leak of a descriptor or a page for each call
// makes in a minute, and more than what the work at hand makes: Go gives memory back
// minutes after its use, and each server, worker and connection takes descriptors.
const (
	memoryGrowth      = 1.5
	memoryMore        = 24 << 10 // KiB
	descriptorsGrowth = 1.25
	descriptorsMore   = 48
)

// thirds are the medians of the first and the last third.
func thirds(samples []int) (first, last int) {
	n := len(samples) / 3
	return median(samples[:n]), median(samples[len(samples)-n:])
}

func median(samples []int) int {
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[len(sorted)/2]
}

// grew says what isn't flat.
func (l *life) grew() (found []string) {
	if len(l.memory) < samplesToTell {
		return nil
	}
	if first, last := thirds(l.memory); float64(last) > memoryGrowth*float64(first)+memoryMore {
		found = append(found, fmt.Sprintf("daemon %d: memory grew from %d to %d KiB", l.pid, first, last))
	}
	if first, last := thirds(l.descriptors); float64(last) > descriptorsGrowth*float64(first)+descriptorsMore {
		found = append(found, fmt.Sprintf("daemon %d: descriptors grew from %d to %d", l.pid, first, last))
	}
	return found
}

func (l *life) String() string {
	if len(l.memory) < samplesToTell {
		return fmt.Sprintf("daemon %d: %d samples, too few to tell", l.pid, len(l.memory))
	}
	first, last := thirds(l.memory)
	open, still := thirds(l.descriptors)
	return fmt.Sprintf("daemon %d: %d samples; memory %d -> %d KiB, descriptors %d -> %d (medians of the first and the last third)",
		l.pid, len(l.memory), first, last, open, still)
}
