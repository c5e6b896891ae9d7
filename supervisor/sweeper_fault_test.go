package supervisor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
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
