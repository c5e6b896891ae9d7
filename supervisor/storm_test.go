package supervisor_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/test/fakes"
)

var (
	stormRounds = flag.Int("storm.rounds", 400, "how many random families are broken")
	stormSeed   = flag.Uint64("storm.seed", 0, "the seed of the only round; 0: of all rounds")
)

// storm is one random family, in which anything may fail at any time.
type storm struct {
	t            *testing.T
	rng          *rand.Rand
	machine      *fakes.Machine
	sys          *actors.System
	root         *actors.Handle
	observer     *supervisor.Child
	parents      [2]*supervisor.Child
	asks         sync.WaitGroup
	calm         atomic.Bool  // from now on nothing more fails
	brittle      atomic.Int64 // calls of children that will panic
	incarnations atomic.Uint64
	release      []func()

	mu        sync.Mutex
	nodes     []*actors.Handle
	fallen    map[messages.Ref]bool
	downs     map[[2]messages.Ref]bool // parent and child
	goneFrom  map[[2]messages.Ref]int
	published map[string]bool
}

// Whatever fails, in whatever state, and however many at once: every operation is
// answered, every tree ends, nothing that died stays in anybody's way, and the
// runtime can be ended.
func TestStormLeavesNothing(t *testing.T) {
	if *stormSeed != 0 {
		stormRound(t, *stormSeed)
		return
	}
	for round := range *stormRounds {
		stormRound(t, uint64(round+1))
	}
}

func stormRound(t *testing.T, seed uint64) {
	synctest.Test(t, func(t *testing.T) {
		s := newStorm(t, seed)
		defer func() {
			if t.Failed() {
				t.Logf("this is -storm.seed=%d", seed)
			}
		}()
		for range 5 + s.rng.IntN(60) {
			s.act()
			if s.rng.IntN(3) == 0 {
				time.Sleep(time.Duration(s.rng.IntN(300)) * time.Millisecond)
			}
		}
		s.clear()
		s.check()
		s.end()
	})
}

func newStorm(t *testing.T, seed uint64) *storm {
	s := &storm{t: t, rng: rand.New(rand.NewPCG(seed, 0)), machine: fakes.NewMachine(), fallen: make(map[messages.Ref]bool),
		downs: make(map[[2]messages.Ref]bool), goneFrom: make(map[[2]messages.Ref]int), published: make(map[string]bool)}
	sys, err := actors.NewSystem(slog.New(slog.NewTextHandler(io.Discard, nil)), func(err error) {
		assert.Fail(t, "the supervisor has failed", "%v", err)
	})
	require.NoError(t, err)
	s.sys = sys
	s.observer = &supervisor.Child{Name: "observer", Observer: true, Create: func(*actors.Self) actors.Behaviour {
		s.note(func() { clear(s.published) })
		return stormObserver{s}
	}}
	for i := range s.parents {
		s.parents[i] = &supervisor.Child{Name: fmt.Sprintf("parent-%d", i), Create: func(self *actors.Self) actors.Behaviour {
			return s.newNode(0, seed<<16+s.incarnations.Add(1))(self)
		}}
	}
	s.machine.OnLaunch(func(c *fakes.Child) {
		if c.PID%7 == 0 {
			c.Escapee()
		}
	})
	s.root = supervisor.SpawnSupervisor(sys, supervisor.Machine{Launcher: brittleLauncher{s.machine.Launcher(), s},
		Table: s.machine.Table(), Grace: fakes.Grace, Sample: s.machine.Sample}, func(error) {}, s.observer, s.parents[0], s.parents[1])
	synctest.Wait()
	return s
}

func (s *storm) note(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *storm) entered(self *actors.Self) {
	s.note(func() { s.nodes = append(s.nodes, self.Handle()) })
}

func (s *storm) failed(ref messages.Ref) { s.note(func() { s.fallen[ref] = true }) }

func (s *storm) down(parent, child messages.Ref) {
	s.note(func() { s.downs[[2]messages.Ref{parent, child}] = true })
}

func (s *storm) gone(parent, child messages.Ref) {
	s.note(func() { s.goneFrom[[2]messages.Ref{parent, child}]++ })
}

