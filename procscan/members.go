package procscan

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Member is one living process of a tree, as its watcher sees it.
type Member struct {
	Info
	// Args is its command line. A process may have changed it; most don't.
	Args []string
	// Dir is its working directory, empty where the kernel doesn't tell.
	Dir string
	// Peak is the most memory that it has had resident so far, in bytes.
	Peak int64
}

// Look is a tree at one moment.
type Look struct {
	Members []Member
	// At is the moment, in the unit of Identity.StartTicks.
	At uint64
	// Asleep grows, in that unit, by as long as the machine is suspended: start times and
	// At go on then, while nothing runs. Only differences mean something.
	Asleep int64
}

// Stopped tells whether a process of the look stands still since a signal stopped it,
// as Ctrl-Z does. One that is just starting another can't be stopped: vfork(2) holds it
// up until its child has executed a program, and then it is the child that is stopped.
func (l Look) Stopped(id Identity) bool {
	held := slices.ContainsFunc(l.Members, func(m Member) bool { return m.Identity == id && m.State == 'D' })
	return slices.ContainsFunc(l.Members, func(m Member) bool {
		return m.State == 'T' && (m.Identity == id || held && m.PPID == id.PID)
	})
}

// Age is how long a process has run at the moment of the look. Both of its ends
// are the kernel's own clock since boot: setting the wall clock doesn't move them,
// and in a time namespace both move alike.
func (l Look) Age(id Identity) time.Duration { return l.Since(id.StartTicks) }

// Since is the time from an earlier moment until that of the look.
func (l Look) Since(ticks uint64) time.Duration {
	if ticks >= l.At {
		return 0 // began while the look went on
	}
	return time.Duration(l.At-ticks) * (time.Second / clockTick)
}

// Members looks at all living processes that carry the mark. One that ends while
// it is looked at is left out, and so is one between two programs, whose
// environment or command line is empty: it is in the next look. An error means
// that nothing was learned.
func Members(ctx context.Context, mark Mark) (Look, error) { return members(ctx, watched, mark) }

// memberSource is what a watcher asks of the kernel beyond a scan.
type memberSource interface {
	source
	// args reads a command line, its words ended by NUL bytes.
	args(pid int, buf []byte) ([]byte, error)
	// dir names the working directory.
	dir(pid int) (string, error)
	// peak gives the most resident memory so far, in bytes.
	peak(pid int) (int64, error)
	// asleep gives Look.Asleep.
	asleep() int64
}

func members(ctx context.Context, src memberSource, mark Mark) (Look, error) {
	if err := mark.Validate(); err != nil {
		return Look{}, err
	}
	pids, err := src.pids()
	if err != nil {
		return Look{}, fmt.Errorf("read the process table: %w", err)
	}
	buf := environBuffers.Get().(*[]byte)
	defer environBuffers.Put(buf)
	entry := []byte(mark.Env())
	var found []Member
	for i, pid := range pids {
		if i%256 == 0 && ctx.Err() != nil {
			return Look{}, context.Cause(ctx)
		}
		env, err := src.environ(pid, *buf)
		if err == nil && !hasEntry(env, entry) {
			continue
		}
		member := Member{}
		if err == nil {
			member, err = describe(src, pid, *buf)
		}
		switch {
		case err == nil:
			found = append(found, member)
		case !missed(err):
			return Look{}, fmt.Errorf("look at process %d: %w", pid, err)
		}
	}
	return Look{Members: found, At: src.now(), Asleep: src.asleep()}, nil
}

// describe reads the rest of a carrier. Its number may have come to another process
// since its environment was read: that one is as new as can be, so that nothing is
// ever held against it, and the next look doesn't show it.
func describe(src memberSource, pid int, buf []byte) (m Member, err error) {
	raw, err := src.args(pid, buf)
	if err != nil {
		return Member{}, err
	}
	if m.Args = words(raw); len(m.Args) == 0 {
		return Member{}, ErrGone
	}
	st, err := src.stat(pid)
	if err != nil {
		return Member{}, err
	}
	if st.dead() {
		return Member{}, ErrGone
	}
	m.Info = st.Info
	if m.Peak, err = src.peak(pid); err != nil {
		return Member{}, err
	}
	m.Dir, err = src.dir(pid)
	return m, err
}

// words splits a command line as the kernel gives it.
func words(raw []byte) []string {
	raw = bytes.TrimSuffix(raw, []byte{0})
	if len(raw) == 0 {
		return nil
	}
	return strings.Split(string(raw), "\x00")
}
