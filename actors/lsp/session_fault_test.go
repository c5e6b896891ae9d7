package lsp_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
	"github.com/seed-f6977891/hearth/test/fakes"
)

// fault is a message at which a failing behaviour does what ends no Receive.
type fault func()

var faults = map[string]fault{"panic": func() { panic("boom") }, "goexit": runtime.Goexit}

func failing(create func(*actors.Self) actors.Behaviour) func(*actors.Self) actors.Behaviour {
	return func(self *actors.Self) actors.Behaviour {
		behaviour := create(self)
		return faulty{behaviour, behaviour.(actors.Refuser)}
	}
}

type faulty struct {
	actors.Behaviour
	actors.Refuser
}

func (f faulty) Receive(msg any) {
	if fail, ok := msg.(fault); ok {
		fail()
		return
	}
	f.Behaviour.Receive(msg)
}

// strange is an operation that no language server serves, with hooks into what the
// Session does with it.
type strange struct {
	messages.Hover
	onHeader, onRefuse func()
}

func (s strange) Header() messages.Head {
	if s.onHeader != nil {
		s.onHeader()
	}
	return s.Head
}

func (s strange) Refuse(err error) {
	if s.onRefuse != nil {
		s.onRefuse()
	}
	s.Hover.Refuse(err)
}

func (b *bench) strange(op strange, with ...func(*messages.Head)) asked[messages.HoverReport] {
	op.Head, op.Reply = b.head(with), messages.NewReplyTo[messages.HoverReport]()
	return send(b, op.ID, op, op.Reply)
}

// expectDown expects that the Session has failed, and that its workers come in although
// nobody ends the connection or the callers' time.
func (b *bench) expectDown() {
	b.t.Helper()
	down := actortest.Next[messages.Down](b.t, b.Parent)
	assert.Equal(b.t, b.session.Ref(), down.From)
	assert.Equal(b.t, messages.KindInternal, messages.KindOf(down.Reason))
	b.letGoOfReads()
	want := []any{down}
	if down.Workers > 0 {
		want = append(want, messages.WorkersIn{From: b.session.Ref()})
	}
	b.Supervisor.ExpectExactly(b.t, want...)
	b.Parent.ExpectNothing(b.t)
	late := b.hover(b.write("late.go", "x"))
	assert.ErrorIs(b.t, late.err(b.t), messages.ErrClosing)
	b.session.Stop()
	<-b.session.Done()
}

func TestFaultInAnyStateEndsTheSessionAloneAndCallsItsWorkersOff(t *testing.T) {
	states := map[string]func(*bench){
		"launching":     func(b *bench) { b.launching() },
		"initializing":  func(b *bench) { b.initializing() },
		"ready":         (*bench).ready,
		"shutting down": (*bench).shuttingDown,
		"sweeping":      (*bench).sweeping,
		"closed": func(b *bench) {
			b.sweeping()
			b.session.Send(messages.LeaderReaped{Tree: b.tree})
			b.Parent.Take()
		},
	}
	for kind, fault := range faults {
		for state, reach := range states {
			bubble(t, kind+" while "+state, func(t *testing.T, b *bench) {
				b.fault = true
				reach(b)
				b.session.Send(fault)
				b.expectDown()
			})
		}
		bubble(t, kind+" while it is judged", func(t *testing.T, b *bench) {
			b.fault = true
			b.timedOut(b.judgedSilent())
			b.session.Send(fault)
			b.expectDown()
		})
		bubble(t, kind+" while files are watched", func(t *testing.T, b *bench) {
			b.fault = true
			b.ready()
			b.wire.Watch("**/*.go")
			b.session.Send(fault)
			b.expectDown()
		}, watched(newNotifier()))
	}
}

func TestFaultAnswersWhatWasSentAsUnknownAndTheRestAsInternal(t *testing.T) {
	for kind, fault := range faults {
		bubble(t, kind, func(t *testing.T, b *bench) {
			b.fault = true
			all := b.busy()
			b.session.Send(fault)
			b.expectDown()
			all.suspect.pending(t) // it had its answer
			unknown := all.asking.err(t)
			assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(unknown))
			assert.ErrorContains(t, unknown, "the request may have reached the server: internal fault in "+b.session.ID())
			for _, err := range []error{all.waiting.err(t), all.reading.err(t), all.queued.err(t)} {
				assert.Equal(t, messages.KindInternal, messages.KindOf(err))
			}
			time.Sleep(time.Hour)
			all.asking.pending(t) // nobody is answered again
		})
	}
}

