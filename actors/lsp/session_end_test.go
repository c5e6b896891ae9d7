package lsp_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/fakes"
)

// busy is a serving Session with a call in every phase, in the order of their arrival.
type busy struct {
	suspect asked[messages.HoverReport] // answered, not settled
	asking  asked[messages.DiagnosticsReport]
	waiting asked[messages.DiagnosticsReport] // read other bytes, and went back
	reading asked[messages.HoverReport]
	queued  asked[messages.HoverReport]
}

func (b *bench) busy() (all busy) {
	b.t.Helper()
	b.ready()
	b.wire.Finds(func(string) (string, time.Duration) { return "[]", time.Hour })
	b.wire.Silence(true)
	all.suspect = b.timedOut(b.write("a.go", "x"))
	path := b.write("b.go", "one")
	all.asking = b.diagnose(path)
	b.write("b.go", "two")
	all.waiting = b.diagnose(path)
	slow := b.write("c.go", "x")
	b.holdRead(slow)
	all.reading = b.hover(slow)
	all.queued = b.hover(b.write("d.go", "x"))
	b.Parent.ExpectNothing(b.t)
	snapshot := b.shown()
	assert.Equal(b.t, 2, snapshot.Active)
	assert.Equal(b.t, 2, snapshot.Waiting)
	return all
}

// expectBroken expects the end of a busy Session that was told of first: what the server
// may have seen is answered, and the rest goes back unanswered.
func (b *bench) expectBroken(all busy, reason error) {
	b.t.Helper()
	b.Parent.ExpectExactly(b.t, messages.Ending{From: b.session.Ref(), Err: reason},
		b.settled(all.suspect.id, messages.Broken, reason), b.settled(all.asking.id, messages.Broken, reason),
		b.settled(all.waiting.id, messages.Returned, reason), b.settled(all.reading.id, messages.Returned, reason),
		b.settled(all.queued.id, messages.Returned, reason))
	assert.Equal(b.t, reason, all.asking.err(b.t))
	all.suspect.pending(b.t)
	all.waiting.pending(b.t)
	all.reading.pending(b.t)
	all.queued.pending(b.t)
	snapshot := b.snapshot()
	assert.Equal(b.t, "sweeping", snapshot.State)
	assert.Zero(b.t, snapshot.Active)
	assert.Zero(b.t, snapshot.Waiting)
	assert.Equal(b.t, reason.Error(), snapshot.Reason)
}

func TestServerThatDiesIsToldToEverybodyWhoWaitsForIt(t *testing.T) {
	died := &messages.ExitError{Identity: leader, Status: "exit status 3", StderrTail: "E-17"}
	bubble(t, "exit", func(t *testing.T, b *bench) {
		all := b.busy()
		_, _ = b.stderr.Write([]byte("E-17\n"))
		b.leaderDown(3)
		b.expectBroken(all, died)
		b.expectSweep()
		b.session.Send(messages.LeaderReaped{Tree: b.tree})
		b.Parent.ExpectNothing(t) // the disk still has a worker
		b.letGoOfReads()
		b.Parent.ExpectExactly(t, b.closed())
	})
	bubble(t, "its output ends first", func(t *testing.T, b *bench) {
		all := b.busy()
		_, _ = b.stderr.Write([]byte("E-17\n"))
		b.wire.Hangup()
		time.Sleep(lsp.ExitWait - 1)
		all.asking.pending(t)
		b.Parent.ExpectNothing(t)
		b.leaderDown(3)
		b.expectBroken(all, died)
		b.expectSweep()
	})
	bubble(t, "a wrapper exits, and others hold its output", func(t *testing.T, b *bench) {
		all := b.busy()
		_, _ = b.stderr.Write([]byte("E-17\n"))
		b.leaderDownAlone(3)
		time.Sleep(lsp.ExitWait - 1)
		all.asking.pending(t)
		b.Parent.ExpectNothing(t)
		time.Sleep(time.Nanosecond)
		b.expectBroken(all, died)
		b.expectSweep()
	})
	bubble(t, "reaped by somebody else", func(t *testing.T, b *bench) {
		all := b.busy()
		b.session.Send(messages.LeaderReaped{Tree: b.tree, Status: procscan.Status{Code: 3}})
		b.expectBroken(all, &messages.ExitError{Identity: leader, Status: "exit status 3"})
		b.letGoOfReads()
		b.Parent.ExpectExactly(t, b.closed())
		b.Supervisor.ExpectNothing(t)
	})
}

func TestWhatAServerSaidBeforeItExitedIsHeardAlsoWhenItsExitIsKnownFirst(t *testing.T) {
	died := &messages.ExitError{Identity: leader, Status: "exit status 3"}
	bubble(t, "an answer", func(t *testing.T, b *bench) {
		b.ready()
		release := b.wire.Hold("textDocument/hover", said("here"))
		answered, path := b.hover(b.write("a.go", "x")), b.write("b.go", "x")
		b.leaderDownAlone(3)
		later := b.hover(path)
		release()
		assert.Equal(t, "here", answered.ok(t).Text)
		later.pending(t)
		assert.NotContains(t, b.methods(), "textDocument/didClose", "nothing is begun any more")
		b.Parent.ExpectExactly(t, b.settled(answered.id, messages.Healthy, nil))
		b.wire.Hangup()
		b.Parent.ExpectExactly(t, messages.Ending{From: b.session.Ref(), Err: died}, b.settled(later.id, messages.Returned, died))
		b.expectSweep()
		b.reaped()
	})
	bubble(t, "a refusal to begin", func(t *testing.T, b *bench) {
		release := b.wire.Hold("initialize", fakes.Answer{Err: &lsp.ResponseError{Method: "initialize", Code: -32603, Message: "no licence"}})
		b.launching()
		b.session.Send(b.launched())
		b.leaderDownAlone(3)
		b.Parent.ExpectNothing(t)
		release()
		b.expectStartFailed(&messages.ProtocolError{Method: "initialize", Code: -32603, Message: "no licence"})
	})
	bubble(t, "what is no answer", func(t *testing.T, b *bench) {
		b.ready()
		release := b.wire.Hold("textDocument/hover", fakes.Answer{Result: json.RawMessage(`7`)})
		call := b.hover(b.write("a.go", "x"))
		b.leaderDownAlone(3)
		release()
		assert.Equal(t, messages.KindProtocol, messages.KindOf(call.err(t)))
	})
	bubble(t, "nothing, and it is closed meanwhile", func(t *testing.T, b *bench) {
		b.ready()
		b.leaderDownAlone(3)
		b.session.Send(messages.Close{})
		b.Parent.ExpectExactly(t, messages.Ending{From: b.session.Ref(), Err: died})
		b.expectSweep()
		b.reaped()
	})
}

