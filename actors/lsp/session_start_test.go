package lsp_test

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/actortest"
	"github.com/seed-f6977891/hearth/test/fakes"
)

func (b *bench) startFailed(err error) messages.StartFailed {
	return messages.StartFailed{From: b.session.Ref(), Err: err}
}

// expectStartFailed expects that the server is given up and its tree ended.
func (b *bench) expectStartFailed(err error) {
	b.t.Helper()
	b.Parent.ExpectExactly(b.t, b.startFailed(err))
	b.expectSweep()
	assert.Equal(b.t, err.Error(), b.snapshot().Reason)
	b.reaped()
}

func TestSessionEntersTheCensusBeforeItsServerExists(t *testing.T) {
	bubble(t, "adopt", func(t *testing.T, b *bench) {
		adopt := b.launching()
		assert.Equal(t, messages.Adopt{Owner: b.session.Ref(), Tree: b.tree, Role: messages.RoleLSP, Key: b.cfg.Key,
			Spec: b.cfg.Spec, Start: b.cfg.Start}, adopt)
		b.wire.Tell(lsp.Frame{})
		assert.Empty(t, b.methods(), "nothing is said to a server that isn't there")
		assert.Equal(t, "launching", b.snapshot().State)
	})
}

func TestHandshakeMakesASessionReady(t *testing.T) {
	bubble(t, "ready", func(t *testing.T, b *bench) {
		b.wire.Hold("initialize", fakes.Answer{})
		release := b.initializing()
		snapshots := b.snapshots()
		assert.Equal(t, "initializing", snapshots[len(snapshots)-1].State)
		release()
		b.Parent.ExpectExactly(t, messages.Ready{From: b.session.Ref()})
		assert.Equal(t, []string{"initialize", "initialized"}, b.methods())
		events := 0
		for _, msg := range b.Observer.Take() {
			switch msg := msg.(type) {
			case messages.Publish:
				assert.Equal(t, "ready", msg.Snapshot.(messages.SessionSnapshot).State)
				assert.Equal(t, "server", msg.Snapshot.(messages.SessionSnapshot).Server, "the profile's name, as it told none")
			case messages.Event:
				events++
				assert.Equal(t, messages.EventReady, msg.Kind)
			}
		}
		assert.Equal(t, 1, events)
		b.Supervisor.ExpectNothing(t)
	})
}

func TestServerThatCannotBeLaunchedLeavesNothing(t *testing.T) {
	reason := &messages.LaunchError{Argv0: "server", Dir: "/p", Diagnosis: "not on PATH"}
	bubble(t, "launch failed", func(t *testing.T, b *bench) {
		b.launching()
		b.session.Send(messages.LaunchFailed{Tree: b.tree, Err: reason})
		b.Parent.ExpectExactly(t, b.startFailed(reason), b.closed())
		b.Supervisor.ExpectNothing(t)
		assert.Empty(t, b.methods())
		late := b.hover("/p/a.go")
		late.pending(t)
		b.Parent.ExpectExactly(t, b.settled(late.id, messages.Returned, reason))
	})
	bubble(t, "launch late", func(t *testing.T, b *bench) {
		b.launching()
		b.session.Send(messages.LaunchLate{Tree: b.tree})
		failed := actortest.Next[messages.StartFailed](t, b.Parent)
		assert.Equal(t, messages.KindTimeout, messages.KindOf(failed.Err))
		assert.EqualError(t, failed.Err, "timed out after 60s (last progress: starting server)")
		b.Supervisor.ExpectNothing(t) // the Sweeper ends it by itself
		b.session.Send(b.launched())
		b.Parent.ExpectNothing(t)
		assert.Empty(t, b.methods(), "a server that is being ended is not spoken to")
		b.reaped()
	})
	bubble(t, "launch late, and it never comes", func(t *testing.T, b *bench) {
		b.launching()
		b.session.Send(messages.LaunchLate{Tree: b.tree})
		actortest.Next[messages.StartFailed](t, b.Parent)
		b.session.Send(messages.LaunchFailed{Tree: b.tree, Err: reason})
		b.Parent.ExpectExactly(t, b.closed())
	})
	bubble(t, "reaped by somebody else", func(t *testing.T, b *bench) {
		b.launching()
		b.session.Send(messages.LeaderReaped{Tree: b.tree, Status: procscan.Status{Code: 1}})
		b.Parent.ExpectExactly(t, b.startFailed(&messages.ExitError{Status: "exit status 1"}), b.closed())
		b.Supervisor.ExpectNothing(t)
	})
}

func TestLaunchThatIsNotWantedAnyMoreIsSwept(t *testing.T) {
	for name, command := range map[string]any{"close": messages.Close{}, "abort": messages.Abort{}} {
		bubble(t, name+", then launched", func(t *testing.T, b *bench) {
			b.launching()
			b.session.Send(command)
			b.expectSweep()
			b.session.Send(messages.Close{})
			b.session.Send(messages.Abort{})
			b.session.Send(b.launched())
			b.session.Send(messages.LaunchLate{Tree: b.tree})
			b.leaderDown(0)
			b.Parent.ExpectNothing(t)
			b.Supervisor.ExpectNothing(t)
			assert.Empty(t, b.methods())
			b.reaped()
		})
		bubble(t, name+", then launch failed", func(t *testing.T, b *bench) {
			b.launching()
			b.session.Send(command)
			b.expectSweep()
			b.session.Send(messages.LaunchFailed{Tree: b.tree, Err: errors.New("no")})
			b.Parent.ExpectExactly(t, b.closed())
		})
	}
}

