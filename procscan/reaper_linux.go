package procscan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Subreaper makes this process the new parent of every orphan among its
// descendants, in the place of PID 1. It holds for the whole process and can't be
// seen by the host's own code, so only a program that is nothing but hearth may
// ask for it. Whoever does has to run a Reaper.
func Subreaper() error {
	return os.NewSyscallError("prctl", unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
}

// Reaper waits for the orphans that this process was given as a subreaper or as
// PID 1 of a container. It takes neither the launcher's children nor any process
// of our own session: those are children that other code of this program started
// with os/exec, and their exit status is for that code (one that is started with
// Setsid has to go through the launcher). The trees of a Launcher have sessions
// of their own.
//
// It asks the kernel for its children by number. wait4(-1) would take the exit
// status of whatever ended first.
type Reaper struct {
	launcher *OSLauncher
	runtime  Mark
	session  int
	step     sync.Mutex // one at a time
}

// NewReaper gives a reaper beside the launcher's children. Orphans that carry
// the mark belong to trees of this runtime.
func NewReaper(launcher *OSLauncher, runtime Mark) (*Reaper, error) {
	if err := runtime.Validate(); err != nil {
		return nil, err
	}
	session, err := unix.Getsid(0)
	if err != nil {
		return nil, os.NewSyscallError("getsid", err)
	}
	return &Reaper{launcher: launcher, runtime: runtime, session: session}, nil
}

const (
	// reapInterval bounds how long a zombie lies when no wake-up came for it.
	reapInterval = time.Second
	// reapRetry follows a step that a start of a child was in the way of.
	reapRetry = 10 * time.Millisecond
)

// Run reaps until ctx ends: at each receive from wake, for which a program
// notifies SIGCHLD, and at least once a second. It gives the reason for which
// ctx ended, or the error of Reap.
func (r *Reaper) Run(ctx context.Context, wake <-chan os.Signal) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-wake:
		case <-timer.C:
		}
		next := reapInterval
		_, err := r.Reap()
		if errors.Is(err, errStarting) {
			next, err = reapRetry, nil
		}
		if err != nil {
			return err
		}
		timer.Reset(next)
	}
}

// errStarting postpones a step while a child is being started: until then its
// PID is nobody's, and it would be taken for an orphan. Waiting for the lock
// instead would let one start that hangs hold up all others.
var errStarting = errors.New("a child is being started")

// Reap waits for the orphans that have ended, and counts them.
func (r *Reaper) Reap() (reaped int, err error) {
	err = r.eachOrphan(func(st procStat) error {
		if !st.dead() {
			return nil
		}
		pid, err := retry(func() (int, error) { return unix.Wait4(st.PID, nil, unix.WNOHANG, nil) })
		if err == nil && pid == st.PID {
			reaped++
		}
		return nil
	})
	return reaped, err
}

// eachOrphan goes through the children of this process that nobody here started.
// It gives errStarting while that can't be told.
func (r *Reaper) eachOrphan(visit func(procStat) error) error {
	r.step.Lock()
	defer r.step.Unlock()
	if !r.launcher.starting.TryLock() {
		return errStarting
	}
	defer r.launcher.starting.Unlock()
	pids, err := children()
	if err != nil {
		return fmt.Errorf("list our children: %w", err)
	}
	for _, pid := range pids {
		if r.launcher.owns(pid) {
			continue
		}
		st, err := system.stat(pid)
		if err == nil && st.SID != r.session {
			err = visit(st)
		}
		if err != nil && !missed(err) {
			return fmt.Errorf("look at our child %d: %w", pid, err)
		}
	}
	return nil
}

// owns reports whether the PID is a child's that wasn't reaped yet.
func (l *OSLauncher) owns(pid int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.owned[pid] != nil
}

