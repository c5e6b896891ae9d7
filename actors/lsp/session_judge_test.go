package lsp_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
	"github.com/seed-f6977891/hearth/test/fakes"
)

const probe = "$/hearth/barrier"

// timedOut makes a call whose whole time ends while the server says nothing.
func (b *bench) timedOut(path string) asked[messages.HoverReport] {
	b.t.Helper()
	call := b.hover(path)
	time.Sleep(timeout)
	assert.Equal(b.t, messages.KindTimeout, messages.KindOf(call.err(b.t)))
	return call
}

func (b *bench) silentError() error {
	return &messages.ProtocolError{Message: "fake is silent: no answer in time, and no sign of life after it; its last words: E-17"}
}

// judgedSilent makes a Session that serves a server which says nothing any more.
func (b *bench) judgedSilent() (path string) {
	b.t.Helper()
	b.ready()
	_, _ = b.stderr.Write([]byte("E-17\n"))
	b.wire.Silence(true)
	return b.write("a.go", "x")
}

func TestServerThatIsSilentAfterATimeoutIsReplaced(t *testing.T) {
	bubble(t, "silent", func(t *testing.T, b *bench) {
		suspect := b.timedOut(b.judgedSilent())
		b.Parent.ExpectNothing(t) // its verdict waits for the judgement
		assert.Zero(t, b.snapshot().Active, "its slot does not")
		time.Sleep(time.Second - 1)
		b.Parent.ExpectNothing(t)
		time.Sleep(time.Nanosecond)
		b.Parent.ExpectExactly(t, messages.Ending{From: b.session.Ref(), Err: b.silentError()},
			b.settled(suspect.id, messages.Broken, b.silentError()))
		b.expectSweep()
		b.reaped()
	})
	bubble(t, "others go on meanwhile, one more becomes a suspect, and what was begun then is served again", func(t *testing.T, b *bench) {
		path := b.judgedSilent()
		suspect := b.hover(path)
		time.Sleep(time.Second / 2)
		second := b.hover(b.write("b.go", "x"))
		time.Sleep(timeout - time.Second/2)
		other := b.hover(b.write("c.go", "x"))
		assert.Equal(t, 2, b.shown().Active)
		time.Sleep(time.Second)
		assert.Error(t, second.err(t))
		other.pending(t)
		b.Parent.ExpectExactly(t, messages.Ending{From: b.session.Ref(), Err: b.silentError()},
			b.settled(suspect.id, messages.Broken, b.silentError()), b.settled(second.id, messages.Broken, b.silentError()),
			b.settled(other.id, messages.Returned, b.silentError()))
		assert.Equal(t, 1, b.wire.Count(probe))
	})
	bubble(t, "it does not even read", func(t *testing.T, b *bench) {
		path := b.judgedSilent()
		b.wire.StopReading()
		suspect := b.timedOut(path)
		time.Sleep(time.Second)
		b.Parent.ExpectExactly(t, messages.Ending{From: b.session.Ref(), Err: b.silentError()},
			b.settled(suspect.id, messages.Broken, b.silentError()))
	})
	bubble(t, "a fault in the judgement", func(t *testing.T, b *bench) {
		path := b.judgedSilent()
		b.wire.On(probe, fakes.Answer{Do: func(fakes.Sent) (any, error) { panic("boom") }})
		b.hover(path)
		time.Sleep(timeout - 1)
		b.wire.Silence(false)
		time.Sleep(time.Nanosecond)
		ending := actortest.Next[messages.Ending](t, b.Parent)
		assert.Equal(t, messages.KindInternal, messages.KindOf(ending.Err))
	})
}

func TestAnyFrameAfterATimeoutKeepsTheServer(t *testing.T) {
	kept := func(t *testing.T, b *bench, suspect asked[messages.HoverReport]) {
		b.Parent.ExpectExactly(t, b.settled(suspect.id, messages.Healthy, nil))
		time.Sleep(time.Minute)
		b.Parent.ExpectNothing(t)
		b.Supervisor.ExpectNothing(t)
	}
	bubble(t, "of any kind", func(t *testing.T, b *bench) {
		suspect := b.timedOut(b.judgedSilent())
		time.Sleep(time.Second - 1)
		b.wire.Tell(lsp.Noise{Text: "still loading"})
		kept(t, b, suspect)
	})
	bubble(t, "an answer to the probe", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.Hold("textDocument/hover", fakes.Answer{})
		suspect := b.timedOut(b.write("a.go", "x"))
		kept(t, b, suspect)
		b.wire.On("textDocument/hover", said("now"))
		assert.Equal(t, "now", b.hover(b.cfg.Key.Root+"/a.go").ok(t).Text)
	})
	bubble(t, "its worker is still out", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.On("textDocument/hover", fakes.Answer{Do: func(fakes.Sent) (any, error) {
			time.Sleep(time.Hour)
			return nil, nil
		}})
		suspect := b.hover(b.write("a.go", "x"))
		time.Sleep(timeout + lsp.WorkerGrace)
		assert.Error(t, suspect.err(t))
		assert.Equal(t, 1, b.wire.Count(probe))
		b.Parent.ExpectNothing(t)
		time.Sleep(time.Hour)
		kept(t, b, suspect)
	})
}

