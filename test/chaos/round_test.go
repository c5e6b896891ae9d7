//go:build linux

package chaos_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
)

// round is one that is being played.
type round struct {
	drawn
	t       *testing.T
	lean    lean
	mark    procscan.Mark // in the environment of the host and all that it starts
	host    *remote
	guard   procscan.Identity
	cage    string    // the directory of the runtime's control groups
	ordered bool      // the end was
	fell    bool      // the victim was there to be killed
	died    time.Time // the runtime did
	result  *result
}

const (
	// grace is what a tree has from the polite signal to the end of the forced one.
	grace = 1500 * time.Millisecond
	// promised is how long after that a survivor may be seen at most.
	promised = 3 * time.Second
	// shortly bounds the wait for a moment that may never come: the tree does its worst.
	shortly = 3 * time.Second
)

func (r *round) play() {
	r.lean = newLean(r.t, r.knobs()...)
	if r.direct {
		r.setup.Command = r.lean.direct()
	}
	r.setup.RuntimeDir = runtimeDir(r.t)
	r.setup = r.lean.setup(r.setup)
	if r.way == byIdle {
		r.setup.Idle = "200ms"
	}
	r.mark = procscan.NewMark("CHAOS_ROUND")
	r.host = startHost(r.t, r.setup, r.mark.Env())
	r.cage = r.recordedCage()
	if r.Guard {
		r.guard = r.host.awaitGuard(procscan.Identity{})
	}
	r.host.order(r.call())
	r.awaitMoment()
	time.Sleep(r.delay) // drawn: whatever goes on then is what is hit
	r.kill()
	if r.runtimeDies() {
		r.afterDeath()
	} else {
		r.afterClose()
	}
	r.expectNoTrace()
}

// call is what the tree is started for.
func (r *round) call() order {
	if !r.repl {
		return order{Do: "check", Project: r.lean.project, File: r.lean.write(r.t, r.busy)}
	}
	code := "#check Nat"
	if r.busy {
		code = "-- fake: sleep 10m"
	}
	return order{Do: "run", Project: r.lean.project, Code: code}
}

// awaitMoment brings the tree to the moment at which somebody dies.
func (r *round) awaitMoment() {
	switch r.moment {
	case atLaunch:
		return
	case atInitialize:
		r.awaitEvent(func(e standins.Event) bool {
			return e.Event == journal.Start && (e.Role == server || e.Role == repl)
		})
		return
	}
	switch {
	case r.repl && r.busy:
		r.awaitEvent(standins.Is(repl, "directive", "sleep"))
	case r.repl:
		r.awaitEvent(standins.Is(repl, journal.Received, ""))
	case r.busy:
		r.awaitEvent(standins.Is(build, journal.Start, ""))
	default:
		r.awaitEvent(standins.Is(worker, journal.Start, ""))
	}
	switch r.moment {
	case inClose:
		r.end()
	case inSweep:
		r.end()
		r.awaitEvent(standins.Is("", journal.Signal, "SIGTERM"))
	case inRetry:
		r.end()
		standins.Until(shortly, r.retries)
	}
}

// awaitEvent waits for an event that may not come.
func (r *round) awaitEvent(is func(standins.Event) bool) {
	standins.Until(shortly, func() bool { return len(standins.Select(r.t, r.lean.journal, is)) > 0 })
}

// end orders the end; an idle one comes by itself.
func (r *round) end() {
	if r.way != byIdle && !r.ordered {
		r.ordered = true
		r.host.order(order{Do: r.way})
	}
}

func (r *round) retries() bool {
	status, ok := r.host.status()
	for _, tree := range status.Trees {
		if tree.State == "backoff" {
			return true
		}
	}
	return !ok // it has ended already
}

// kill lets the victim die.
func (r *round) kill() {
	switch r.victim {
	case nobody:
	case theGuard, guardThenIt:
		r.killProcess(r.guard.PID, r.guard.StartTicks)
		if r.victim == guardThenIt && !r.ordered {
			r.host.awaitGuard(r.guard)
			r.killHost()
		} else if r.victim == guardThenIt {
			r.killHost()
		}
	case runtimeAndIt:
		r.killHost()
		r.killProcess(r.guard.PID, r.guard.StartTicks)
	case theRuntime, runtimeNoGuard:
		r.killHost()
	default:
		starts := standins.Select(r.t, r.lean.journal, standins.Is(r.victim, journal.Start, ""))
		if len(starts) > 0 {
			last := starts[len(starts)-1]
			r.killProcess(last.PID, last.StartTicks)
		}
	}
}

