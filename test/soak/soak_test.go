//go:build linux

package soak_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/supervisor/client"
	"github.com/seed-f6977891/hearth/test/standins"
)

const (
	agents = 32
	// tick is the pause between two disturbances, and between two samples.
	tick = 250 * time.Millisecond
)

// disturbed counts what was done.
type disturbed struct{ kills, edits int }

func TestAgentsAreServedWhateverHappens(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a quarter of a minute at least")
	}
	duration := time.Duration(*minutes * float64(time.Minute))
	fmt.Printf("soak: %v, -soak.seed=%d\n", duration, *seed)
	standins.NewCanary(t)
	w := newWorld(t)
	require.NoError(t, w.install(0))
	require.NoError(t, w.start())

	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	var working sync.WaitGroup
	for i := range agents {
		a := &agent{w: w, number: i, rng: rand.New(rand.NewPCG(*seed, uint64(i)))}
		working.Go(func() { a.work(ctx) })
	}
	done := w.disturb(ctx, t, duration)
	working.Wait()
	for _, b := range w.shared.close() {
		w.breach("the shared connection: %s", b)
	}
	w.end(t)
	all, strict := w.figures.sums()
	fmt.Printf("%d calls of %d agents; %d processes started, %d killed; %d edits, %d upgrades\n%v",
		all, agents, w.journals.begun, done.kills, done.edits, w.finished.Load(), &w.figures)
	assert.Positive(t, strict, "calls that had no excuse for an error")
	for _, l := range w.lives {
		fmt.Println(l)
		for _, what := range l.grew() {
			w.breach("%s", what)
		}
	}
	if w.broken() {
		t.Errorf("-soak.seed=%d:\n%s\nthe journals' end:\n%s", *seed, strings.Join(w.breaches, "\n"), w.journals.end())
	}
}

// disturb kills, edits, upgrades and samples until ctx ends or something is broken. The
// daemon is replaced twice.
func (w *world) disturb(ctx context.Context, t *testing.T, duration time.Duration) (done disturbed) {
	rng := rand.New(rand.NewPCG(*seed, agents))
	var upgrading sync.WaitGroup
	defer upgrading.Wait()
	begun := time.Now()
	for ctx.Err() == nil {
		if next := time.Duration(w.started.Load() + 1); next < 3 && time.Since(begun) > next*duration/3 {
			upgrading.Go(w.upgrade)
			for w.started.Load() < int64(next) { // before the next look
				time.Sleep(time.Millisecond)
			}
		}
		if rng.IntN(3) == 0 && w.strike(t, rng) {
			done.kills++
		}
		p := w.projects[rng.IntN(len(w.projects))]
		f := p.files[rng.IntN(len(p.files))]
		if rng.IntN(3) == 0 {
			f = p.slow
		}
		require.NoError(t, f.edit(f == p.slow))
		done.edits++
		w.sample()
		require.NoError(t, w.journals.follow())
		sleep(ctx, tick)
	}
	return done
}

// end stops the daemon and looks for what is left.
func (w *world) end(t *testing.T) {
	c, err := w.client(client.WithoutStart())
	require.NoError(t, err)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	stopped, err := c.StopDaemon(ctx, false)
	if err != nil || !stopped.Stopping {
		w.breach("the daemon was stopped: %+v, %v", stopped, err)
	}
	var left []string
	if !standins.Until(standins.Bound, func() bool {
		left, err = w.left()
		return err == nil && len(left) == 0
	}) {
		w.breach("left: %v, %v", left, err)
	}
	require.NoError(t, w.journals.follow())
	for _, e := range w.journals.survivors() {
		w.breach("%s %d carries no mark, and lives", e.Role, e.PID)
	}
	for _, b := range w.kept() {
		w.breach("%s", b)
	}
}
