package supervisor_test

import (
	"context"
	"errors"
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

func (f *family) runtime() messages.RuntimeSnapshot {
	return f.seen().published[f.root.ID()].(messages.RuntimeSnapshot)
}

func TestAdoptedTreeIsInTheCensusUntilItIsReaped(t *testing.T) {
	bubble(t, "census", func(t *testing.T, f *family) {
		m := f.spawn()
		assert.Equal(t, 1, f.runtime().Trees)
		child := f.machine.Children()[0]
		require.Len(t, child.Marks, 2, "the tree's own mark, and the runtime's")
		assert.Equal(t, procscan.SessionVar, child.Marks[0].Var)
		assert.Equal(t, procscan.RuntimeVar, child.Marks[1].Var)
		m.handle.Send(messages.Close{})
		time.Sleep(time.Second)
		_, reaped := gotA[messages.LeaderReaped](m)
		assert.True(t, reaped)
		assert.Zero(t, f.runtime().Trees)
	})
}

func TestEveryTreeHasAMarkOfItsOwn(t *testing.T) {
	bubble(t, "marks", func(t *testing.T, f *family) {
		f.spawn()
		f.spawn()
		children := f.machine.Children()
		assert.NotEqual(t, children[0].Marks[0], children[1].Marks[0])
		assert.Equal(t, children[0].Marks[1], children[1].Marks[1])
	})
}

func TestShutdownEndsEverythingAndTheObserverLast(t *testing.T) {
	bubble(t, "shutdown", func(t *testing.T, f *family) {
		f.spawn()
		reply := supervisor.Shutdown(t.Context(), f.root)
		synctest.Wait()
		assert.Equal(t, "stopping", f.runtime().State, "status is answered during the stop")
		time.Sleep(5 * time.Second)
		require.Len(t, reply.Answer(), 1)
		assert.NoError(t, (<-reply.Answer()).Err)
		assert.Empty(t, f.machine.Alive())
		<-f.observer.Handle().Done()
	})
}

func TestShutdownWhoseContextEndsIsAnAbort(t *testing.T) {
	bubble(t, "bounded", func(t *testing.T, f *family) {
		f.spawn()
		stuck := f.machine.Children()[0].Escapee()
		stuck.SetUnkillable(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		reply := supervisor.Shutdown(ctx, f.root)
		time.Sleep(time.Minute + supervisor.AbortGrace)
		synctest.Wait()
		require.Len(t, reply.Answer(), 1)
		var unreaped *messages.UnreapedError
		require.ErrorAs(t, (<-reply.Answer()).Err, &unreaped)
		require.Len(t, unreaped.Trees, 1)
		assert.Equal(t, messages.RoleREPL, unreaped.Trees[0].Role)
		assert.Equal(t, 1, f.runtime().Trees, "the sweeper goes on")

		stuck.SetUnkillable(false)
		time.Sleep(10 * time.Second)
		assert.Empty(t, f.machine.Alive(), "and succeeds once it can")
	})
}

// watchedContext counts who waits for its end.
type watchedContext struct {
	context.Context
	watched *atomic.Int64
}

func (c watchedContext) AfterFunc(f func()) func() bool {
	c.watched.Add(1)
	stop := context.AfterFunc(c.Context, f)
	return func() bool { c.watched.Add(-1); return stop() }
}

// Value hides the context inside, which would be watched directly.
func (watchedContext) Value(any) any { return nil }

func TestShutdownLetsGoOfItsContext(t *testing.T) {
	bubble(t, "released", func(t *testing.T, f *family) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		watched := watchedContext{ctx, new(atomic.Int64)}
		reply := supervisor.Shutdown(watched, f.root)
		synctest.Wait()
		require.Len(t, reply.Answer(), 1)
		assert.Zero(t, watched.watched.Load(), "it may outlive the runtime by far")
	})
}

func TestAbortEndsTreesWithoutWaitingForAnybody(t *testing.T) {
	bubble(t, "abort", func(t *testing.T, f *family) {
		f.spawn()
		reply := supervisor.Abort(f.root)
		time.Sleep(2 * time.Second)
		require.Len(t, reply.Answer(), 1)
		assert.NoError(t, (<-reply.Answer()).Err)
	})
}

func TestNothingIsLaunchedOnceAborting(t *testing.T) {
	bubble(t, "aborting", func(t *testing.T, f *family) {
		m := f.spawn()
		f.machine.Children()[0].SetUnkillable(true)
		supervisor.Abort(f.root)
		synctest.Wait()
		m.handle.Send("adopt")
		failed, ok := gotA[messages.LaunchFailed](m)
		require.True(t, ok)
		assert.ErrorIs(t, failed.Err, messages.ErrClosing)
		assert.Len(t, f.machine.Children(), 1)
		f.machine.Children()[0].SetUnkillable(false)
	})
}

func TestTreesOfAFailedMemberAreSweptAndOnlyThenIsItsSlotFree(t *testing.T) {
	for _, how := range []string{"panic", "goexit"} {
		bubble(t, how, func(t *testing.T, f *family) {
			m, other := f.spawn(), f.spawn()
			slow := f.machine.Children()[0].Escapee()
			slow.SetUnkillable(true)
			m.handle.Send(how)
			time.Sleep(10 * time.Second)
			assert.Empty(t, f.seen().gone, "a process of its tree lives")
			slow.SetUnkillable(false)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			assert.Equal(t, []messages.Ref{m.self.Ref()}, f.seen().gone)
			assert.NotContains(t, f.seen().published, m.self.ID())
			<-m.handle.Done()
			assert.Contains(t, f.seen().published, other.self.ID())
			assert.Equal(t, []int{f.machine.Children()[1].PID}, f.machine.Alive())
		})
	}
}

func TestFailedPermanentChildIsRestartedOnceWhatWasBelowItIsGone(t *testing.T) {
	for _, how := range []string{"panic", "goexit"} {
		bubble(t, how, func(t *testing.T, f *family) {
			m := f.spawn()
			before := f.parent.Handle()
			before.Send(how)
			time.Sleep(5 * time.Second)
			_, aborted := gotA[messages.Abort](m)
			assert.True(t, aborted, "what is below is told to end")
			assert.Empty(t, f.machine.Alive())
			<-m.handle.Done()
			<-before.Done()
			assert.NotEqual(t, before.ID(), f.parent.Handle().ID())
			assert.Equal(t, 1, f.runtime().Restarts["parent"])
			f.spawn()
		})
	}
}

func TestMemberBelowADeadParentLaunchesNothing(t *testing.T) {
	bubble(t, "below", func(t *testing.T, f *family) {
		m := f.spawn()
		f.machine.Children()[0].SetUnkillable(true) // keeps the part from becoming empty
		f.parent.Handle().Send("panic")
		synctest.Wait()
		m.handle.Send("adopt")
		failed, ok := gotA[messages.LaunchFailed](m)
		require.True(t, ok)
		assert.ErrorIs(t, failed.Err, messages.ErrClosing)
		f.machine.Children()[0].SetUnkillable(false)
	})
}

func TestRuntimeFailsWhenAPermanentChildFailsTooOften(t *testing.T) {
	bubble(t, "intensity", func(t *testing.T, f *family) {
		for range 6 {
			require.Empty(t, f.seen().failures)
			f.spawn()
			f.parent.Handle().Send("panic")
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		require.Len(t, f.seen().failures, 1)
		assert.Equal(t, messages.KindInternal, messages.KindOf(f.seen().failures[0]))
		assert.Equal(t, "failed", f.runtime().State, "status still answers")
		assert.Empty(t, f.machine.Alive())
	})
}

func TestRareFailuresAreForgiven(t *testing.T) {
	bubble(t, "period", func(t *testing.T, f *family) {
		for range 20 {
			f.parent.Handle().Send("panic")
			time.Sleep(2 * time.Second)
		}
		assert.Empty(t, f.seen().failures)
		assert.Equal(t, 20, f.runtime().Restarts["parent"])
	})
}

func TestObserverIsRestartedAndRefilled(t *testing.T) {
	bubble(t, "refill", func(t *testing.T, f *family) {
		f.observer.Handle().Send("panic")
		time.Sleep(time.Second)
		assert.Equal(t, 1, f.runtime().Restarts["observer"])
		assert.Equal(t, 1, f.seen().restored, "every live actor publishes again")
	})
}

func TestObserverThatFailsTooOftenEndsAlone(t *testing.T) {
	bubble(t, "observer", func(t *testing.T, f *family) {
		for range 8 {
			f.observer.Handle().Send("panic")
			synctest.Wait()
		}
		<-f.observer.Handle().Done()
		assert.Empty(t, f.seen().failures)
		f.spawn() // everything else goes on
	})
}

func TestMemoryIsMeasuredOnlyWhileTreesAreThere(t *testing.T) {
	bubble(t, "sampling", func(t *testing.T, f *family) {
		time.Sleep(time.Minute)
		assert.Zero(t, f.seen().sampled)
		m := f.spawn()
		time.Sleep(time.Minute + time.Second)
		assert.Equal(t, 31, f.seen().sampled, "at once, and every two seconds")
		sample, ok := gotA[messages.Sampled](m)
		require.True(t, ok, "the owner of a REPL's tree has a limit to keep")
		assert.Equal(t, int64(1<<20), sample.Trees[m.tree].RSS)
		m.handle.Send(messages.Close{})
		time.Sleep(time.Minute)
		before := f.seen().sampled
		time.Sleep(time.Minute)
		assert.Equal(t, before, f.seen().sampled)
	})
}

func TestFailedLaunchLeavesTheCensus(t *testing.T) {
	bubble(t, "launch", func(t *testing.T, f *family) {
		f.machine.FailLaunch(func(procscan.Spec) error { return errors.New("no") })
		m := f.spawn()
		_, ok := gotA[messages.LaunchFailed](m)
		assert.True(t, ok)
		assert.Zero(t, f.runtime().Trees)
	})
}
