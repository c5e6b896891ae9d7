package supervisor_test

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
)

func kept(t *testing.T, name string, machine func() supervisor.Machine, test func(*testing.T, *family)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newKeptFamily(t, nil, machine())
			test(t, f)
			f.end()
		})
	})
}

// guards plays guard processes: each says that it watches and lasts until it is
// killed or dismissed.
type guards struct {
	silent           bool // they never come to their first word
	started, waiting atomic.Int32
	kill             chan error
}

func newGuards() *guards { return &guards{kill: make(chan error)} }

func (g *guards) run(ctx context.Context, watching func()) error {
	g.started.Add(1)
	g.waiting.Add(1)
	defer g.waiting.Add(-1)
	if !g.silent {
		watching()
	}
	select {
	case err := <-g.kill:
		return err
	case <-ctx.Done():
		return nil
	}
}

func (g *guards) machine() supervisor.Machine { return supervisor.Machine{Guard: g.run} }

func TestGuardThatEndsIsReplacedAfterABackoffThatGrowsUntilOneLasts(t *testing.T) {
	var g *guards
	kept(t, "killed", func() supervisor.Machine { g = newGuards(); return g.machine() }, func(t *testing.T, f *family) {
		assert.Equal(t, "watching (process 7)", f.runtime().Guard)
		for n := range 3 {
			g.kill <- errors.New("signal: killed")
			synctest.Wait()
			wait := supervisor.GuardBackoff << n
			assert.Equal(t, "starting again in "+wait.String()+": signal: killed", f.runtime().Guard)
			time.Sleep(wait - 1)
			synctest.Wait()
			require.EqualValues(t, n+1, g.started.Load())
			time.Sleep(time.Nanosecond)
			assert.Equal(t, "watching (process 7)", f.runtime().Guard)
		}
		time.Sleep(supervisor.GuardProven + 1)
		g.kill <- errors.New("signal: killed")
		assert.Contains(t, f.runtime().Guard, supervisor.GuardBackoff.String(), "it had lasted: forgiven")
	})
}

func TestGuardHearsFarewellOnlyWhenTheLastTreeIsGone(t *testing.T) {
	var g *guards
	kept(t, "shutdown", func() supervisor.Machine { g = newGuards(); return g.machine() }, func(t *testing.T, f *family) {
		f.spawn()
		stuck := f.machine.Children()[0].Escapee()
		stuck.SetUnkillable(true)
		reply := supervisor.Shutdown(t.Context(), f.root)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.EqualValues(t, 1, g.waiting.Load(), "a process lives")
		stuck.SetUnkillable(false)
		time.Sleep(10 * time.Second)
		require.Len(t, reply.Answer(), 1)
		assert.NoError(t, (<-reply.Answer()).Err)
		assert.Zero(t, g.waiting.Load())
		assert.EqualValues(t, 1, g.started.Load(), "and no other one is started")
	})
}

func TestNothingIsLaunchedBeforeTheGuardWatches(t *testing.T) {
	var g *guards
	silent := func() supervisor.Machine { g = newGuards(); g.silent = true; return g.machine() }
	kept(t, "silent", silent, func(t *testing.T, f *family) {
		f.spawn()
		assert.Empty(t, f.machine.Children())
		time.Sleep(supervisor.HoldLimit)
		synctest.Wait()
		assert.Len(t, f.machine.Children(), 1, "a guard that can't be had keeps nobody from work")
	})
	kept(t, "failed", silent, func(t *testing.T, f *family) {
		f.spawn()
		g.kill <- errors.New("exit status 2")
		synctest.Wait()
		assert.Len(t, f.machine.Children(), 1)
	})
}

func TestHeldTreeThatIsCalledOffNeverComesToBe(t *testing.T) {
	silent := func() supervisor.Machine { g := newGuards(); g.silent = true; return g.machine() }
	kept(t, "swept", silent, func(t *testing.T, f *family) {
		m := f.spawn()
		f.root.Send(messages.Sweep{Tree: m.tree})
		failed, ok := gotA[messages.LaunchFailed](m)
		require.True(t, ok)
		assert.ErrorIs(t, failed.Err, messages.ErrClosing)
		time.Sleep(supervisor.HoldLimit)
		synctest.Wait()
		assert.Empty(t, f.machine.Children())
	})
	kept(t, "aborted", silent, func(t *testing.T, f *family) {
		m := f.spawn()
		supervisor.Abort(f.root)
		_, ok := gotA[messages.LaunchFailed](m)
		assert.True(t, ok)
		assert.Empty(t, f.machine.Children())
	})
}

