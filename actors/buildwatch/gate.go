package buildwatch

import (
	"cmp"
	"slices"
	"time"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

const (
	slowestKept = 20   // files in the table
	samplesKept = 1024 // compiles in the ring
)

// gate knows which compiles run, since when, and which of them take too long. It is
// pure: it sees a build only through the looks that it is given.
type gate struct {
	match   Match
	dir     string        // files below it are named from here
	perFile time.Duration // 0: none

	processes map[procscan.Identity]process // at the last looks
	at        uint64                        // when the last look was
	asleep    int64                         // the most of Look.Asleep so far
	seen      int                           // compiles
	ended     int                           // of those
	samples   ring
	slowest   []messages.Compile // one for each file, the slowest first
}

// process is a member of the tree as it was when it was last seen.
type process struct {
	file    string // what it compiles; empty: nothing
	since   uint64 // when it can have begun with that, in the kernel's ticks
	at      uint64 // when it was last seen
	missed  int    // looks since then
	below   bool   // an ancestor of it compiles the same file: this one isn't counted
	compile messages.Compile
}

// missedMost is for how many looks a process that isn't seen is remembered: one
// between two programs isn't, and is the same process afterwards.
const missedMost = 3

func (p process) counts() bool { return p.file != "" && !p.below && p.missed == 0 }

func newGate(match Match, dir string, perFile time.Duration) *gate {
	return &gate{match: match, dir: dir, perFile: perFile}
}

// look takes in what the tree is now. It gives the limits that are exceeded, the
// worst first.
func (g *gate) look(l procscan.Look) []messages.Breach {
	slept := g.wake(l)
	present := g.present(l)
	if slept {
		g.beganAwake(present)
	}
	family := newFamily(l.Members)
	family.markBelow(present)
	peaks := family.peaks()
	var over []messages.Breach
	for id, p := range present {
		if !p.counts() {
			continue
		}
		before := g.processes[id]
		if !before.counts() || before.file != p.file {
			g.seen++
		}
		elapsed := l.Since(p.since)
		p.compile = messages.Compile{File: p.file, PID: id.PID, StartTicks: id.StartTicks, Seconds: elapsed.Seconds(),
			Peak: max(peaks[id], before.compile.Peak)}
		present[id] = p
		if g.perFile > 0 && elapsed >= g.perFile {
			over = append(over, messages.Breach{File: p.file, Elapsed: elapsed.Seconds(), Limit: g.perFile.Seconds()})
		}
	}
	g.endAllBut(present)
	g.remember(present)
	g.at = l.At
	slices.SortFunc(over, func(a, b messages.Breach) int {
		return cmp.Or(cmp.Compare(b.Elapsed, a.Elapsed), cmp.Compare(a.File, b.File))
	})
	return over
}

// wake moves all that is remembered forward by how long the machine has slept since the last
// look: nothing compiled meanwhile.
func (g *gate) wake(l procscan.Look) (slept bool) {
	if g.at == 0 {
		g.asleep = l.Asleep
	}
	if l.Asleep <= g.asleep {
		return false
	}
	by := uint64(l.Asleep - g.asleep)
	g.asleep = l.Asleep
	g.at += by
	for id, p := range g.processes {
		p.since, p.at = p.since+by, p.at+by
		g.processes[id] = p
	}
	return true
}

// beganAwake has what wasn't seen before a sleep begin behind it.
func (g *gate) beganAwake(present map[procscan.Identity]process) {
	for id, p := range present {
		if _, seen := g.processes[id]; !seen {
			p.since = max(p.since, g.at)
			present[id] = p
		}
	}
}

// present judges each member. A process that was seen with another program began with
// this one later than that: a script that ends with exec of a compiler must not be
// held to have compiled for as long as it has run.
func (g *gate) present(l procscan.Look) map[procscan.Identity]process {
	present := make(map[procscan.Identity]process, len(l.Members))
	for _, m := range l.Members {
		p := process{file: g.match.file(m, g.dir), since: m.StartTicks, at: l.At}
		if before, ok := g.processes[m.Identity]; ok {
			p.since = before.at
			if before.file == p.file {
				p.since = before.since
			}
		}
		present[m.Identity] = p
	}
	return present
}

// remember keeps what is present, and for a while what isn't.
func (g *gate) remember(present map[procscan.Identity]process) {
	for id, p := range g.processes {
		if _, ok := present[id]; !ok && p.missed < missedMost {
			p.missed++
			present[id] = p
		}
	}
	g.processes = present
}

// endAllBut notes the compiles that ran at the last look and are not going on.
func (g *gate) endAllBut(present map[procscan.Identity]process) {
	for id, p := range g.processes {
		if now := present[id]; p.counts() && (now.file != p.file || !now.counts()) {
			g.end(p.compile)
		}
	}
}

// endAll notes what ran at the last look, when there will be no other.
func (g *gate) endAll() {
	g.endAllBut(nil)
	g.processes = nil
}

func (g *gate) end(c messages.Compile) {
	g.ended++
	g.samples.add(c)
	at := slices.IndexFunc(g.slowest, func(s messages.Compile) bool { return s.File == c.File })
	switch {
	case at < 0:
		g.slowest = append(g.slowest, c)
	case g.slowest[at].Seconds >= c.Seconds:
		return
	default:
		g.slowest[at] = c
	}
	slices.SortStableFunc(g.slowest, func(a, b messages.Compile) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.File, b.File))
	})
	g.slowest = g.slowest[:min(len(g.slowest), slowestKept)]
}

// running lists what compiles now, the slowest first.
func (g *gate) running() []messages.RunningFile {
	var running []messages.RunningFile
	for _, p := range g.processes {
		if p.counts() {
			running = append(running, messages.RunningFile{File: p.file, PID: p.compile.PID, Seconds: p.compile.Seconds})
		}
	}
	slices.SortFunc(running, func(a, b messages.RunningFile) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.PID, b.PID))
	})
	return running
}

// next is when to look again: after the interval, or earlier where a compile comes to
// its limit before that.
func (g *gate) next(interval time.Duration) time.Duration {
	if running := g.running(); g.perFile > 0 && len(running) > 0 {
		left := g.perFile - time.Duration(running[0].Seconds*float64(time.Second))
		return min(interval, max(left, finest))
	}
	return interval
}

// finest is the kernel's own grain of time: a look within the same tick shows nothing.
const finest = 10 * time.Millisecond

// ring keeps the last compiles that ended.
type ring struct {
	kept []messages.Compile
	next int // the oldest, once it is full
}

func (r *ring) add(c messages.Compile) {
	if len(r.kept) < samplesKept {
		r.kept = append(r.kept, c)
		return
	}
	r.kept[r.next] = c
	r.next = (r.next + 1) % samplesKept
}

// inOrder gives them, the oldest first.
func (r *ring) inOrder() []messages.Compile {
	return slices.Concat(r.kept[r.next:], r.kept[:r.next])
}