func TestOperationThatFailsInTheSessionsHandsTakesNoOtherAnswerAway(t *testing.T) {
	for kind, fault := range faults {
		for place, op := range map[string]strange{"header": {onHeader: fault}, "refuse": {onRefuse: fault}} {
			bubble(t, kind+" in "+place, func(t *testing.T, b *bench) {
				b.ready()
				b.wire.Hold("textDocument/hover", fakes.Answer{})
				other := b.hover(b.write("a.go", "x"))
				b.strange(op).pending(t) // its Entry, which has a copy, answers it
				b.expectDown()
				assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(other.err(t)))
			})
		}
	}
}

func TestOperationWhoseRefusalFailsIsNotRefusedAgain(t *testing.T) {
	for kind, fault := range faults {
		bubble(t, kind, func(t *testing.T, b *bench) {
			b.occupied()
			refusals := 0
			b.strange(strange{onRefuse: func() { refusals++; fault() }}, within(time.Second))
			queued := b.hover(b.write("a.go", "x"))
			time.Sleep(time.Second)
			b.expectDown()
			assert.Equal(t, 1, refusals)
			assert.Equal(t, messages.KindInternal, messages.KindOf(queued.err(t)))
		}, oneSlot)
	}
}

func TestWireThatCannotBeMadeIsTheSessionsFault(t *testing.T) {
	for kind, fault := range faults {
		bubble(t, kind, func(t *testing.T, b *bench) {
			b.launching()
			b.session.Send(b.launched())
			b.expectDown()
		}, connecting(fault))
	}
}

// connecting makes the Wire of a Session with a fault.
func connecting(fault fault) func(*lsp.SessionConfig) {
	return func(cfg *lsp.SessionConfig) {
		cfg.Connect = func(messages.Pipes, lsp.Answers) lsp.Wire {
			fault()
			return nil
		}
	}
}

// A call that takes a second to be refused shows what was told before its answer, and
// what only after it.
func TestCallerFindsItsCallEndedInStatusAndWaitsForNoAccounting(t *testing.T) {
	slow := strange{onRefuse: func() { time.Sleep(time.Second) }}
	bubble(t, "answered", func(t *testing.T, b *bench) {
		b.ready()
		answered := "answered"
		call := b.strange(strange{onRefuse: func() { // what is sent from here on is behind what was sent before
			b.Observer.Handle.Send(answered)
			b.Parent.Handle.Send(answered)
		}})
		assert.EqualError(t, call.err(t), "lsp_test.strange: a language server does not serve a lsp_test.strange")
		b.Parent.ExpectExactly(t, answered, b.settled(call.id, messages.Healthy, nil))
		seen := b.Observer.Take()
		at := slices.Index(seen, any(answered))
		require.Positive(t, at)
		assert.Zero(t, seen[at-1].(messages.Publish).Snapshot.(messages.SessionSnapshot).Active)
	})
	bubble(t, "refused in the queue", func(t *testing.T, b *bench) {
		b.occupied()
		call := b.strange(slow, within(time.Minute))
		time.Sleep(time.Minute)
		assert.Zero(t, b.snapshot().Waiting)
		b.Parent.ExpectNothing(t)
		time.Sleep(time.Second)
		call.err(t)
		b.Parent.ExpectExactly(t, b.settled(call.id, messages.Healthy, nil))
	}, oneSlot)
	bubble(t, "at the end of the session", func(t *testing.T, b *bench) {
		b.occupied()
		call := b.strange(slow)
		b.session.Send(messages.Abort{})
		actortest.Next[messages.Settled](t, b.Parent) // of the call before
		assert.Zero(t, b.snapshot().Waiting)
		b.Parent.ExpectNothing(t)
		time.Sleep(time.Second)
		call.err(t)
		b.Parent.ExpectExactly(t, b.settled(call.id, messages.Broken, messages.ErrAborted))
	}, oneSlot)
}