func TestFailedHandshakeSaysWhy(t *testing.T) {
	words := func(b *bench) { _, _ = b.stderr.Write([]byte("loading\nE-17 no such module\n")) }
	bubble(t, "refused", func(t *testing.T, b *bench) {
		words(b)
		b.wire.On("initialize", fakes.Answer{Err: &lsp.ResponseError{Method: "initialize", Code: -32002, Message: "no"}})
		b.launching()
		b.session.Send(b.launched())
		b.expectStartFailed(&messages.ProtocolError{Method: "initialize", Code: -32002,
			Message: "no; its last words: loading\nE-17 no such module"})
	})
	bubble(t, "malformed", func(t *testing.T, b *bench) {
		b.wire.On("initialize", fakes.Answer{Result: json.RawMessage(`[]`)})
		b.launching()
		b.session.Send(b.launched())
		b.expectStartFailed(&messages.ProtocolError{
			Message: "the language server sent a malformed result of initialize: want an object with capabilities"})
	})
	bubble(t, "never answered", func(t *testing.T, b *bench) {
		words(b)
		b.initializing()
		time.Sleep(startup)
		b.expectStartFailed(&messages.TimeoutError{After: startup,
			Progress: "no answer to initialize; its last words: loading\nE-17 no such module"})
	})
	bubble(t, "a fault of this side", func(t *testing.T, b *bench) {
		b.wire.On("initialize", fakes.Answer{Do: func(fakes.Sent) (any, error) { panic("boom") }})
		b.launching()
		b.session.Send(b.launched())
		b.expectStartFailed(&messages.PanicError{Actor: b.session.ID() + " worker", Value: "boom"})
	})
}

func TestServerThatDiesInTheHandshakeIsToldAtOnceWithItsExitStatus(t *testing.T) {
	died := &messages.ExitError{Identity: leader, Status: "exit status 3", StderrTail: "E-17"}
	bubble(t, "exit", func(t *testing.T, b *bench) {
		b.initializing()
		_, _ = b.stderr.Write([]byte("E-17\n"))
		began := time.Now()
		b.leaderDown(3)
		b.expectStartFailed(died)
		assert.Zero(t, time.Since(began))
		assert.EqualError(t, died, "process 4711 ended (exit status 3): E-17")
	})
	bubble(t, "its output ends first", func(t *testing.T, b *bench) {
		b.initializing()
		_, _ = b.stderr.Write([]byte("E-17\n"))
		b.wire.Hangup()
		b.Parent.ExpectNothing(t)
		time.Sleep(lsp.ExitWait - 1)
		b.leaderDown(3)
		b.expectStartFailed(died)
	})
	bubble(t, "a wrapper's output ends, and nothing exits", func(t *testing.T, b *bench) {
		b.initializing()
		_, _ = b.stderr.Write([]byte("E-17\n"))
		b.wire.Hangup()
		time.Sleep(lsp.ExitWait)
		b.expectStartFailed(&messages.ProtocolError{Message: "connection to the language server: the server closed its output: EOF; its last words: E-17"})
	})
	bubble(t, "its output ends with the answer", func(t *testing.T, b *bench) {
		b.wire.Heard("initialized", b.wire.Hangup)
		b.launching()
		b.session.Send(b.launched())
		time.Sleep(lsp.ExitWait)
		b.expectStartFailed(&messages.ProtocolError{Message: "connection to the language server: the server closed its output: EOF"})
	})
	bubble(t, "reaped by somebody else", func(t *testing.T, b *bench) {
		b.initializing()
		b.session.Send(messages.LeaderReaped{Tree: b.tree, Status: procscan.Status{Code: 3}})
		b.Parent.ExpectExactly(t, b.startFailed(&messages.ExitError{Identity: leader, Status: "exit status 3"}), b.closed())
		b.Supervisor.ExpectNothing(t)
	})
}

func TestHandshakeThatIsNotWantedAnyMoreIsSweptAndCountedIn(t *testing.T) {
	for name, command := range map[string]any{"close": messages.Close{}, "abort": messages.Abort{}} {
		bubble(t, name, func(t *testing.T, b *bench) {
			release := b.initializing()
			b.session.Send(command)
			b.expectSweep()
			release()
			b.leaderDown(0)
			b.Parent.ExpectNothing(t)
			b.reaped()
		})
		bubble(t, name+", and no answer", func(t *testing.T, b *bench) {
			b.initializing()
			b.session.Send(command)
			b.expectSweep()
			b.reaped() // closing the connection ends the wait
		})
		bubble(t, name+", while files are watched", func(t *testing.T, b *bench) {
			b.initializing()
			b.wire.Watch("**/*.go")
			synctest.Wait()
			b.session.Send(command)
			b.expectSweep()
			b.reaped()
		}, watched(newNotifier()))
	}
}