// children reads the lists that the kernel keeps for each thread of ours.
func children() ([]int, error) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, thread := range threads {
		raw, err := os.ReadFile("/proc/self/task/" + thread.Name() + "/children")
		if IsGone(err) {
			continue // the thread ended, and its children went to another
		}
		if err != nil {
			return nil, err
		}
		for _, field := range bytes.Fields(raw) {
			pid, err := strconv.Atoi(string(field))
			if err != nil {
				return nil, err
			}
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// Adopted lists the living orphans that carry no mark of this runtime: started
// with a cleared environment, so that no sweep finds them. To which tree they
// belonged can't be told.
// While a child is being started none is listed: it would look like one.
func (r *Reaper) Adopted() ([]Info, error) {
	adopted, _, _, err := r.adopted()
	if errors.Is(err, errStarting) {
		return nil, nil
	}
	return adopted, err
}

// adopted also counts those that end, the children of which come to us next, and the
// zombies, the children of which have come.
func (r *Reaper) adopted() (living []Info, ending, zombies int, err error) {
	buf := environBuffers.Get().(*[]byte)
	defer environBuffers.Put(buf)
	look := newRound(system, r.runtime.Env(), buf)
	err = r.eachOrphan(func(st procStat) error {
		v, err := look.judge(st.PID)
		switch v {
		case other, unreadable:
			living = append(living, st.Info)
		case unknown:
			ending++
		case gone:
			zombies++
		}
		return err
	})
	return living, ending, zombies, err
}

// EndAdopted ends the adopted processes, and those that come to us as their
// parents end: SIGTERM, SIGCONT and, after grace.Term, SIGKILL for at most
// grace.Kill. It is for the shutdown, after the last tree was reaped. A
// *SurvivorsError says that it has to be called again, also when all that is left is
// about to end: the kernel may need longer for the memory that it frees, and what such a
// process started comes to us after that. One that another user's rights protect from
// us, since sudo started it, is left alone.
func (r *Reaper) EndAdopted(ctx context.Context, grace Grace) error {
	spared := map[Identity]bool{}
	for _, step := range []struct {
		signals []os.Signal
		within  time.Duration
	}{
		{[]os.Signal{syscall.SIGTERM, syscall.SIGCONT}, grace.Term},
		{[]os.Signal{syscall.SIGKILL}, grace.Kill},
	} {
		asked := map[Identity]bool{}
		empty := 0 // looks in a row: the kernel's lists may miss one while they change
		err := poll(ctx, step.within, func() (bool, error) {
			left, err := r.endOnce(asked, spared, step.signals)
			switch {
			case errors.Is(err, errStarting):
				err, empty = nil, 0
			case err != nil || left > 0:
				empty = 0
			default:
				empty++
			}
			return empty == 2, err
		})
		if empty == 2 || err != nil {
			return err
		}
	}
	left, ending, _, err := r.adopted() // who traces a zombie keeps us from reaping it
	switch {
	case errors.Is(err, errStarting):
		return &SurvivorsError{Unproven: true}
	case err != nil:
		return err
	}
	left = slices.DeleteFunc(left, func(p Info) bool { return spared[p.Identity] })
	return leftOver(left, ending)
}

func leftOver(living []Info, ending int) error {
	if len(living)+ending == 0 {
		return nil
	}
	e := &SurvivorsError{Unproven: len(living) == 0}
	for _, p := range living {
		e.Remaining = append(e.Remaining, p.Identity)
	}
	return e
}

// endOnce signals the adopted processes that weren't asked yet and counts those that live
// or aren't reaped, without the spared. It reaps on the way: Run may have ended before.
func (r *Reaper) endOnce(asked, spared map[Identity]bool, signals []os.Signal) (left int, err error) {
	if _, err := r.Reap(); err != nil {
		return 0, err
	}
	living, ending, zombies, err := r.adopted()
	if err != nil {
		return 0, err
	}
	for _, info := range living {
		if !asked[info.Identity] {
			asked[info.Identity] = true
			err := signalOne(info.Identity, signals)
			if spared[info.Identity] = isUnreadable(err); err != nil && !isUnreadable(err) {
				return 0, err
			}
		}
		if !spared[info.Identity] {
			left++
		}
	}
	return left + ending + zombies, nil
}

// signalOne holds the process first: the list that its number is from may be old.
func signalOne(id Identity, signals []os.Signal) error {
	p, err := system.hold(id.PID)
	if IsGone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer p.Close()
	if p.Identity() != id {
		return nil
	}
	if err := p.Signal(syscall.Signal(0)); isUnreadable(err) {
		return err
	}
	return signalAll([]Process{p}, signals...)
}