func TestCancelProvesNothing(t *testing.T) {
	cancelled := func(b *bench, path string, after time.Duration) asked[messages.HoverReport] {
		ctx, cancel := context.WithCancel(b.t.Context())
		defer cancel()
		call := b.hover(path, under(ctx))
		time.Sleep(after)
		return call
	}
	bubble(t, "of a server that was heard", func(t *testing.T, b *bench) {
		call := cancelled(b, b.judgedSilent(), silence-1)
		assert.Error(t, call.err(t))
		b.Parent.ExpectExactly(t, b.settled(call.id, messages.Healthy, nil))
		assert.Zero(t, b.wire.Count(probe))
	})
	bubble(t, "nor does a caller's own deadline", func(t *testing.T, b *bench) {
		path := b.judgedSilent()
		ctx, cancel := context.WithTimeout(t.Context(), silence-1)
		defer cancel()
		call := b.hover(path, under(ctx))
		time.Sleep(silence - 1)
		assert.Equal(t, messages.KindTimeout, messages.KindOf(call.err(t)))
		b.Parent.ExpectExactly(t, b.settled(call.id, messages.Healthy, nil))
		assert.Zero(t, b.wire.Count(probe))
	})
	bubble(t, "of a server that had nothing to do before", func(t *testing.T, b *bench) {
		path := b.judgedSilent()
		time.Sleep(time.Hour)
		call := cancelled(b, path, time.Second)
		assert.Error(t, call.err(t))
		b.Parent.ExpectExactly(t, b.settled(call.id, messages.Healthy, nil))
		assert.Zero(t, b.wire.Count(probe), "silence while nobody waits is none")
	})
	bubble(t, "unless it has been silent for long", func(t *testing.T, b *bench) {
		call := cancelled(b, b.judgedSilent(), silence)
		assert.Equal(t, messages.KindCancelled, messages.KindOf(call.err(t)))
		b.Parent.ExpectNothing(t)
		time.Sleep(time.Second)
		b.Parent.ExpectExactly(t, messages.Ending{From: b.session.Ref(), Err: b.silentError()},
			b.settled(call.id, messages.Broken, b.silentError()))
	})
	bubble(t, "also to callers who each give it little time", func(t *testing.T, b *bench) {
		path := b.judgedSilent()
		for range 3 {
			call := cancelled(b, path, 3*time.Second)
			call.err(t)
			b.Parent.ExpectExactly(t, b.settled(call.id, messages.Healthy, nil))
		}
		last := cancelled(b, path, time.Second)
		last.err(t)
		time.Sleep(time.Second)
		actortest.Next[messages.Ending](t, b.Parent)
	})
	bubble(t, "and a time spent in the queue neither", func(t *testing.T, b *bench) {
		release := b.occupied()
		call := b.hover(b.write("a.go", "x"))
		b.wire.Hold("textDocument/hover", fakes.Answer{})
		time.Sleep(timeout - time.Second)
		release()
		b.settledNow()
		b.wire.Silence(true)
		time.Sleep(time.Second)
		call.err(t)
		b.Parent.ExpectExactly(t, b.settled(call.id, messages.Healthy, nil))
		assert.Zero(t, b.wire.Count(probe), "the server had it for a second")
	}, oneSlot)
	bubble(t, "nor one that was spent behind others' diagnostics", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.Finds(findsTheText(timeout - time.Second))
		path := b.write("a.go", "one")
		first := b.diagnose(path)
		b.write("a.go", "two")
		second := b.diagnose(path)
		time.Sleep(timeout - time.Second)
		first.ok(t)
		b.settledNow()
		b.wire.Silence(true)
		time.Sleep(time.Second)
		second.err(t)
		b.Parent.ExpectExactly(t, b.settled(second.id, messages.Healthy, nil))
		assert.Zero(t, b.wire.Count(probe))
	})
}
