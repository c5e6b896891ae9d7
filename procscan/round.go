package procscan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"syscall"
)

// round is one Scan under way.
type round struct {
	src   source
	entry []byte
	buf   *[]byte
	scan  Scan
	// upTo is a PID up to which everything was looked at after it was given.
	upTo int
}

func newRound(src source, entry string, buf *[]byte) *round {
	return &round{src: src, entry: []byte(entry), buf: buf, scan: Scan{Began: src.now()}}
}

// list gives all processes.
func (r *round) list() ([]int, error) {
	r.upTo = r.src.newest()
	pids, err := r.src.pids()
	if err != nil {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	return pids, nil
}

const (
	// chaseRounds bounds the chase on a machine where others never stop forking.
	chaseRounds = 16
	// chaseMost bounds one round of it.
	chaseMost = 1024
	// firstPID is where the kernel begins again after its largest PID.
	firstPID = 300
)

// chase looks at the processes that were started since the list was made, until
// there are no new ones. A tree whose every process starts the next and ends would
// else be a step ahead of the list for ever. Knowing the newest PID costs far
// less than listing again. It adds those in doubt to pending.
func (r *round) chase(ctx context.Context, pending []int) ([]int, error) {
	for range chaseRounds {
		newest := r.src.newest()
		if newest == 0 || newest == r.upTo {
			break
		}
		from := r.upTo + 1
		if newest < from {
			from = firstPID // the numbers began again
		}
		var fresh []int
		for pid := max(from, newest-chaseMost+1); pid <= newest; pid++ {
			fresh = append(fresh, pid)
		}
		r.upTo = newest
		doubtful, err := r.look(ctx, fresh)
		if err != nil {
			return nil, err
		}
		pending = append(pending, doubtful...)
	}
	return pending, nil
}

// look judges each process and gives back the unknown ones.
func (r *round) look(ctx context.Context, pids []int) ([]int, error) {
	var again []int
	for i, pid := range pids {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		v, err := r.judge(pid)
		if v == hit && err == nil {
			if v, err = r.take(pid); v == gone || v == unknown {
				r.scan.Vanished++
			}
		}
		if errors.Is(err, syscall.EMFILE) && len(r.scan.Hits) > 0 {
			// More carriers than we may hold at a time: these first, the next
			// scan finds the others.
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("look at process %d: %w", pid, err)
		}
		switch v {
		case unreadable:
			r.scan.Unreadable++
		case unknown:
			again = append(again, pid)
		}
	}
	return again, nil
}

// judge looks at the environment, and only if there is none at the rest. A process
// that ends gives up its memory first (the more it has, the longer it takes), and only
// then its children and its files: without an environment it needn't have ended yet.
func (r *round) judge(pid int) (verdict, error) {
	env, err := r.src.environ(pid, *r.buf)
	switch {
	case IsGone(err):
		return gone, nil
	case isUnreadable(err):
		return unreadable, nil
	case err != nil:
		return gone, err
	}
	if cap(env) > cap(*r.buf) {
		*r.buf = env[:cap(env)]
	}
	if len(env) > 0 {
		if hasEntry(env, r.entry) {
			return hit, nil
		}
		return other, nil
	}
	st, err := r.src.stat(pid)
	switch {
	case IsGone(err):
		return gone, nil
	case isUnreadable(err):
		return unreadable, nil
	case err != nil:
		return gone, err
	case st.dead() || st.kernel:
		return gone, nil
	case st.noEnv:
		return other, nil
	}
	return unknown, nil
}

// take holds a carrier and makes sure that it is the one which was read: the
// hold comes first, then its environment is read again, and then it is asked
// through the hold whether it lived all the time.
func (r *round) take(pid int) (verdict, error) {
	for _, p := range r.scan.Hits {
		if p.Identity().PID == pid {
			return other, nil // listed, and met again in the chase
		}
	}
	p, err := r.src.hold(pid)
	switch {
	case IsGone(err):
		return gone, nil
	case errors.Is(err, errThread):
		return other, nil // the chase came upon it; its process has another number
	case err != nil:
		return gone, err
	}
	v, err := r.judge(pid)
	if v == hit && err == nil {
		err = p.Signal(syscall.Signal(0))
		if err == nil || isUnreadable(err) {
			r.scan.Hits = append(r.scan.Hits, p)
			return hit, nil
		}
	}
	_ = p.Close()
	if IsGone(err) {
		return gone, nil
	}
	return v, err
}

func (r *round) noteUnknown(pids []int) error {
	for _, pid := range pids {
		st, err := r.src.stat(pid)
		switch {
		case IsGone(err) || err == nil && st.dead():
		case isUnreadable(err):
			r.scan.Unreadable++
		case err != nil:
			return fmt.Errorf("look at process %d: %w", pid, err)
		default:
			r.scan.Unknown = append(r.scan.Unknown, st.Info)
		}
	}
	return nil
}

// hasEntry reports whether an environment block has exactly this entry: one
// that only begins or ends like it is somebody else's. It looks for the second half,
// which is random in a mark: a search for the name would stop at whatever begins like it.
func hasEntry(block, entry []byte) bool {
	half := len(entry) / 2
	for from := half; from < len(block); {
		at := bytes.Index(block[from:], entry[half:])
		if at < 0 {
			return false
		}
		start := from + at - half
		end := start + len(entry)
		if bytes.HasPrefix(block[start:], entry) &&
			(start == 0 || block[start-1] == 0) && (end == len(block) || block[end] == 0) {
			return true
		}
		from += at + 1
	}
	return false
}
