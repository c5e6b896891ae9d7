package supervisor_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/fakes"
)

// faultyOp is an operation that no Sweeper serves, and that can't be refused either:
// the actor that gets it fails in whatever state it is.
type faultyOp struct {
	messages.Head
	how string
}

func (op faultyOp) Refuse(error) { fail(op.how) }

// sweeper gives the only Sweeper there is, and the state that it published last.
func (f *family) sweeper() (*actors.Handle, string) {
	seen := f.seen()
	for _, h := range f.sys.Roster().Live() {
		if strings.HasPrefix(h.ID(), "sweeper/") {
			snapshot, _ := seen.published[h.ID()].(messages.TreeSnapshot)
			return h, snapshot.State
		}
	}
	return nil, ""
}

// Each entry brings the Sweeper of m's tree into a state. The returned function, which
// may be nil, takes away what holds it there.
var sweeperStates = map[string]func(f *family) (m *member, release func()){
	"launching": func(f *family) (*member, func()) {
		release := f.machine.HoldLaunches()
		return f.spawn(), release
	},
	"watching": func(f *family) (*member, func()) { return f.spawn(), nil },
	"retiring": func(f *family) (*member, func()) {
		m := f.spawn()
		f.machine.Children()[0].IgnoreTERM()
		m.handle.Send(messages.Close{})
		return m, nil
	},
	"sweeping": func(f *family) (*member, func()) {
		m := f.spawn()
		f.machine.Children()[0].Escapee().IgnoreTERM()
		m.handle.Send(messages.Close{})
		return m, nil
	},
	"backoff": func(f *family) (*member, func()) {
		m := f.spawn()
		stuck := f.machine.Children()[0].Escapee()
		stuck.SetUnkillable(true)
		m.handle.Send(messages.Close{})
		for range 10_000 {
			if _, state := f.sweeper(); state == "backoff" {
				break
			}
			time.Sleep(time.Millisecond)
		}
		return m, func() { stuck.SetUnkillable(false) }
	},
	"reaping": func(f *family) (*member, func()) {
		m := f.spawn()
		release := f.machine.Children()[0].HoldReap()
		m.handle.Send(messages.Close{})
		time.Sleep(time.Second)
		return m, release
	},
}

func TestTreeIsEndedWhateverStateItsSweeperFailsIn(t *testing.T) {
	for state, reach := range sweeperStates {
		for _, how := range []string{"panic", "goexit"} {
			bubble(t, state+" "+how, func(t *testing.T, f *family) {
				m, release := reach(f)
				sweeper, at := f.sweeper()
				require.Equal(t, state, at)
				sweeper.Send(faultyOp{how: how})
				f.seen() // waits: the failure comes before the release
				if release != nil {
					release()
				}
				time.Sleep(time.Minute)
				assert.Empty(t, f.machine.Alive())
				assert.Zero(t, f.runtime().Trees)
				_, reaped := gotA[messages.LeaderReaped](m)
				_, failed := gotA[messages.LaunchFailed](m)
				assert.True(t, reaped != failed, "the owner hears once that nothing is left: reaped %v, launch failed %v", reaped, failed)
				for _, done := range f.machine.Journal() {
					assert.NotContains(t, done, "refused group", "a retired group is not even tried")
				}
			})
		}
	}
}

// fragile is a child whose Identity panics the first times that it is asked: the
// Sweeper fails in the state in which it asks.
type fragile struct {
	*fakes.Child
	left *int
}

func (c fragile) Identity() procscan.Identity {
	if *c.left > 0 {
		*c.left--
		panic("fragile")
	}
	return c.Child.Identity()
}

type fragileLauncher struct {
	procscan.Launcher
	left *int
}

func (l fragileLauncher) Launch(ctx context.Context, spec procscan.Spec) (procscan.Child, error) {
	child, err := l.Launcher.Launch(ctx, spec)
	if err != nil {
		return nil, err
	}
	return fragile{child.(*fakes.Child), l.left}, nil
}

func TestSuccessorOfAFailedSweeperEndsTheTree(t *testing.T) {
	for name, failures := range map[string]int{"the first fails": 1, "some fail": 4, "more than the intensity fail": 7} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				left := failures
				f := newFragileFamily(t, &left)
				m := f.spawn()
				time.Sleep(time.Minute)
				_, reaped := gotA[messages.LeaderReaped](m)
				assert.True(t, reaped, "the owner hears that its tree is gone")
				assert.Contains(t, f.machine.Journal(), "reap", "and it is")
				assert.Empty(t, f.machine.Alive())
				assert.Zero(t, f.runtime().Trees)
				f.end()
			})
		})
	}
}

func TestSweeperThatFailsBeforeItsLaunchIsAFailedLaunch(t *testing.T) {
	bubble(t, "launching", func(t *testing.T, f *family) {
		f.machine.FailLaunch(func(procscan.Spec) error { panic("launcher") })
		m := f.spawn()
		failed, ok := gotA[messages.LaunchFailed](m)
		require.True(t, ok)
		assert.Equal(t, messages.KindInternal, messages.KindOf(failed.Err))
		assert.Zero(t, f.runtime().Trees)
	})
}
