package lsp_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/fakes"
)

// household is what is around one Session: its Entry, and the Supervisor with a Sweeper
// to whom every tree comes and goes at once.
type household struct {
	self    *actors.Self
	create  func(*actors.Self) actors.Behaviour
	session chan *actors.Handle
	ready   chan struct{}
	closed  chan struct{}
}

func (h *household) Receive(msg any) {
	switch msg := msg.(type) {
	case string:
		h.session <- h.self.Spawn("session", "a", h.create)
	case messages.Adopt:
		h.self.Send(msg.Owner, messages.Launched{Tree: msg.Tree})
		h.session <- h.self.System().Roster().Lookup(msg.Owner)
	case messages.Ready:
		close(h.ready)
	case messages.Closed:
		close(h.closed)
	}
}

// serving starts a Session over a server that answers at once.
func serving(b *testing.B) (*actors.System, *actors.Handle) {
	sys, err := actors.NewSystem(slog.New(slog.NewTextHandler(io.Discard, nil)), func(error) {})
	require.NoError(b, err)
	wire := fakes.NewWire()
	wire.On("textDocument/hover", said("here"))
	wire.On("workspace/symbol", fakes.Answer{Result: json.RawMessage("[]")})
	wire.Forget()
	h := &household{session: make(chan *actors.Handle, 2), ready: make(chan struct{}), closed: make(chan struct{})}
	h.create = lsp.NewSession(lsp.SessionConfig{
		Key: messages.Key{Kind: messages.LSP, Root: b.TempDir(), Language: "go"}, Profile: lsp.Profile{Complete: lsp.CompleteVersion},
		Startup: time.Minute, Exit: time.Minute, Parallel: 8, OpenDocuments: 8, Silence: time.Minute, Connect: wire.Connect,
	})
	root := sys.SpawnRoot("root", "r", func(self *actors.Self) actors.Behaviour {
		h.self = self
		return h
	})
	sys.SetSupervisor(root)
	root.Send("spawn")
	session := <-h.session
	adopted := <-h.session
	require.Equal(b, session, adopted)
	<-h.ready
	b.Cleanup(func() {
		session.Send(messages.Abort{})
		session.Send(messages.LeaderReaped{})
		<-h.closed
		for _, live := range []*actors.Handle{session, root} {
			live.Stop()
			<-live.Done()
		}
	})
	return sys, session
}

// threeRoundTrips gives a function that does what a call through three actors does at
// least: a question and an answer on bare channels, three times.
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

// compare times call and three bare round trips in turn. Of both it takes the time that
// a tenth of the rounds stayed below: on a shared machine the others tell more of the
// neighbours than of the code.
func compare(b *testing.B, call func()) {
	const turns = 50
	timed := func(turn func()) float64 {
		began := time.Now()
		for range turns {
			turn()
		}
		return float64(time.Since(began).Nanoseconds()) / turns
	}
	trips := threeRoundTrips(b)
	var calls, bare []float64
	for b.Loop() {
		calls, bare = append(calls, timed(call)), append(bare, timed(trips))
	}
	slices.Sort(calls)
	slices.Sort(bare)
	tenth := len(calls) / 10
	b.ReportMetric(calls[tenth], "ns/call")
	b.ReportMetric(calls[tenth]/bare[tenth], "x-bare")
}

// BenchmarkCallThroughSession sets an operation through a Session, with a server that
// answers at once, against three bare round trips: one about no document, and a hover,
// for which a file is read from the disk.
func BenchmarkCallThroughSession(b *testing.B) {
	b.Run("no document", func(b *testing.B) {
		sys, session := serving(b)
		compare(b, func() {
			reply := messages.NewReplyTo[messages.QueryReport]()
			_, err := actors.Ask(b.Context(), session, messages.Query{Head: headOf(sys), Method: "workspace/symbol", Reply: reply}, reply)
			require.NoError(b, err)
		})
	})
	b.Run("hover", func(b *testing.B) {
		sys, session := serving(b)
		path := filepath.Join(b.TempDir(), "a.go")
		require.NoError(b, os.WriteFile(path, []byte("package a\n"), 0o600))
		compare(b, func() {
			reply := messages.NewReplyTo[messages.HoverReport]()
			_, err := actors.Ask(b.Context(), session, messages.Hover{Head: headOf(sys), Target: messages.Target{Path: path}, Reply: reply}, reply)
			require.NoError(b, err)
		})
	})
}

func headOf(sys *actors.System) messages.Head {
	return messages.Head{ID: messages.OperationID(sys.NextID()), Ctx: context.Background(), Timeout: time.Minute}
}
