package procscan

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Grace says how long the steps of an end may take.
type Grace struct {
	// Term is how long a process may take over SIGTERM before SIGKILL follows.
	Term time.Duration
	// Kill is how long the kernel may take over SIGKILL, for the carriers that
	// turn up meanwhile too, before the attempt counts as failed.
	Kill time.Duration
	// Pause separates the two clean scans that prove an end.
	Pause time.Duration
}

// DefaultGrace is what a tree gets that nobody set a grace for. What a dead
// runtime left behind is swept with a Pause of a second.
var DefaultGrace = Grace{Term: 500 * time.Millisecond, Kill: time.Second, Pause: 10 * time.Millisecond}

// Target is what a sweep has to end.
type Target struct {
	Mark Mark
	// Leader is the tree's first process; zero where it isn't known, as with
	// what a dead runtime left behind.
	Leader Identity
	// Cage holds the tree's processes whether they carry the mark or not; nil
	// where there is none.
	Cage Cage
}

// SurvivorsError says that an attempt to end a tree failed, and may be repeated.
type SurvivorsError struct {
	// Remaining are the processes that outlived SIGKILL so far.
	Remaining []Identity
	// Unproven is set when no carrier was held, but some ended while they were
	// looked at, or the processes in Remaining may be of the tree: they are
	// between two programs or about to end, and show no environment.
	Unproven bool
}

func (e *SurvivorsError) Error() string {
	switch {
	case e.Unproven:
		return "can't tell yet whether all processes ended" + e.list("; in doubt: ")
	case len(e.Remaining) == 0:
		return "processes without the mark are still alive after SIGKILL"
	}
	return "still alive after SIGKILL" + e.list(": ")
}

// list names a few, so that the line stays one.
func (e *SurvivorsError) list(lead string) string {
	const most = 8
	switch count := len(e.Remaining); {
	case count == 0:
		return ""
	case count > most:
		return fmt.Sprintf("%s%v and %d more", lead, e.Remaining[:most], count-most)
	}
	return fmt.Sprintf("%s%v", lead, e.Remaining)
}

// Sweep ends every process that carries the target's mark, wherever it moved:
// SIGTERM and SIGCONT to all that a first scan finds, at most grace.Term, then
// SIGKILL to what new scans find, for at most grace.Kill, until two clean scans
// grace.Pause apart prove the end. One isn't enough: a process can be forked
// behind the scan's back by one that ends before the scan gets there. A tree
// that has ended before costs exactly two scans.
//
// Each signal goes only to what the latest scan found, and never to our own
// process or an ancestor of it, whatever they carry.
//
// It blocks, starts no goroutine, and gives a *SurvivorsError, the error of the
// table, or the reason for which ctx ended.
func Sweep(ctx context.Context, table Table, target Target, grace Grace) error {
	if err := target.Mark.Validate(); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	s := &sweep{table: table, target: target, grace: grace, tree: map[int]bool{}}
	if target.Leader.PID != 0 {
		s.tree[target.Leader.PID] = true
	}
	for clean := 0; clean < 2; {
		isClean, err := s.step(ctx)
		switch {
		case !isClean:
			clean = 0
		case clean == 0:
			clean = 1
			err = s.between(ctx)
		default:
			clean = 2
		}
		if err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
	}
	return nil
}

// sweep is one attempt.
type sweep struct {
	table  Table
	target Target
	grace  Grace

	scanned bool
	began   uint64            // of the first scan
	noted   map[Identity]bool // unknown in the first scan
	tree    map[int]bool      // PIDs that are known to be of the tree
	asked   bool              // SIGTERM was sent
	killBy  time.Time         // when SIGKILL must have worked; zero before the first
	proveBy time.Time         // when suspects must have shown themselves; zero before the first
}

// step scans once and deals with what it found.
func (s *sweep) step(ctx context.Context) (clean bool, err error) {
	scan, err := s.table.Scan(ctx, s.target.Mark)
	if err != nil {
		return false, err
	}
	defer scan.Close()
	carriers, err := strangers(scan.Hits)
	if err != nil {
		return false, err
	}
	for _, p := range carriers {
		s.tree[p.Identity().PID] = true
	}
	suspects := s.suspects(scan)
	switch {
	case len(carriers) > 0:
		return false, s.end(ctx, carriers)
	case len(suspects) > 0, scan.Vanished > 0:
		return false, s.lookAgain(ctx, suspects)
	}
	return true, nil
}

