package supervisor_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
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

// gale is a storm over the real actors: both caches with everything below them, on
// programs in memory.
type gale struct {
	t        *testing.T
	rng      *rand.Rand
	root     string
	machine  *fakes.Machine
	sys      *actors.System
	sup      *actors.Handle
	observer *supervisor.Child
	lsp      *supervisor.Child
	repl     *supervisor.Child
	asks     sync.WaitGroup
	calm     atomic.Bool
	failed   atomic.Bool  // the runtime
	cracks   atomic.Int64 // messages until the next actor fails that can
	release  []func()

	mu    sync.Mutex
	wires []*fakes.Wire
}

// Whatever fails of the real actors, and whenever: every caller is answered in its
// time, every slot comes back, and what didn't fail serves on.
func TestGaleCostsNoAnswerAndNoSlot(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "a.go"), []byte("package a\n"), 0o600))
	if *stormSeed != 0 {
		galeRound(t, root, *stormSeed)
		return
	}
	for round := range *stormRounds / 4 { // each costs as much as four storms
		galeRound(t, root, uint64(round+1))
	}
}

func galeRound(t *testing.T, root string, seed uint64) {
	synctest.Test(t, func(t *testing.T) {
		g := newGale(t, root, seed)
		defer func() {
			if t.Failed() {
				t.Logf("this is -storm.seed=%d", seed)
			}
		}()
		for range 10 + g.rng.IntN(60) {
			g.act()
			if g.rng.IntN(2) == 0 {
				time.Sleep(time.Duration(g.rng.IntN(400)) * time.Millisecond)
			}
		}
		g.clear()
		g.check()
		g.end()
	})
}

func newGale(t *testing.T, root string, seed uint64) *gale {
	g := &gale{t: t, root: root, rng: rand.New(rand.NewPCG(seed, 2)), machine: fakes.NewMachine()}
	sys, err := actors.NewSystem(slog.New(slog.NewTextHandler(io.Discard, nil)), func(err error) {
		assert.Fail(t, "the supervisor has failed", "%v", err)
	})
	require.NoError(t, err)
	g.sys = sys
	g.machine.Serve(g.play)
	g.observer, g.lsp, g.repl = g.observerChild(), g.lspChild(), g.replChild(seed%2 == 0)
	g.sup = supervisor.SpawnSupervisor(sys, supervisor.Machine{Launcher: g.machine.Launcher(), Table: g.machine.Table(),
		Grace: fakes.Grace, Sample: g.machine.Sample}, func(error) { g.failed.Store(true) }, g.observer, g.lsp, g.repl)
	synctest.Wait()
	return g
}

// act does one thing at random.
func (g *gale) act() {
	switch g.rng.IntN(17) {
	case 0, 1, 2:
		g.fail()
	case 3:
		g.trouble()
	case 4:
		g.wireTrouble()
	case 5:
		if g.rng.IntN(20) == 0 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(g.rng.IntN(8000))*time.Millisecond)
			g.release = append(g.release, cancel)
			supervisor.Shutdown(ctx, g.sup)
		}
	case 6:
		g.cracks.Store(int64(g.rng.IntN(40)))
	case 7, 8, 9, 10, 11:
		g.ask(g.hover)
	default:
		g.ask(g.runCode)
	}
}

// poison is an operation at which its receiver fails, whatever it does first with it,
// and once.
type poison struct {
	taken *atomic.Bool
	how   string
}

func (p poison) bite() {
	if p.taken.CompareAndSwap(false, true) {
		fail(p.how)
	}
}

func (p poison) Refuse(error) { p.bite() }

func (p poison) Header() messages.Head {
	p.bite()
	return messages.Head{}
}

// fail makes an actor fail, or a few in the same instant.
func (g *gale) fail() {
	live := g.sys.Roster().Live()
	for range 1 + g.rng.IntN(3) {
		h := live[g.rng.IntN(len(live))]
		permanent := h.Parent() == g.sup && !strings.HasPrefix(h.ID(), "sweeper/")
		if h == g.sup || permanent && g.rng.IntN(4) > 0 {
			continue
		}
		h.Send(poison{new(atomic.Bool), [...]string{"panic", "goexit"}[g.rng.IntN(2)]})
	}
}