// act does one thing at random to the family.
func (s *storm) act() {
	var h *actors.Handle
	s.note(func() { h = s.nodes[s.rng.IntN(len(s.nodes))] })
	switch s.rng.IntN(14) {
	case 0, 1:
		h.Send(orderSpawn{})
	case 2:
		h.Send(orderAdopt{messages.RoleREPL})
	case 3:
		fault := [...]func(){func() {}, func() { panic("worker") }, runtime.Goexit}[s.rng.IntN(3)]
		h.Send(orderWork{time.Duration(s.rng.IntN(3000)) * time.Millisecond, fault})
	case 4:
		if h.Parent() != s.root { // what is permanent closes only when it is told to
			h.Send(orderClose{})
		}
	case 5, 6:
		h.Send(orderFuse{1 + s.rng.IntN(12)})
	case 7, 8, 9:
		s.ask()
	case 10:
		s.brittle.Add(int64(s.rng.IntN(4)))
	case 11:
		s.trouble()
	case 12:
		s.observer.Handle().Send(orderFuse{})
	case 13:
		s.maybeEnd()
	}
}

func (s *storm) ask() {
	to := s.parents[s.rng.IntN(len(s.parents))].Handle()
	lasts := time.Duration(s.rng.IntN(4000)) * time.Millisecond
	s.asks.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), lasts)
		defer cancel()
		began, reply := time.Now(), messages.NewReplyTo[messages.Status]()
		op := messages.StatusQuery{Head: messages.Head{ID: messages.OperationID(s.sys.NextID()), Ctx: ctx}, Reply: reply}
		_, _ = actors.Ask(ctx, to, op, reply) // refused or answered: that it comes is what counts
		assert.LessOrEqual(s.t, time.Since(began), lasts+time.Second, "no caller waits beyond its deadline and the grace")
	})
}

// trouble is the machine's.
func (s *storm) trouble() {
	switch children := s.machine.Children(); s.rng.IntN(5) {
	case 0:
		s.release = append(s.release, s.machine.HoldLaunches())
	case 1:
		s.machine.FailScans(errors.New("scan"), nil, errors.New("scan"))
	case 2:
		s.machine.FailLaunch(func(procscan.Spec) error { return errors.New("no program") })
	case 3:
		s.machine.FailLaunch(nil)
	case 4:
		if len(children) > 0 {
			child := children[s.rng.IntN(len(children))]
			child.SetUnkillable(true)
			child.FailReaps(errors.New("reap"))
		}
	}
}

func (s *storm) maybeEnd() {
	switch s.rng.IntN(8) {
	case 0:
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(s.rng.IntN(5000))*time.Millisecond)
		s.release = append(s.release, cancel)
		supervisor.Shutdown(ctx, s.root)
	case 1:
		supervisor.Abort(s.root)
	}
}

// clear ends all trouble, and gives what is left of it time to end.
func (s *storm) clear() {
	s.calm.Store(true)
	s.brittle.Store(0)
	s.machine.FailLaunch(nil)
	for _, release := range s.release {
		release()
	}
	for _, child := range s.machine.Children() {
		child.SetUnkillable(false)
	}
	time.Sleep(2 * time.Minute)
	synctest.Wait()
}

func (s *storm) check() {
	s.asks.Wait() // in a bubble one that waits for ever is a deadlock
	live := make(map[string]bool)
	for _, h := range s.sys.Roster().Live() {
		live[h.ID()] = true
	}
	s.note(func() {
		for ref := range s.fallen {
			assert.False(s.t, live[ref.ID], "%s failed and is still there", ref.ID)
		}
		for both := range s.downs {
			if !s.fallen[both[0]] && live[both[0].ID] {
				assert.Equal(s.t, 1, s.goneFrom[both], "%s was told when %s was gone", both[0].ID, both[1].ID)
			}
		}
		for both, times := range s.goneFrom {
			assert.Equal(s.t, 1, times, "TreesGone of %s", both[1].ID)
		}
		for key := range s.published {
			if !live[s.observer.Handle().ID()] {
				break // the runtime has ended, or its Observer failed too often
			}
			assert.True(s.t, live[key], "%s is in status and has ended", key)
		}
	})
}

// end aborts what is left.
func (s *storm) end() {
	reply := supervisor.Abort(s.root)
	time.Sleep(10 * time.Minute)
	synctest.Wait()
	require.Len(s.t, reply.Answer(), 1, "the abort is answered")
	require.NoError(s.t, (<-reply.Answer()).Err)
	s.root.Stop()
	<-s.root.Done()
	assert.Empty(s.t, s.machine.Alive())
	assert.Empty(s.t, s.sys.Roster().Live())
	launched, reaped := 0, 0
	for _, line := range s.machine.Journal() {
		if strings.HasPrefix(line, "launch") {
			launched++
		}
		if line == "reap" {
			reaped++
		}
	}
	assert.GreaterOrEqual(s.t, reaped, launched, "every leader was reaped")
}
