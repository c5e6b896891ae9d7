package cache_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/cache"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
)

func keyOf(root string) messages.Key {
	return messages.Key{Kind: messages.LSP, Root: root, Language: "go"}
}

// faults are the ways in which Receive may fail to return.
var faults = map[string]func(){"panic": func() { panic("boom") }, "goexit": runtime.Goexit}

// call is one operation with what its caller sees.
type call struct {
	messages.Hover
	fault func() // in Header, or in Refuse where Header is not asked
}

func newCall(sys *actors.System, root string, with ...func(*call)) *call {
	c := &call{Hover: messages.Hover{
		Head: messages.Head{
			ID: messages.OperationID(sys.NextID()), Key: keyOf(root), Ctx: context.Background(),
			AcquireBy: time.Now().Add(time.Hour), Timeout: time.Minute,
		},
		Reply: messages.NewReplyTo[messages.HoverReport](),
	}}
	for _, change := range with {
		change(c)
	}
	return c
}

func (c *call) Header() messages.Head {
	if c.fault != nil {
		c.fault()
	}
	return c.Head
}

func within(d time.Duration) func(*call) {
	return func(c *call) { c.AcquireBy = time.Now().Add(d) }
}

func under(ctx context.Context) func(*call) { return func(c *call) { c.Ctx = ctx } }

func version(value string) func(*call) {
	return func(c *call) { c.Fingerprint = messages.Fingerprint{Value: value, Taken: time.Now()} }
}

func failing(fault func()) func(*call) { return func(c *call) { c.fault = fault } }

// err is the refusal that the call has got by now.
func (c *call) err(t testing.TB) error {
	t.Helper()
	synctest.Wait()
	require.Len(t, c.Reply.Answer(), 1, "the call for %s has no answer", c.Key.Root)
	return (<-c.Reply.Answer()).Err
}

func (c *call) pending(t testing.TB) {
	t.Helper()
	synctest.Wait()
	assert.Empty(t, c.Reply.Answer(), "the call for %s has an answer", c.Key.Root)
}

// cacheBench is one Cache whose Entries are probes.
type cacheBench struct {
	*actortest.Harness
	t       *testing.T
	cache   *actors.Handle
	entries map[string][]*actortest.Probe // by root, one for each generation
}

func cacheBubble(t *testing.T, name string, cfg cache.Config, test func(*testing.T, *cacheBench)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := &cacheBench{Harness: actortest.New(t), t: t, entries: map[string][]*actortest.Probe{}}
			b.cache = b.Spawn("cache", "lsp", cache.NewWithEntries(limited(cfg), b.newEntry))
			test(t, b)
		})
	})
}

// limited fills in what a test says nothing of.
func limited(cfg cache.Config) cache.Config {
	cfg.Kind = messages.LSP
	cfg.Limit = max(cfg.Limit, 1)
	cfg.Resource = "session"
	if cfg.Weight == nil {
		cfg.Weight = func(messages.Key) int64 { return 1 }
	}
	if cfg.Creation == nil {
		cfg.Creation = func(messages.Key) time.Duration { return 0 }
	}
	return cfg
}

func (b *cacheBench) newEntry(key messages.Key) func(*actors.Self) actors.Behaviour {
	probe, create := actortest.Child("entry " + key.Root)
	b.entries[key.Root] = append(b.entries[key.Root], probe)
	return create
}

// entry is the present Entry of a key.
func (b *cacheBench) entry(root string) *actortest.Probe {
	b.t.Helper()
	synctest.Wait()
	require.NotEmpty(b.t, b.entries[root], "%s has no Entry", root)
	return b.entries[root][len(b.entries[root])-1]
}

func (b *cacheBench) call(root string, with ...func(*call)) *call {
	c := newCall(b.System, root, with...)
	b.cache.Send(c)
	return c
}

// leased makes a call and takes its Lease from the Entry's mailbox.
func (b *cacheBench) leased(root string, with ...func(*call)) *call {
	b.t.Helper()
	c := b.call(root, with...)
	b.expectLease(c)
	return c
}

func (b *cacheBench) expectLease(c *call) {
	b.t.Helper()
	b.entry(c.Key.Root).ExpectExactly(b.t, messages.Lease{Op: c})
}

func (b *cacheBench) release(c *call, verdict messages.Verdict, cause error) {
	b.t.Helper()
	b.cache.Send(messages.LeaseReleased{From: b.entry(c.Key.Root).Ref(), ID: c.ID, Verdict: verdict, Cause: cause})
}

// idle makes a key resident and idle.
func (b *cacheBench) idle(root string, with ...func(*call)) {
	b.t.Helper()
	b.release(b.leased(root, with...), messages.Healthy, nil)
	synctest.Wait()
}

// gone says that nothing is left of a key.
func (b *cacheBench) gone(root string) {
	b.t.Helper()
	b.cache.Send(messages.EntryClosed{From: b.entry(root).Ref()})
	synctest.Wait()
}

// events gives what the Observer was told of, as kind and detail.
func (b *cacheBench) events() (told []string) {
	for _, msg := range b.Observer.Take() {
		if event, ok := msg.(messages.Event); ok {
			told = append(told, string(event.Kind)+": "+event.Detail)
		}
	}
	return told
}

// sums gives the last snapshot that the Cache has published.
func (b *cacheBench) sums() messages.CacheSnapshot {
	b.t.Helper()
	var last messages.CacheSnapshot
	for _, msg := range b.Observer.Take() {
		if published, ok := msg.(messages.Publish); ok {
			last = published.Snapshot.(messages.CacheSnapshot)
		}
	}
	require.NotZero(b.t, last, "nothing was published")
	return last
}