func (g *gale) trouble() {
	children := g.machine.Children()
	if len(children) == 0 {
		return
	}
	child := children[g.rng.IntN(len(children))]
	select {
	case <-child.Ended():
		return
	default:
	}
	switch g.rng.IntN(8) {
	case 0:
		g.release = append(g.release, g.machine.HoldLaunches())
	case 1:
		g.machine.FailScans(errors.New("scan"), nil, errors.New("scan"))
	case 2:
		g.machine.FailLaunch(func(procscan.Spec) error { return errors.New("no program") })
	case 3:
		g.machine.FailLaunch(nil)
	case 4:
		child.SetUnkillable(true)
	case 5:
		child.FailReaps(errors.New("reap"))
	case 6:
		child.Escapee().IgnoreTERM()
	case 7:
		child.Exit(procscan.Status{Code: 3})
	}
}

// ask makes a call whose caller has a time of its own, and may hang up.
func (g *gale) ask(call func(ctx context.Context, key, kind int) error) {
	lasts, hangUp := time.Duration(g.rng.IntN(6000))*time.Millisecond, g.rng.IntN(4) == 0
	key, kind := g.rng.IntN(4), g.rng.IntN(4)
	g.asks.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), lasts)
		defer cancel()
		if hangUp {
			defer time.AfterFunc(lasts/2, cancel).Stop()
		}
		began := time.Now()
		err := call(ctx, key, kind)
		assert.LessOrEqual(g.t, time.Since(began), lasts+time.Second, "no caller waits beyond its deadline and the grace: %v", err)
		assert.False(g.t, errors.Is(err, context.DeadlineExceeded) && messages.KindOf(err) == messages.KindOutcomeUnknown,
			"who holds a call answers it: %v", err)
	})
}

// clear ends all trouble, and lets everything that is idle be closed.
func (g *gale) clear() {
	g.calm.Store(true)
	g.cracks.Store(0)
	g.machine.FailLaunch(nil)
	for _, release := range g.release {
		release()
	}
	for _, child := range g.machine.Children() {
		child.SetUnkillable(false)
	}
	g.mu.Lock()
	for _, wire := range g.wires {
		wire.Hangup() // one that was made silent would stay so
	}
	g.mu.Unlock()
	time.Sleep(10 * time.Minute)
	synctest.Wait()
}

func (g *gale) check() {
	g.asks.Wait()
	assert.Empty(g.t, g.machine.Alive(), "what nobody uses was closed")
	for _, h := range g.sys.Roster().Live() {
		assert.True(g.t, h == g.sup || h.Parent() == g.sup && !strings.HasPrefix(h.ID(), "sweeper/"), "%s is left", h.ID())
	}
	for _, status := range g.status() {
		for _, cache := range status.Caches {
			assert.Zero(g.t, cache.Occupied, "slots of %s", cache.Actor)
			assert.Zero(g.t, cache.Waiting, "waiters of %s", cache.Actor)
		}
		assert.Empty(g.t, status.Entries)
		assert.Empty(g.t, status.Sessions)
		assert.Empty(g.t, status.Pools)
		assert.Empty(g.t, status.Workers)
		assert.Empty(g.t, status.Trees)
		if status.Runtime.State == "running" {
			g.serveAgain()
		}
	}
}

// status is the Observer's, if there is one still.
func (g *gale) status() []messages.Status {
	reply := messages.NewReplyTo[messages.Status]()
	status, err := actors.Ask(context.Background(), g.observer.Handle(), messages.StatusQuery{Reply: reply}, reply)
	if err != nil {
		return nil
	}
	return []messages.Status{status}
}

// serveAgain proves that no capacity is lost: as many keys as fit, at the same time.
func (g *gale) serveAgain() {
	var calls sync.WaitGroup
	for key := range 2 {
		for _, call := range []func(context.Context, int, int) error{g.hover, g.runCode} {
			calls.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				assert.NoError(g.t, call(ctx, key, 0))
			})
		}
	}
	calls.Wait()
}

func (g *gale) end() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	reply := supervisor.Shutdown(ctx, g.sup)
	time.Sleep(10 * time.Minute)
	synctest.Wait()
	require.Len(g.t, reply.Answer(), 1, "the shutdown is answered")
	require.NoError(g.t, (<-reply.Answer()).Err)
	g.sup.Stop()
	<-g.sup.Done()
	assert.Empty(g.t, g.machine.Alive())
	assert.Empty(g.t, g.sys.Roster().Live())
}
