package procscan

import (
	"context"
	"os"
)

// Info is what the process table shows of one process without looking into it.
type Info struct {
	Identity
	PPID, PGID, SID int
	// State is the letter of ps(1): R, S, D, T, Z (zombie), X (dead), I.
	State byte
	// Comm is the kernel's short name of the program, at most 15 bytes; it may
	// contain blanks and parentheses.
	Comm string
}

// Process is a hold on one process that survives the reuse of its PID.
type Process interface {
	Identity() Identity
	// Signal sends sig to this process and to no other. The error satisfies
	// IsGone once it has ended, also while it is still a zombie. Signal 0 only
	// asks.
	Signal(sig os.Signal) error
	// Close lets go of the hold; the process isn't affected.
	Close() error
}

// Scan is what one look at the machine found. The caller closes it.
type Scan struct {
	// Hits carry the mark, and were checked again while they were held.
	Hits []Process
	// Unreadable counts the processes that we may not look into. They are
	// somebody else's: never signalled, never waited for.
	Unreadable int
	// Vanished counts the carriers that ended while they were looked at: what
	// they started last may be missing from Hits.
	Vanished int
	// Unknown showed no environment although they must have one, or had: they are
	// between two programs (execve) or about to end. They were asked again before they
	// came here.
	Unknown []Info
	// Began is when the scan began, in the unit of Identity.StartTicks: what
	// started earlier was there already.
	Began uint64
}

// Close lets go of all hits.
func (s *Scan) Close() {
	for _, p := range s.Hits {
		_ = p.Close() // nothing depends on it: the descriptor is gone either way
	}
	s.Hits = nil
}

// Table is the machine's processes. Methods are safe for concurrent use, block
// for a few milliseconds for each thousand processes, and start no goroutine.
type Table interface {
	// Scan finds every process whose environment has the mark. Processes that
	// end meanwhile are left out. An error means that nothing was learned.
	Scan(ctx context.Context, mark Mark) (Scan, error)
	// Walk lists every process, zombies included.
	Walk(ctx context.Context) ([]Info, error)
}

// SystemTable gives the table of the machine that we run on.
func SystemTable() Table { return scanner{system} }
