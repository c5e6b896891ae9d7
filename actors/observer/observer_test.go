package observer_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/observer"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/actortest"
)

// bubble runs one subtest in a bubble of its own, with an observer in its place.
func bubble(t *testing.T, name string, test func(*testing.T, *actortest.Harness, *actors.Handle)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := actortest.New(t)
			o := h.Spawn("observer", "runtime", observer.New())
			h.System.SetObserver(o)
			test(t, h, o)
		})
	})
}

func status(t *testing.T, o *actors.Handle, project string) messages.Status {
	t.Helper()
	answer, err := ask(t.Context(), o, project)
	assert.NoError(t, err)
	return answer
}

func ask(ctx context.Context, o *actors.Handle, project string) (messages.Status, error) {
	reply := messages.NewReplyTo[messages.Status]()
	return actors.Ask(ctx, o, messages.StatusQuery{Project: project, Reply: reply}, reply)
}

func key(kind messages.ResourceKind, root string) messages.Key {
	return messages.Key{Kind: kind, Root: root, Language: "lean"}
}

func named(actor string) messages.ActorSnapshot { return messages.ActorSnapshot{Actor: actor} }

func publish(o *actors.Handle, key string, snapshot messages.Snapshot) {
	o.Send(messages.Publish{Key: key, Snapshot: snapshot})
}

// fill publishes one snapshot of each kind for each root.
func fill(o *actors.Handle, roots ...string) {
	for i, root := range roots {
		lsp, repl := key(messages.LSP, root), key(messages.REPL, root)
		id := messages.TreeID(i + 1)
		publish(o, "entry"+root, messages.EntrySnapshot{ActorSnapshot: named("entry" + root), Key: lsp})
		publish(o, "session"+root, messages.SessionSnapshot{ActorSnapshot: named("session" + root), Key: lsp})
		publish(o, "pool"+root, messages.PoolSnapshot{ActorSnapshot: named("pool" + root), Key: repl})
		publish(o, "worker"+root, messages.WorkerSnapshot{ActorSnapshot: named("worker" + root), Key: repl})
		publish(o, "tree"+root, messages.TreeSnapshot{ActorSnapshot: named("tree" + root), Key: lsp, Tree: id})
		publish(o, "build"+root, messages.BuildSnapshot{ActorSnapshot: named("build" + root), Tree: id})
		o.Send(messages.Event{Actor: "session" + root, Kind: messages.EventReady, Key: lsp})
	}
	publish(o, "cache-lsp", messages.CacheSnapshot{Kind: messages.LSP, Limit: 4})
	publish(o, "cache-repl", messages.CacheSnapshot{Kind: messages.REPL, Limit: 1})
	publish(o, "supervisor", messages.RuntimeSnapshot{Trees: len(roots)})
}

// counts is how much an answer shows of each kind.
func counts(s messages.Status) string {
	return fmt.Sprintf("runtime %d caches %d entries %d sessions %d pools %d workers %d trees %d builds %d events %d",
		s.Runtime.Trees, len(s.Caches), len(s.Entries), len(s.Sessions), len(s.Pools), len(s.Workers),
		len(s.Trees), len(s.Builds), len(s.Events))
}

func TestStatusShowsWhatWasPublishedLast(t *testing.T) {
	bubble(t, "all kinds", func(t *testing.T, _ *actortest.Harness, o *actors.Handle) {
		fill(o, "/a", "/b")
		assert.Equal(t, "runtime 2 caches 2 entries 2 sessions 2 pools 2 workers 2 trees 2 builds 2 events 2",
			counts(status(t, o, "")))
	})
	bubble(t, "the last wins", func(t *testing.T, _ *actortest.Harness, o *actors.Handle) {
		publish(o, "s", messages.SessionSnapshot{Active: 1})
		publish(o, "s", messages.SessionSnapshot{Active: 2})
		sessions := status(t, o, "").Sessions
		assert.Equal(t, []messages.SessionSnapshot{{Active: 2}}, sessions)
	})
	bubble(t, "one project", func(t *testing.T, _ *actortest.Harness, o *actors.Handle) {
		fill(o, "/a", "/b", "/c")
		answer := status(t, o, "/b")
		assert.Equal(t, "runtime 3 caches 2 entries 1 sessions 1 pools 1 workers 1 trees 1 builds 1 events 1", counts(answer))
		assert.Equal(t, "build/b", answer.Builds[0].Actor)
	})
}

func TestStatusOfOneProjectLeavesTheWholePictureAsItWas(t *testing.T) {
	bubble(t, "filtered", func(t *testing.T, _ *actortest.Harness, o *actors.Handle) {
		fill(o, "/a", "/b", "/c")
		before := status(t, o, "")
		status(t, o, "/b")
		assert.Equal(t, before, status(t, o, ""))
	})
}

