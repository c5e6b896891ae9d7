package procscan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// source is what the rules of a scan need to know from the kernel. Errors that
// satisfy IsGone mean that the process ended, those of isUnreadable that we may
// not look; all others are real.
type source interface {
	// pids lists all processes.
	pids() ([]int, error)
	// newest is the PID that was given last, or 0 where that can't be told.
	newest() int
	// environ reads the environment that a process was started with, its
	// entries ended by NUL bytes, into buf or a larger one. A process that shows
	// none need not have ended: that is for stat to say.
	environ(pid int, buf []byte) ([]byte, error)
	// stat also works on zombies.
	stat(pid int) (procStat, error)
	// hold opens a process so that signals can reach no other.
	hold(pid int) (Process, error)
	// now gives the present in the unit of StartTicks.
	now() uint64
}

// errThread is hold's answer to the number of a thread that isn't its process's.
var errThread = errors.New("a thread has this number, not a process")

// procStat is Info with what the rules need besides.
type procStat struct {
	Info
	kernel  bool  // a kernel thread
	noEnv   bool  // was started with an empty environment
	rss     int64 // bytes
	threads int
}

// dead reports whether it runs no more: a zombie, or on its way out of the table.
// A process whose first thread ended before the others looks like a zombie, and
// lives.
func (st procStat) dead() bool {
	return st.State == 'Z' && st.threads <= 1 || st.State == 'X' || st.State == 'x'
}

// scanner is a Table on a source.
type scanner struct{ src source }

const (
	// environBuffer is large enough to take nearly every environment in one
	// read(2): one that is read in pieces while its process executes a program
	// can come out cut, without an error.
	environBuffer = 256 << 10
	// A process in the middle of execve(2) shows no environment. It takes
	// about a millisecond, so it is asked again a few times.
	execRereads = 3
	execPause   = 2 * time.Millisecond
)

var environBuffers = sync.Pool{New: func() any { b := make([]byte, environBuffer); return &b }}

// verdict is what one look at one process says.
type verdict int

const (
	other      verdict = iota // readable, without the mark
	hit                       // has the mark
	gone                      // ended
	unreadable                // not ours to look into
	unknown                   // between two programs, or about to end
)

// Scan implements Table.
func (s scanner) Scan(ctx context.Context, mark Mark) (_ Scan, err error) {
	if err := mark.Validate(); err != nil {
		return Scan{}, err
	}
	buf := environBuffers.Get().(*[]byte)
	defer environBuffers.Put(buf)
	round := newRound(s.src, mark.Env(), buf)
	defer func() {
		if err != nil {
			round.scan.Close()
		}
	}()
	pending, err := round.list()
	if err != nil {
		return Scan{}, err
	}
	for try := 0; ; try++ {
		if pending, err = round.look(ctx, pending); err != nil {
			return Scan{}, err
		}
		if pending, err = round.chase(ctx, pending); err != nil {
			return Scan{}, err
		}
		if len(pending) == 0 {
			return round.scan, nil
		}
		if try == execRereads {
			return round.scan, round.noteUnknown(pending)
		}
		if err := pause(ctx, execPause); err != nil {
			return Scan{}, err
		}
	}
}

// Walk implements Table.
func (s scanner) Walk(ctx context.Context) ([]Info, error) {
	pids, err := s.src.pids()
	if err != nil {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	infos := make([]Info, 0, len(pids))
	for i, pid := range pids {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		st, err := s.src.stat(pid)
		switch {
		case err == nil:
			infos = append(infos, st.Info)
		case !IsGone(err) && !isUnreadable(err):
			return nil, fmt.Errorf("look at process %d: %w", pid, err)
		}
	}
	return infos, nil
}

// pause waits; it fails only with the reason for which ctx ended.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// kin gives our own process and its ancestors, which are never signalled.
func kin(src source) (map[Identity]bool, error) {
	own := map[Identity]bool{}
	for pid := os.Getpid(); pid > 0; {
		st, err := src.stat(pid)
		if IsGone(err) {
			break // a parent that ended meanwhile: we have another one now, which is no carrier's concern
		}
		if err != nil {
			return nil, fmt.Errorf("look at our ancestor %d: %w", pid, err)
		}
		own[st.Identity] = true
		pid = st.PPID
	}
	return own, nil
}
