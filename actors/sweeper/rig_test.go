package sweeper_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/sweeper"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/actortest"
	"github.com/seed-f6977891/hearth/test/fakes"
)

// bench is one Sweeper with its machine. The harness's Parent plays the Supervisor
// as a parent, and owner the actor whose tree it is.
type bench struct {
	*actortest.Harness
	t       *testing.T
	machine *fakes.Machine
	owner   *actortest.Probe
	sweeper *actors.Handle
	mark    procscan.Mark
}

const tree = messages.TreeID(7)

var spec = procscan.Spec{Argv: []string{"server"}, Dir: "/project"}

func bubble(t *testing.T, name string, test func(*testing.T, *bench)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := &bench{Harness: actortest.New(t), t: t, machine: fakes.NewMachine(), mark: procscan.NewMark(procscan.SessionVar)}
			b.owner = b.NewProbe("owner")
			test(t, b)
		})
	})
}

func (b *bench) config() sweeper.Config {
	return sweeper.Config{Tree: tree, Owner: b.owner.Handle.Ref(), Role: messages.RoleLSP, Mark: b.mark,
		Launcher: b.machine.Launcher(), Table: b.machine.Table(), Grace: fakes.Grace}
}

func (b *bench) launch(start messages.Start) {
	b.sweeper = b.Spawn("sweeper", "7", sweeper.New(b.config()))
	marked := spec
	marked.Marks = []procscan.Mark{b.mark}
	b.sweeper.Send(messages.Launch{Spec: marked, Start: start})
}

// watching brings the Sweeper to Watching and gives its child.
func (b *bench) watching() *fakes.Child {
	b.launch(messages.Start{})
	actortest.Next[messages.Launched](b.t, b.owner)
	child := actortest.Next[messages.Launched](b.t, b.Parent).Child
	b.machine.Journal()
	return child.(*fakes.Child)
}

func (b *bench) sweep() { b.sweeper.Send(messages.Sweep{Tree: tree}) }

func (b *bench) expectReaped() {
	b.t.Helper()
	time.Sleep(fakes.Grace.Term + 2*fakes.Grace.Kill) // of the bubble
	reaped := actortest.Find[messages.LeaderReaped](b.t, b.owner)
	assert.Equal(b.t, reaped, actortest.Find[messages.LeaderReaped](b.t, b.Parent))
	assert.Equal(b.t, tree, reaped.Tree)
	assert.Empty(b.t, b.machine.Alive())
	b.sweeper.Stop()
	<-b.sweeper.Done()
}

// awaitFailure advances the bubble by single milliseconds until an attempt failed.
func awaitFailure(t *testing.T, b *bench) messages.SweepFailed {
	for range 5000 {
		for _, msg := range b.owner.Take() {
			if failed, ok := msg.(messages.SweepFailed); ok {
				return failed
			}
		}
		time.Sleep(time.Millisecond)
	}
	require.Fail(t, "no attempt failed")
	panic("unreachable")
}

// failing panics at the message "fail", and passes everything else on.
type failing struct{ actors.Behaviour }

func (f failing) Receive(msg any) {
	if msg == "fail" {
		panic("boom")
	}
	f.Behaviour.Receive(msg)
}

func count(journal []string, what string) (n int) {
	for _, done := range journal {
		if done == what {
			n++
		}
	}
	return n
}
