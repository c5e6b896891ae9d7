package cache_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/cache"
	"github.com/seed-f6977891/hearth/messages"
)

// instant is a resource that is ready at once and answers at once.
type instant struct{ self *actors.Self }

func newInstant(messages.Key) func(*actors.Self) actors.Behaviour {
	return func(self *actors.Self) actors.Behaviour {
		self.Publish(messages.SessionSnapshot{ActorSnapshot: self.Snapshot("ready", time.Now())})
		self.TellParent(messages.Ready{From: self.Ref()})
		return &instant{self}
	}
}

func (s *instant) Receive(msg any) {
	switch msg := msg.(type) {
	case messages.Hover:
		msg.Reply.Send(messages.HoverReport{})
		s.self.TellParent(messages.Settled{From: s.self.Ref(), ID: msg.ID, Verdict: messages.Healthy})
	case messages.Close, messages.Abort:
		s.self.TellParent(messages.Closed{From: s.self.Ref()})
	}
}

// board keeps the last snapshot of each actor, as the Observer does.
type board map[string]messages.Snapshot

func (o board) Receive(msg any) {
	switch msg := msg.(type) {
	case messages.Publish:
		o[msg.Key] = msg.Snapshot
	case messages.Retract:
		delete(o, msg.Key)
	}
}

// tree is a Cache under a root that hears when it has closed.
type tree struct {
	sys    *actors.System
	cache  *actors.Handle
	closed chan struct{}
}

type root struct{ closed chan struct{} }

func (r root) Receive(msg any) {
	if _, ok := msg.(messages.Closed); ok {
		close(r.closed)
	}
}

func newTree(b *testing.B, limit int64) *tree {
	sys, err := actors.NewSystem(slog.New(slog.NewTextHandler(io.Discard, nil)), func(error) {})
	require.NoError(b, err)
	t := &tree{sys: sys, closed: make(chan struct{})}
	sys.SetObserver(sys.SpawnRoot("observer", "o", func(*actors.Self) actors.Behaviour { return board{} }))
	spawned := make(chan *actors.Handle)
	sys.SetSupervisor(sys.SpawnRoot("root", "r", func(self *actors.Self) actors.Behaviour {
		spawned <- self.Spawn("cache", "lsp", cache.New(limited(cache.Config{Limit: limit, NewResource: newInstant})))
		return root{t.closed}
	}))
	t.cache = <-spawned
	return t
}

func (t *tree) end() {
	t.cache.Send(messages.Close{})
	<-t.closed
	for _, live := range t.sys.Roster().Live() {
		live.Stop()
		<-live.Done()
	}
}

func (t *tree) ask(b *testing.B, key messages.Key) {
	op := messages.Hover{
		Head:  messages.Head{ID: messages.OperationID(t.sys.NextID()), Key: key, Ctx: context.Background(), AcquireBy: time.Now().Add(time.Hour)},
		Reply: messages.NewReplyTo[messages.HoverReport](),
	}
	if _, err := actors.Ask(op.Ctx, t.cache, op, op.Reply); err != nil {
		b.Fatal(err)
	}
}

// threeRoundTrips gives a function that does what a call through three actors does
// at least: a question and an answer on bare channels, three times.
func threeRoundTrips(b *testing.B) func() {
	type link struct{ ask, answer chan struct{} }
	var links [3]link
	for i := range links {
		links[i] = link{make(chan struct{}), make(chan struct{})}
		go func() {
			for range links[i].ask {
				links[i].answer <- struct{}{}
			}
		}()
	}
	b.Cleanup(func() {
		for _, link := range links {
			close(link.ask)
		}
	})
	return func() {
		for _, link := range links {
			link.ask <- struct{}{}
			<-link.answer
		}
	}
}

// BenchmarkCallThroughCacheAndEntry: at most 6x three chained channel round trips.
func BenchmarkCallThroughCacheAndEntry(b *testing.B) {
	t := newTree(b, 4)
	defer t.end()
	bare := threeRoundTrips(b)
	key := keyOf("/a")
	t.ask(b, key)
	var ratios, calls []float64
	for b.Loop() {
		call := timed(func() { t.ask(b, key) })
		ratios = append(ratios, float64(call)/float64(timed(bare)))
		calls = append(calls, float64(call.Nanoseconds())/turns)
	}
	slices.Sort(ratios)
	slices.Sort(calls)
	b.ReportMetric(ratios[len(ratios)/2], "x-bare")
	b.ReportMetric(calls[len(calls)/2], "ns/call")
}

const turns = 500

func timed(turn func()) time.Duration {
	began := time.Now()
	for range turns {
		turn()
	}
	return time.Since(began)
}

// BenchmarkMemoryOfIdleEntries: 10,000 with their rows, resources and snapshots take
// at most 40 MB.
func BenchmarkMemoryOfIdleEntries(b *testing.B) {
	const entries = 10_000
	for b.Loop() {
		before := inUse()
		t := newTree(b, entries)
		for i := range entries {
			t.ask(b, keyOf(fmt.Sprintf("/home/somebody/projects/%d", i)))
		}
		b.ReportMetric(float64(inUse()-before)/1e6, "MB")
		t.end()
	}
}

// inUse is the memory of live objects and stacks.
func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc + stats.StackInuse
}