// letGoOfReads lets all reads that are held go on.
func (b *bench) letGoOfReads() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for path, hold := range b.holds {
		close(hold)
		delete(b.holds, path)
	}
}

func TestConnectionThatFailsEndsTheSession(t *testing.T) {
	hungUp := &messages.ProtocolError{Message: "connection to the language server: the server closed its output: EOF"}
	bubble(t, "closed, and nothing exits", func(t *testing.T, b *bench) {
		all := b.busy()
		b.wire.Hangup()
		b.Parent.ExpectNothing(t)
		assert.Contains(t, b.snapshot().Reason, "closed its output")
		time.Sleep(lsp.ExitWait)
		b.expectBroken(all, hungUp)
		b.expectSweep()
	})
	bubble(t, "nothing is begun while the exit is waited for", func(t *testing.T, b *bench) {
		b.ready()
		path := b.write("a.go", "x")
		release := b.holdRead(path)
		reading := b.hover(path)
		b.wire.Hangup()
		queued := b.hover(b.write("b.go", "x"))
		release()
		snapshot := b.shown()
		assert.Equal(t, 1, snapshot.Waiting)
		assert.Equal(t, "connection to the language server: the server closed its output: EOF", snapshot.Reason)
		time.Sleep(lsp.ExitWait)
		b.Parent.ExpectExactly(t, messages.Ending{From: b.session.Ref(), Err: hungUp},
			b.settled(reading.id, messages.Returned, hungUp), b.settled(queued.id, messages.Returned, hungUp))
		reading.pending(t)
		queued.pending(t)
	})
	bubble(t, "closed, and then told to close", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.Hangup()
		b.session.Send(messages.Close{})
		b.Parent.ExpectExactly(t, messages.Ending{From: b.session.Ref(), Err: hungUp})
		b.expectSweep()
		b.reaped()
	})
	bubble(t, "for what it sent, and its exit is told of first", func(t *testing.T, b *bench) {
		b.ready()
		path := b.write("a.go", "x")
		b.holdRead(path)
		reading := b.hover(path)
		told := b.wire.BreakUntold(&lsp.StreamError{Reason: "a frame of 99 bytes"})
		b.leaderDown(1)
		err := &messages.ProtocolError{Message: "connection to the language server: a frame of 99 bytes"}
		b.Parent.ExpectExactly(t, messages.Ending{From: b.session.Ref(), Err: err}, b.settled(reading.id, messages.Returned, err))
		b.expectSweep()
		told()
		b.letGoOfReads()
		b.reaped()
	})
	bubble(t, "malformed", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.On("textDocument/hover", fakes.Answer{Result: json.RawMessage(`7`)})
		call := b.hover(b.write("a.go", "x"))
		err := call.err(t)
		assert.EqualError(t, err, "the language server sent a malformed result of textDocument/hover: want contents and a range, or null")
		b.Parent.ExpectExactly(t, messages.Ending{From: b.session.Ref(), Err: err}, b.settled(call.id, messages.Broken, err))
		b.expectSweep()
	})
	bubble(t, "a fault of this side", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.On("textDocument/hover", fakes.Answer{Do: func(fakes.Sent) (any, error) { panic("boom") }})
		call := b.hover(b.write("a.go", "x"))
		err := call.err(t)
		assert.Equal(t, &messages.PanicError{Actor: b.session.ID() + " worker", Value: "boom"}, err)
		b.Parent.ExpectExactly(t, messages.Ending{From: b.session.Ref(), Err: err}, b.settled(call.id, messages.Broken, err))
		b.expectSweep()
		b.reaped()
	})
}

func TestAbortAnswersEverybodyAndSweepsAtOnce(t *testing.T) {
	bubble(t, "abort", func(t *testing.T, b *bench) {
		all := b.busy()
		b.session.Send(messages.Abort{})
		var want []any
		for _, id := range []messages.OperationID{all.suspect.id, all.asking.id, all.waiting.id, all.reading.id, all.queued.id} {
			want = append(want, b.settled(id, messages.Broken, messages.ErrAborted))
		}
		b.Parent.ExpectExactly(t, want...)
		all.suspect.pending(t)
		for _, err := range []error{all.asking.err(t), all.waiting.err(t), all.reading.err(t), all.queued.err(t)} {
			assert.ErrorIs(t, err, messages.ErrAborted)
		}
		b.expectSweep()
		assert.Zero(t, b.wire.Count("shutdown"))
		b.letGoOfReads()
		b.reaped()
	})
}