func (r *round) killHost() {
	r.died = time.Now()
	r.killProcess(r.host.PID, r.host.StartTicks)
	r.host.Wait(r.t)
}

func (r *round) killProcess(pid int, ticks uint64) {
	if standins.Gone(pid, ticks) {
		return
	}
	r.fell = true
	standins.Kill(r.t, standins.Event{Role: r.victim, PID: pid, StartTicks: ticks}, unix.SIGKILL)
	if pid != r.host.PID {
		r.result.reusers.place(r.t, pid, 100*time.Millisecond)
	}
}

// afterClose is the end of a round whose runtime lives.
func (r *round) afterClose() {
	if r.victim == theGuard && !r.ordered {
		r.host.awaitGuard(r.guard)
	}
	if r.way == byIdle {
		r.awaitIdle()
	}
	r.end()
	how := r.way
	if r.way == byIdle {
		how = byShutdown
		r.host.order(order{Do: how})
	}
	closed := r.host.closed(how)
	r.result.note(&r.result.slowestClose, closed.Took)
	r.host.leave()
}

// awaitIdle waits until the runtime says that it has no tree any more, and looks whether
// that is true.
func (r *round) awaitIdle() {
	r.t.Helper()
	require.True(r.t, standins.Until(standins.Bound, func() bool {
		status, ok := r.host.status()
		closed := ok && status.Runtime.Trees == 0 && len(status.Entries) == 0
		if closed {
			assert.Empty(r.t, alive(r.lean.journal), "closed, and these live")
		}
		return closed
	}), "it never became idle")
}

// afterDeath is the end of a round whose runtime died: its guard ends what it left, or
// the next start.
func (r *round) afterDeath() {
	slowest, died := &r.result.slowestGuard, r.died
	var next *remote
	if alone := r.victim == runtimeAndIt || r.victim == runtimeNoGuard || r.victim == guardThenIt && r.ordered; alone {
		slowest, died = &r.result.slowestStart, time.Now()
		next = startHost(r.t, r.lean.setup(setup{RuntimeDir: r.setup.RuntimeDir, Guard: true}), r.mark.Env())
	}
	gone := standins.Until(standins.Bound, func() bool { return len(alive(r.lean.journal)) == 0 })
	took := time.Since(died)
	r.result.note(slowest, took)
	if !gone {
		r.result.survivors(len(alive(r.lean.journal)))
		assert.Empty(r.t, alive(r.lean.journal), "survivors")
	}
	assert.Less(r.t, took, grace+promised)
	if next != nil {
		assert.True(r.t, standins.Until(standins.Bound, func() bool {
			status, ok := next.status()
			return ok && status.Runtime.Leftovers == ""
		}), "the sweep of leftovers never ends")
		next.shut(byShutdown)
		next.leave()
	}
}

// expectNoTrace looks for what is left when everything has ended: processes of the tree,
// the guard, the list of trees.
func (r *round) expectNoTrace() {
	var hits []procscan.Identity
	assert.True(r.t, standins.Until(standins.Bound, func() bool { // a guard leaves after its last look
		hits = carriers(r.t, r.mark)
		return len(hits) == 0
	}), "left: %v", hits)
	// Only now: a process that a guard has yet to end may have written nothing so far.
	if left := alive(r.lean.journal); len(left) > 0 {
		r.result.survivors(len(left))
		assert.Empty(r.t, left, "survivors")
	}
	files, err := filepath.Glob(filepath.Join(r.setup.RuntimeDir, "trees", "*"))
	assert.NoError(r.t, err)
	assert.Empty(r.t, files)
	assert.NoDirExists(r.t, r.cage)
	r.result.played(r)
}

// recordedCage reads where the runtime says that its control groups are.
func (r *round) recordedCage() string {
	files, err := filepath.Glob(filepath.Join(r.setup.RuntimeDir, "trees", "*"))
	require.NoError(r.t, err)
	require.Len(r.t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(r.t, err)
	var record struct{ Containment string }
	require.NoError(r.t, json.Unmarshal(text, &record))
	require.Equal(r.t, r.Contained, record.Containment != "")
	return record.Containment
}

func carriers(t *testing.T, mark procscan.Mark) (found []procscan.Identity) {
	scan, err := procscan.SystemTable().Scan(t.Context(), mark)
	require.NoError(t, err)
	defer scan.Close()
	for _, p := range scan.Hits {
		found = append(found, p.Identity())
	}
	slices.SortFunc(found, func(a, b procscan.Identity) int { return a.PID - b.PID })
	return found
}
