package procscan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// RetireGroup ends the process group of the child's leader: SIGTERM, SIGCONT
// (a stopped process takes no SIGTERM otherwise), at most grace.Term, SIGKILL,
// at most grace.Kill. It then marks the group as retired, and its number is not
// used again. After an error it may be called again; for a group that was
// retired before it does nothing.
//
// Whether the group has ended is judged by the states of processes: kill(2)
// with signal 0 succeeds for as long as a zombie is in it, and the leader stays
// one until the tree is gone. Where the states can't be read, the steps go on all the
// same, and the error is that of the last look.
func RetireGroup(ctx context.Context, child Child, grace Grace) error {
	if child.Stage() != Running {
		return nil
	}
	var blind error
	for _, step := range []struct {
		signals []os.Signal
		within  time.Duration
	}{
		{[]os.Signal{syscall.SIGTERM, syscall.SIGCONT}, grace.Term},
		{[]os.Signal{syscall.SIGKILL}, grace.Kill},
	} {
		if err := signalGroup(child, step.signals); err != nil {
			return err
		}
		alive := true
		err := poll(ctx, step.within, func() (bool, error) {
			alive, blind = child.GroupAlive(ctx)
			return blind == nil && !alive, nil
		})
		switch {
		case err != nil:
			return retireError(child, err)
		case blind == nil && !alive:
			child.Retire()
			return nil
		}
	}
	if blind != nil {
		return retireError(child, blind)
	}
	return &SurvivorsError{Remaining: []Identity{child.Identity()}}
}

func retireError(child Child, err error) error {
	return fmt.Errorf("retire process group %d: %w", child.Identity().PID, err)
}

// signalGroup signals without looking first: kill(2) reaches all members at
// once, while a look at them can miss one that was just forked.
func signalGroup(child Child, signals []os.Signal) error {
	for _, sig := range signals {
		err := child.SignalGroup(sig)
		switch {
		case err == nil, IsGone(err):
		case errors.Is(err, ErrRetired), errors.Is(err, ErrReaped):
		case isUnreadable(err): // all that is left runs under another user: the states will say
		default:
			return err
		}
	}
	return nil
}

const (
	pollFirst = time.Millisecond
	pollMost  = 25 * time.Millisecond
)

// poll asks at growing intervals until done says so or the time is over; the
// last question comes at the very end. It fails with the error of done or the
// reason for which ctx ended.
func poll(ctx context.Context, within time.Duration, done func() (bool, error)) error {
	for left, step := within, pollFirst; ; step = min(2*step, pollMost) {
		if ok, err := done(); ok || err != nil || left <= 0 {
			return err
		}
		step = min(step, left)
		if err := pause(ctx, step); err != nil {
			return err
		}
		left -= step
	}
}

// groupAlive looks for a living member. Asking each process for its group costs
// a fraction of reading its state, which only members have to show.
func groupAlive(ctx context.Context, src source, pgid int) (bool, error) {
	pids, err := src.pids()
	if err != nil {
		return false, fmt.Errorf("read the process table: %w", err)
	}
	for _, pid := range pids {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if group, err := syscall.Getpgid(pid); err != nil || group != pgid {
			continue
		}
		st, err := src.stat(pid)
		switch {
		case err == nil && st.PGID == pgid && !st.dead():
			return true, nil
		case err != nil && !IsGone(err):
			return false, err
		}
	}
	return false, nil
}