func TestLeftoversAreSweptBeforeTheFirstLaunch(t *testing.T) {
	var swept chan error
	machine := func() supervisor.Machine {
		swept = make(chan error)
		return supervisor.Machine{Leftovers: func(ctx context.Context) ([]supervisor.Leftover, error) {
			select {
			case err := <-swept:
				return []supervisor.Leftover{{PID: 99, Err: err}}, err
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}
	}
	kept(t, "done", machine, func(t *testing.T, f *family) {
		f.spawn()
		assert.Equal(t, "sweeping what dead runtimes left behind", f.runtime().Leftovers)
		assert.Empty(t, f.machine.Children())
		swept <- nil
		assert.Empty(t, f.runtime().Leftovers)
		assert.Len(t, f.machine.Children(), 1)
	})
	kept(t, "failed", machine, func(t *testing.T, f *family) {
		f.spawn()
		swept <- errors.New("still alive")
		assert.Contains(t, f.runtime().Leftovers, "not ended, next attempt in 1s: still alive")
		time.Sleep(supervisor.HoldLimit)
		synctest.Wait()
		assert.Len(t, f.machine.Children(), 1, "what can't be ended keeps nobody from work")
		swept <- nil
		assert.Empty(t, f.runtime().Leftovers, "and is tried again")
	})
	kept(t, "stopped", machine, func(t *testing.T, f *family) {
		reply := supervisor.Shutdown(t.Context(), f.root)
		synctest.Wait()
		require.Len(t, reply.Answer(), 1, "a sweep of leftovers holds up no end: the next start goes on with it")
		assert.NoError(t, (<-reply.Answer()).Err)
	})
}

// orphanage plays a reaper with one adopted process.
type orphanage struct {
	runs   atomic.Int32
	broken chan error
	stuck  atomic.Bool // can't be ended
	ended  atomic.Int32
}

func (o *orphanage) Run(ctx context.Context, _ <-chan os.Signal) error {
	o.runs.Add(1)
	select {
	case err := <-o.broken:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (o *orphanage) Adopted() ([]procscan.Info, error) {
	return []procscan.Info{{Identity: procscan.Identity{PID: 9, StartTicks: 1}, Comm: "stray"}}, nil
}

func (o *orphanage) EndAdopted(context.Context, procscan.Grace) error {
	o.ended.Add(1)
	if o.stuck.Load() {
		return &procscan.SurvivorsError{}
	}
	return nil
}

func TestAdoptedProcessesAreShownAndEndedWithTheRuntime(t *testing.T) {
	var o *orphanage
	machine := func() supervisor.Machine {
		o = &orphanage{broken: make(chan error)}
		return supervisor.Machine{Reaper: o}
	}
	kept(t, "ended", machine, func(t *testing.T, f *family) {
		require.Len(t, f.runtime().Adopted, 1)
		assert.Equal(t, "stray", f.runtime().Adopted[0].Comm)
		f.spawn()
		time.Sleep(10 * supervisor.LookInterval)
		assert.Zero(t, o.ended.Load(), "it may belong to a tree that is at work")
		o.stuck.Store(true)
		reply := supervisor.Abort(f.root)
		time.Sleep(supervisor.AbortGrace)
		synctest.Wait()
		var unreaped *messages.UnreapedError
		require.ErrorAs(t, (<-reply.Answer()).Err, &unreaped)
		assert.Equal(t, []string{"adopted process 9 (stray)"}, unreaped.Stuck)
		o.stuck.Store(false)
	})
	kept(t, "reaping fails", machine, func(t *testing.T, f *family) {
		o.broken <- errors.New("no /proc")
		time.Sleep(time.Second)
		synctest.Wait()
		assert.EqualValues(t, 2, o.runs.Load(), "it is taken up again")
	})
}