// lookAgain gives what is in doubt the time in which SIGKILL would have to work:
// on a busy machine a process can be between two programs for a while, and one
// that forks fast may be met only as it ends.
func (s *sweep) lookAgain(ctx context.Context, suspects []Identity) error {
	now := time.Now()
	if s.proveBy.IsZero() {
		s.proveBy = now.Add(s.grace.Kill)
	} else if !now.Before(s.proveBy) {
		return &SurvivorsError{Remaining: suspects, Unproven: true}
	}
	return pause(ctx, s.grace.Pause)
}

// suspects are the unknown processes that spoil a scan: those which began
// since the attempt did, in the lifetime of the tree, and those which something
// links to it. An unrelated process that does nothing but execute programs
// never holds up a close.
func (s *sweep) suspects(scan Scan) (found []Identity) {
	if !s.scanned {
		s.scanned, s.began, s.noted = true, scan.Began, map[Identity]bool{}
		for _, p := range scan.Unknown {
			s.noted[p.Identity] = true
		}
		return nil
	}
	for _, p := range scan.Unknown {
		isNew := p.StartTicks >= s.began && !s.noted[p.Identity]
		if isNew && p.StartTicks >= s.target.Leader.StartTicks || s.tree[p.PPID] || s.tree[p.PGID] || s.tree[p.SID] {
			found = append(found, p.Identity)
		}
	}
	return found
}

// end signals the carriers and waits for their end. It fails when SIGKILL had
// its time.
func (s *sweep) end(ctx context.Context, carriers []Process) error {
	if !s.asked {
		s.asked = true
		if err := signalAll(carriers, syscall.SIGTERM, syscall.SIGCONT); err != nil {
			return err
		}
		return awaitAll(ctx, carriers, s.grace.Term)
	}
	now := time.Now()
	if s.killBy.IsZero() {
		s.killBy = now.Add(s.grace.Kill)
	} else if !now.Before(s.killBy) {
		return survivors(carriers)
	}
	if s.target.Cage != nil {
		if err := s.target.Cage.Kill(); err != nil {
			return err
		}
	}
	if err := signalAll(carriers, syscall.SIGKILL); err != nil {
		return err
	}
	return awaitAll(ctx, carriers, s.killBy.Sub(now))
}

// between fills the pause between the two clean scans. What is still in the
// cage carries no mark: it was started with an environment of its own.
func (s *sweep) between(ctx context.Context) error {
	if cage := s.target.Cage; cage != nil {
		if err := emptyCage(ctx, cage, s.grace.Kill); err != nil {
			return err
		}
	}
	return pause(ctx, s.grace.Pause)
}

func emptyCage(ctx context.Context, cage Cage, within time.Duration) error {
	populated, err := cage.Populated()
	if err != nil || !populated {
		return err
	}
	if err := cage.Kill(); err != nil {
		return err
	}
	err = poll(ctx, within, func() (bool, error) {
		populated, err = cage.Populated()
		return !populated, err
	})
	if err == nil && populated {
		return &SurvivorsError{}
	}
	return err
}

// strangers leaves out our own process and its ancestors.
func strangers(hits []Process) ([]Process, error) {
	if len(hits) == 0 {
		return nil, nil
	}
	own, err := kin(system)
	if err != nil {
		return nil, err
	}
	var found []Process
	for _, p := range hits {
		if !own[p.Identity()] {
			found = append(found, p)
		}
	}
	return found, nil
}

// signalAll goes on after a process that it may not signal: that one started a
// program of another user, and will be found again by the next scan.
func signalAll(processes []Process, signals ...os.Signal) error {
	for _, p := range processes {
		for _, sig := range signals {
			if err := p.Signal(sig); err != nil && !IsGone(err) && !isUnreadable(err) {
				return err
			}
		}
	}
	return nil
}

// awaitAll waits until all have ended, at most for the time given; the next scan
// says what came of it.
func awaitAll(ctx context.Context, processes []Process, within time.Duration) error {
	return poll(ctx, within, func() (bool, error) {
		for _, p := range processes {
			if err := p.Signal(syscall.Signal(0)); !IsGone(err) {
				return false, nil
			}
		}
		return true, nil
	})
}

func survivors(processes []Process) error {
	e := &SurvivorsError{}
	for _, p := range processes {
		e.Remaining = append(e.Remaining, p.Identity())
	}
	return e
}
