package repl_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

const mebibyte = 1 << 20

// behindAWrapper makes a shell that only waits the leader of each worker's tree, and
// limits the tree.
func behindAWrapper(cfg *supervisor.Config) {
	lean := cfg.Languages["lean"]
	lean.REPL.Command = append(config.Command{"sh", "-c", `"$0" "$@"; exit $?`}, lean.REPL.Command...)
	limit := config.Size(200 * mebibyte)
	lean.REPL.MemoryLimit = &limit
	cfg.Languages["lean"] = lean
	cfg.REPL.MemoryRatio = 0.9
}

// TestReportedFault17MemoryOfTheWholeTreeIsLimited: the wrapper never grows, what it
// started does.
func TestReportedFault17MemoryOfTheWholeTreeIsLimited(t *testing.T) {
	r := startFake(t, script.REPL{Grow: "20MiB", Rules: []script.Rule{script.Match("hang", script.Delay(time.Hour))}},
		resident, behindAWrapper)
	stop := r.watchMemory(230 * mebibyte)
	var generations []int
	for range 40 {
		generations = append(generations, r.generation())
	}
	stop()
	calls := make(map[int]int)
	for _, generation := range generations {
		calls[generation]++
	}
	last := generations[len(generations)-1]
	assert.GreaterOrEqual(t, last, 5, "%v", calls)
	for generation := 1; generation < last; generation++ {
		assert.InDelta(t, 8, calls[generation], 1, "%v", calls)
	}
	r.expectOneWorker(last)

	go func() {
		received := r.Await(t, standins.Is("repl", journal.Received, "hang"))
		standins.Kill(t, received, unix.SIGKILL)
	}()
	began := time.Now()
	failed := r.failure("hang", plenty)
	assert.Less(t, time.Since(began), plenty/2, "not by its timeout")
	assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(failed))
	assert.Contains(t, failed.Error(), "137", "the wrapper's word for a child that was killed")
	assert.Greater(t, r.generation(), last)
}

// generation runs something and gives the number of the process that answered.
func (r *rig) generation() (n int) {
	r.t.Helper()
	_, err := fmt.Sscanf(r.says("marker M"), "generation %d ", &n)
	require.NoError(r.t, err)
	return n
}

// watchMemory looks at all of the REPL's processes again and again, until stopped.
func (r *rig) watchMemory(limit int64) (stop func()) {
	ctx, cancel := context.WithCancel(r.t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		for ticks := time.NewTicker(50 * time.Millisecond); ctx.Err() == nil; <-ticks.C {
			var members []procscan.Identity
			for _, started := range r.replStarts() {
				members = append(members, procscan.Identity{PID: started.PID, StartTicks: started.StartTicks})
			}
			if rss, err := procscan.Measure(ctx, members); err == nil {
				assert.LessOrEqual(r.t, rss, limit)
			}
		}
	})
	return func() { cancel(); watching.Wait() }
}

// expectOneWorker checks that of all generations only the last is left, and that the
// pool's capacity is what it was.
func (r *rig) expectOneWorker(generations int) {
	r.t.Helper()
	starts := r.replStarts()
	require.GreaterOrEqual(r.t, len(starts), generations)
	for _, started := range starts[:generations-1] {
		assert.True(r.t, standins.Gone(started.PID, started.StartTicks))
	}
	status, err := r.Status(r.t.Context())
	require.NoError(r.t, err)
	require.Len(r.t, status.Pools, 1)
	assert.Equal(r.t, 1, status.Pools[0].Capacity)
}

// TestCodeThatFillsTheMemoryIsEndedWhileItRuns: between two samples of all trees it
// could have taken the whole machine.
func TestCodeThatFillsTheMemoryIsEndedWhileItRuns(t *testing.T) {
	r := startFake(t, script.REPL{Rules: []script.Rule{
		script.Match("fill", script.Repeat(100, script.Grow(20*mebibyte), script.Delay(50*time.Millisecond)), script.Delay(time.Hour)),
	}}, behindAWrapper)
	began := time.Now()
	failed := r.failure("fill", plenty)
	assert.Less(t, time.Since(began), plenty/2, "not by its timeout")
	assert.Equal(t, messages.KindMemory, messages.KindOf(failed))
	assert.Contains(t, failed.Error(), "over its limit of 200 MiB")
	assert.Contains(t, r.says("marker M"), "marker M")
}
