// Package actortest is the bench on which one actor is tested alone: a bubble's
// engine, with probes in the places of its parent, the Supervisor and the Observer.
//
// Everything is to be used inside a testing/synctest bubble. A probe is looked at
// after synctest.Wait, when every goroutine of the bubble is blocked: what has not
// arrived by then will not arrive without another message or the passing of time,
// so that a test can prove that nothing happened.
package actortest

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// Harness is a runtime's actors with a probe in every place around the tested one.
type Harness struct {
	T          testing.TB
	System     *actors.System
	Supervisor *Probe
	Observer   *Probe
	Parent     *Probe
}

// New makes the harness. Its actors are stopped when the test ends.
func New(t testing.TB) *Harness {
	t.Helper()
	sys, err := actors.NewSystem(slog.New(slog.NewTextHandler(io.Discard, nil)), func(error) {})
	require.NoError(t, err)
	h := &Harness{T: t, System: sys}
	h.Supervisor = h.root("supervisor")
	h.Observer = h.root("observer")
	h.Parent = h.NewProbe("parent")
	sys.SetSupervisor(h.Supervisor.Handle)
	sys.SetObserver(h.Observer.Handle)
	synctest.Wait()
	h.Supervisor.Take()
	t.Cleanup(h.stopAll)
	return h
}

func (h *Harness) root(name string) *Probe {
	p := &Probe{name: name}
	p.Handle = h.System.SpawnRoot("probe", name, p.create)
	synctest.Wait()
	return p
}

// NewProbe makes one more probe, a child of the Supervisor.
func (h *Harness) NewProbe(name string) *Probe {
	p := &Probe{name: name}
	p.Handle = h.Supervisor.Spawn("probe", name, p.create)
	synctest.Wait()
	return p
}

// Spawn starts the actor under test as a child of Parent.
func (h *Harness) Spawn(kind, name string, create func(*actors.Self) actors.Behaviour) *actors.Handle {
	handle := h.Parent.Spawn(kind, name, create)
	synctest.Wait()
	return handle
}

func (h *Harness) stopAll() {
	for _, handle := range h.System.Roster().Live() {
		handle.Stop()
	}
	synctest.Wait()
}

// Probe is an actor that keeps what it is sent.
type Probe struct {
	Handle *actors.Handle
	name   string

	mu   sync.Mutex
	self *actors.Self
	got  []any
}

// Child makes a probe that an actor under test is given to spawn. It has no Handle:
// only its parent has one.
func Child(name string) (*Probe, func(*actors.Self) actors.Behaviour) {
	p := &Probe{name: name}
	return p, p.create
}

// Ref is the probe's name. A probe that was not spawned has none: Ref is nil.
func (p *Probe) Ref() messages.Ref {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.self == nil {
		return nil
	}
	return p.self.Ref()
}

func (p *Probe) create(self *actors.Self) actors.Behaviour {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.self = self
	return p
}

// Receive keeps the message.
func (p *Probe) Receive(msg any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got = append(p.got, msg)
}

// Spawn starts a child of the probe.
func (p *Probe) Spawn(kind, name string, create func(*actors.Self) actors.Behaviour) *actors.Handle {
	synctest.Wait()
	p.mu.Lock()
	self := p.self
	p.mu.Unlock()
	return self.Spawn(kind, name, create)
}

// Take waits until the bubble is quiet and gives everything that arrived since the
// last Take.
func (p *Probe) Take() []any {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	got := p.got
	p.got = nil
	return got
}

// Put hands messages back, in front, for a later Take.
func (p *Probe) put(back []any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got = append(back, p.got...)
}

// ExpectNothing fails the test if anything arrived since the last Take.
func (p *Probe) ExpectNothing(t testing.TB) {
	t.Helper()
	assert.Empty(t, p.Take(), "%s expected nothing", p.name)
}

// ExpectExactly fails the test unless exactly these messages arrived, in this order.
func (p *Probe) ExpectExactly(t testing.TB, want ...any) {
	t.Helper()
	assert.Equal(t, want, p.Take(), "%s", p.name)
}

// Next takes the oldest message, which must be a T.
func Next[T any](t testing.TB, p *Probe) T {
	t.Helper()
	got := p.Take()
	require.NotEmpty(t, got, "%s expected a %T, and nothing came", p.name, *new(T))
	msg, ok := got[0].(T)
	require.True(t, ok, "%s expected a %T, got %s", p.name, *new(T), describe(got))
	p.put(got[1:])
	return msg
}

// Find takes the oldest T and leaves the other messages where they are.
func Find[T any](t testing.TB, p *Probe) T {
	t.Helper()
	got := p.Take()
	for i, candidate := range got {
		if msg, ok := candidate.(T); ok {
			p.put(append(got[:i:i], got[i+1:]...))
			return msg
		}
	}
	require.Fail(t, fmt.Sprintf("%s expected a %T among %s", p.name, *new(T), describe(got)))
	panic("unreachable")
}

func describe(got []any) string {
	text := ""
	for _, msg := range got {
		text += fmt.Sprintf("\n\t%T%+v", msg, msg)
	}
	return text
}
