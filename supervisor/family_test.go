package supervisor_test

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
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

// family is a supervisor with an observer and a parent, whose children own trees.
type family struct {
	t        *testing.T
	machine  *fakes.Machine
	sys      *actors.System
	root     *actors.Handle
	observer *supervisor.Child
	parent   *supervisor.Child
	left     *int
	kept     supervisor.Machine // what keeps watch beside the trees

	record
}

// record is what the family's actors saw. Its fields are read through seen.
type record struct {
	mu        sync.Mutex
	failures  []error
	sampled   int
	published map[string]messages.Snapshot // by the observer
	restored  int                          // Republish that the parent got
	gone      []messages.Ref               // TreesGone that the parent got
	members   []*member                    // spawned, in order
}

func (r *record) note(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

// seen gives a copy of the record once the bubble is quiet.
func (f *family) seen() (copied struct {
	failures  []error
	sampled   int
	published map[string]messages.Snapshot
	restored  int
	gone      []messages.Ref
	members   []*member
}) {
	synctest.Wait()
	f.note(func() {
		copied.failures, copied.sampled, copied.published = slices.Clone(f.failures), f.sampled, maps.Clone(f.published)
		copied.restored, copied.gone, copied.members = f.restored, slices.Clone(f.gone), slices.Clone(f.members)
	})
	return copied
}

func bubble(t *testing.T, name string, test func(*testing.T, *family)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFamily(t)
			test(t, f)
			f.end()
		})
	})
}

func newFamily(t *testing.T) *family { return newFragileFamily(t, nil) }

// newFragileFamily makes a family whose trees' leaders are fragile, left times in all.
func newFragileFamily(t *testing.T, left *int) *family {
	return newKeptFamily(t, left, supervisor.Machine{})
}

// newKeptFamily makes a family with what else its machine has.
func newKeptFamily(t *testing.T, left *int, kept supervisor.Machine) *family {
	f := &family{left: left, kept: kept, t: t, machine: fakes.NewMachine(), record: record{published: make(map[string]messages.Snapshot)}}
	failed := func(err error) { f.note(func() { f.failures = append(f.failures, err) }) }
	sys, err := actors.NewSystem(slog.New(slog.NewTextHandler(io.Discard, nil)), failed)
	require.NoError(t, err)
	f.sys = sys
	f.observer = &supervisor.Child{Name: "observer", Observer: true, Create: func(*actors.Self) actors.Behaviour { return &watcher{f} }}
	f.parent = &supervisor.Child{Name: "parent", Create: func(self *actors.Self) actors.Behaviour {
		return &elder{family: f, self: self, children: make(map[messages.Ref]*actors.Handle)}
	}}
	f.root = supervisor.SpawnSupervisor(sys, f.on(), failed, f.observer, f.parent)
	synctest.Wait()
	return f
}

func (f *family) on() supervisor.Machine {
	launcher := f.machine.Launcher()
	if f.left != nil {
		launcher = fragileLauncher{launcher, f.left}
	}
	m := f.kept
	m.Launcher, m.Table, m.Grace = launcher, f.machine.Table(), fakes.Grace
	m.Sample = func(ctx context.Context) (map[string]procscan.TreeSample, error) {
		f.note(func() { f.sampled++ })
		return f.machine.Sample(ctx)
	}
	return m
}

// end makes sure that the family can still be ended, and that nothing is left of it.
func (f *family) end() {
	select {
	case <-f.root.Done():
		return
	default:
	}
	reply := supervisor.Abort(f.root)
	time.Sleep(time.Minute)
	require.Len(f.t, reply.Answer(), 1)
	assert.NoError(f.t, (<-reply.Answer()).Err)
	f.root.Stop()
	<-f.root.Done()
	assert.Empty(f.t, f.machine.Alive())
	assert.Empty(f.t, f.sys.Roster().Live())
}

// spawn makes the parent spawn a member, which adopts a tree.
func (f *family) spawn() *member {
	n := len(f.seen().members)
	f.parent.Handle().Send("spawn")
	members := f.seen().members
	require.Len(f.t, members, n+1)
	return members[n]
}

// watcher plays the Observer.
type watcher struct{ *family }

func (w *watcher) Receive(msg any) {
	switch msg := msg.(type) {
	case messages.Publish:
		w.note(func() { w.published[msg.Key] = msg.Snapshot })
	case messages.Retract:
		w.note(func() { delete(w.published, msg.Key) })
	case string:
		fail(msg)
	}
}

// elder plays a Cache: it spawns members and ends when they have.
type elder struct {
	*family
	self     *actors.Self
	children map[messages.Ref]*actors.Handle
	closing  bool
}

func (e *elder) Receive(msg any) {
	switch msg := msg.(type) {
	case string:
		if fail(msg); msg == "spawn" {
			h := e.self.Spawn("member", "m", func(self *actors.Self) actors.Behaviour { return newMember(e.family, self) })
			e.children[h.Ref()] = h
		}
	case messages.Close:
		e.end(msg)
	case messages.Abort:
		e.end(msg)
	case messages.Closed:
		e.lost(msg.From)
	case messages.TreesGone:
		e.note(func() { e.gone = append(e.gone, msg.From) })
		e.lost(msg.From)
	case messages.Republish:
		e.note(func() { e.restored++ })
	}
}

func (e *elder) end(msg any) {
	e.closing = true
	for _, h := range e.children {
		h.Send(msg)
	}
	e.maybeClosed()
}

func (e *elder) lost(ref messages.Ref) {
	if h := e.children[ref]; h != nil {
		h.Stop()
		delete(e.children, ref)
	}
	e.maybeClosed()
}

func (e *elder) maybeClosed() {
	if e.closing && len(e.children) == 0 {
		e.self.TellParent(messages.Closed{From: e.self.Ref()})
	}
}

// member owns one tree.
type member struct {
	family *family
	self   *actors.Self
	handle *actors.Handle
	tree   messages.TreeID
	mu     sync.Mutex
	got    []any
}

func newMember(f *family, self *actors.Self) *member {
	m := &member{family: f, self: self, tree: messages.TreeID(self.System().NextID()), handle: self.Handle()}
	f.note(func() { f.members = append(f.members, m) })
	m.adopt(m.tree)
	self.Publish(messages.SessionSnapshot{})
	return m
}

func (m *member) adopt(tree messages.TreeID) {
	m.self.TellSupervisor(messages.Adopt{Owner: m.self.Ref(), Tree: tree, Role: messages.RoleREPL, Spec: procscan.Spec{Argv: []string{"server"}}})
}

func (m *member) Receive(msg any) {
	m.mu.Lock()
	m.got = append(m.got, msg)
	m.mu.Unlock()
	switch msg := msg.(type) {
	case string:
		if fail(msg); msg == "adopt" {
			m.adopt(messages.TreeID(m.self.System().NextID()))
		}
	case messages.Close, messages.Abort:
		m.self.TellSupervisor(messages.Sweep{Tree: m.tree})
	case messages.LeaderReaped, messages.LaunchFailed:
		m.self.TellParent(messages.Closed{From: m.self.Ref()})
	}
}

func fail(how string) {
	switch how {
	case "panic":
		panic("boom")
	case "goexit":
		runtime.Goexit()
	}
}

// gotA gives the first message of type T that the member got.
func gotA[T any](m *member) (found T, ok bool) {
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, msg := range m.got {
		if found, ok := msg.(T); ok {
			return found, true
		}
	}
	return found, false
}
