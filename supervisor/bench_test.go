package supervisor_test

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
	"github.com/seed-f6977891/hearth/actors/cache"
	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/actors/observer"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/test/fakes"
)

// instantServer is a whole tree over one language server in memory that answers at
// once: Supervisor, Observer, Cache, Entry, Session and Sweeper are the real ones.
type instantServer struct {
	sys   *actors.System
	cache *supervisor.Child
	root  string
}

func newInstantServer(b *testing.B) *instantServer {
	sys, err := actors.NewSystem(slog.New(slog.NewTextHandler(io.Discard, nil)), func(error) {})
	require.NoError(b, err)
	machine, wire := fakes.NewMachine(), fakes.NewWire()
	wire.On("textDocument/hover", fakes.Answer{Result: json.RawMessage(`{"contents":"here"}`)})
	wire.On("workspace/symbol", fakes.Answer{Result: json.RawMessage("[]")})
	wire.Forget()
	wire.Heard("exit", func() { machine.Children()[0].Exit(procscan.Status{}) })
	session := func(key messages.Key) func(*actors.Self) actors.Behaviour {
		return lsp.NewSession(lsp.SessionConfig{Key: key, Spec: procscan.Spec{Argv: []string{"server"}},
			Profile: lsp.Profile{Complete: lsp.CompleteVersion}, Startup: time.Minute, Exit: time.Minute, Parallel: 8,
			OpenDocuments: 8, Silence: time.Minute, Connect: wire.Connect})
	}
	s := &instantServer{sys: sys, root: b.TempDir(), cache: &supervisor.Child{Name: "lsp", Create: cache.New(cache.Config{
		Kind: messages.LSP, Limit: 4, Resource: "session", NewResource: session,
		Weight: func(messages.Key) int64 { return 1 }, Creation: func(messages.Key) time.Duration { return 0 }})}}
	root := supervisor.SpawnSupervisor(sys, supervisor.Machine{Launcher: machine.Launcher(), Table: machine.Table(),
		Grace: fakes.Grace, Sample: machine.Sample}, func(error) {},
		&supervisor.Child{Name: "observer", Create: observer.New(), Observer: true}, s.cache)
	b.Cleanup(func() {
		require.NoError(b, (<-supervisor.Shutdown(context.Background(), root).Answer()).Err)
		root.Stop()
		<-root.Done()
	})
	supervisor.AwaitStart(root)
	s.query(b) // from here on it is warm
	return s
}

func (s *instantServer) head() messages.Head {
	return messages.Head{ID: messages.OperationID(s.sys.NextID()), Key: messages.Key{Kind: messages.LSP, Root: s.root, Language: "go"},
		Ctx: context.Background(), AcquireBy: time.Now().Add(time.Minute), Timeout: time.Minute}
}

func (s *instantServer) query(b *testing.B) {
	reply := messages.NewReplyTo[messages.QueryReport]()
	op := messages.Query{Head: s.head(), Method: "workspace/symbol", Reply: reply}
	if _, err := actors.Ask(op.Ctx, s.cache.Handle(), op, reply); err != nil {
		b.Fatal(err)
	}
}

func (s *instantServer) hover(b *testing.B, path string) {
	reply := messages.NewReplyTo[messages.HoverReport]()
	op := messages.Hover{Head: s.head(), Target: messages.Target{Path: path, LanguageID: "go"}, Reply: reply}
	if _, err := actors.Ask(op.Ctx, s.cache.Handle(), op, reply); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCallThroughTheTree sets an operation through Cache, Entry and Session, with a
// server that answers at once, against three chained round trips on bare channels: at
// most 6x. A hover also reads its file from the disk, which no channel does.
func BenchmarkCallThroughTheTree(b *testing.B) {
	b.Run("no document", func(b *testing.B) {
		s := newInstantServer(b)
		compareWithThreeRoundTrips(b, func() { s.query(b) })
	})
	b.Run("hover", func(b *testing.B) {
		s := newInstantServer(b)
		path := filepath.Join(s.root, "a.go")
		require.NoError(b, os.WriteFile(path, []byte("package a\n"), 0o600))
		compareWithThreeRoundTrips(b, func() { s.hover(b, path) })
	})
}

// compareWithThreeRoundTrips times both in turn. Of both it takes the time that a tenth
// of the rounds stayed below: on a shared machine the others tell more of the neighbours
// than of the code.
func compareWithThreeRoundTrips(b *testing.B, call func()) {
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