func TestStatusIsSorted(t *testing.T) {
	bubble(t, "by root", func(t *testing.T, _ *actortest.Harness, o *actors.Handle) {
		var roots, want []string
		for i := range 50 {
			roots = append(roots, fmt.Sprintf("/%02d", (i*7)%50))
			want = append(want, fmt.Sprintf("/%02d", i))
		}
		fill(o, roots...)
		answer := status(t, o, "")
		assert.Equal(t, messages.LSP, answer.Caches[0].Kind)
		assert.Equal(t, want, rootsOf(answer.Sessions, func(s messages.SessionSnapshot) string { return s.Key.Root }))
		assert.Equal(t, want, rootsOf(answer.Pools, func(s messages.PoolSnapshot) string { return s.Key.Root }))
		assert.Equal(t, want, rootsOf(answer.Workers, func(s messages.WorkerSnapshot) string { return s.Key.Root }))
		assert.Equal(t, want, rootsOf(answer.Entries, func(s messages.EntrySnapshot) string { return s.Key.Root }))
		assert.Equal(t, roots, rootsOf(answer.Trees, func(s messages.TreeStatus) string { return s.Key.Root }), "in the order of their start")
		assert.IsIncreasing(t, rootsOf(answer.Builds, func(s messages.BuildSnapshot) int { return int(s.Tree) }))
	})
}

func rootsOf[S, R any](snapshots []S, root func(S) R) []R {
	var roots []R
	for _, snapshot := range snapshots {
		roots = append(roots, root(snapshot))
	}
	return roots
}

func TestRetractedKeyDisappears(t *testing.T) {
	bubble(t, "one of two", func(t *testing.T, _ *actortest.Harness, o *actors.Handle) {
		fill(o, "/a", "/b")
		for _, kind := range []string{"entry", "session", "pool", "worker", "build", "tree"} {
			o.Send(messages.Retract{Key: kind + "/a"})
		}
		o.Send(messages.Retract{Key: "never published"})
		answer := status(t, o, "")
		assert.Equal(t, "runtime 2 caches 2 entries 1 sessions 1 pools 1 workers 1 trees 1 builds 1 events 2", counts(answer))
		assert.Equal(t, "/b", answer.Sessions[0].Key.Root)
	})
}

func sampled(rss int64, trees ...messages.TreeID) messages.Sampled {
	msg := messages.Sampled{At: time.Now(), Trees: make(map[messages.TreeID]procscan.TreeSample)}
	for _, tree := range trees {
		msg.Trees[tree] = procscan.TreeSample{RSS: rss, Members: []procscan.Identity{{PID: int(tree)}}}
	}
	return msg
}

func TestMemoryOfATreeCarriesTheTimeOfItsSample(t *testing.T) {
	bubble(t, "sampled", func(t *testing.T, _ *actortest.Harness, o *actors.Handle) {
		fill(o, "/a", "/b")
		assert.Zero(t, status(t, o, "").Trees[0].Sampled, "not sampled yet")
		first := time.Now()
		o.Send(sampled(100, 1, 2))
		time.Sleep(2 * time.Second)
		o.Send(sampled(200, 2))
		publish(o, "tree/b", messages.TreeSnapshot{Tree: 2, Attempts: 1})
		trees := status(t, o, "").Trees
		assert.Equal(t, int64(100), trees[0].RSS)
		assert.Equal(t, first, trees[0].Sampled)
		assert.Equal(t, int64(200), trees[1].RSS, "a change of state keeps the sample")
		assert.Equal(t, first.Add(2*time.Second), trees[1].Sampled)
		assert.Equal(t, []procscan.Identity{{PID: 2}}, trees[1].Members)
	})
}

func TestSampleOfAGoneTreeDisappears(t *testing.T) {
	bubble(t, "retracted, and one that crossed the end", func(t *testing.T, _ *actortest.Harness, o *actors.Handle) {
		fill(o, "/a")
		o.Send(sampled(100, 1))
		o.Send(messages.Retract{Key: "tree/a"})
		o.Send(sampled(100, 1))
		publish(o, "other", messages.TreeSnapshot{Tree: 1})
		assert.Zero(t, status(t, o, "").Trees[0].RSS)
	})
	bubble(t, "not with the Sweeper that failed, if another one took the tree over", func(t *testing.T, _ *actortest.Harness, o *actors.Handle) {
		publish(o, "sweeper#1", messages.TreeSnapshot{ActorSnapshot: named("sweeper#1"), Tree: 7})
		o.Send(sampled(100, 7))
		publish(o, "sweeper#2", messages.TreeSnapshot{ActorSnapshot: named("sweeper#2"), Tree: 7})
		assert.Len(t, status(t, o, "").Trees, 1, "one tree is one row")
		o.Send(messages.Retract{Key: "sweeper#1"})
		trees := status(t, o, "").Trees
		assert.Equal(t, "sweeper#2", trees[0].Actor)
		assert.Equal(t, int64(100), trees[0].RSS)
	})
}

func TestLast256EventsAreKeptInTheirOrder(t *testing.T) {
	bubble(t, "events", func(t *testing.T, _ *actortest.Harness, o *actors.Handle) {
		for i := range 1000 {
			o.Send(messages.Event{Detail: fmt.Sprint(i)})
			if i == 2 {
				assert.Len(t, status(t, o, "").Events, 3)
			}
		}
		events := status(t, o, "").Events
		assert.Len(t, events, 256)
		for i, event := range events {
			assert.Equal(t, fmt.Sprint(744+i), event.Detail)
		}
	})
}

func TestTheAnswerSaysWhenItWasMadeSoThatIdleTimeIsOfTheQuery(t *testing.T) {
	bubble(t, "idle", func(t *testing.T, _ *actortest.Harness, o *actors.Handle) {
		publish(o, "s", messages.SessionSnapshot{LastUsed: time.Now()})
		time.Sleep(90 * time.Second)
		answer := status(t, o, "")
		assert.Equal(t, 90*time.Second, answer.At.Sub(answer.Sessions[0].LastUsed))
	})
}
