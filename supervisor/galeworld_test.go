package supervisor_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/cache"
	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/actors/observer"
	"github.com/seed-f6977891/hearth/actors/repl"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/test/fakes"
)

func (g *gale) head(ctx context.Context, kind messages.ResourceKind, key int) messages.Head {
	return messages.Head{ID: messages.OperationID(g.sys.NextID()), Ctx: ctx, Timeout: 3 * time.Second,
		Key:         messages.Key{Kind: kind, Root: g.root, Language: fmt.Sprint("language", key)},
		Fingerprint: messages.Fingerprint{Value: fmt.Sprint(time.Now().Unix() / 20), Taken: time.Now()},
		AcquireBy:   time.Now().Add(5 * time.Second)}
}

func (g *gale) hover(ctx context.Context, key, _ int) error {
	reply := messages.NewReplyTo[messages.HoverReport]()
	op := messages.Hover{Head: g.head(ctx, messages.LSP, key), Target: messages.Target{Path: filepath.Join(g.root, "a.go")}, Reply: reply}
	_, err := actors.Ask(ctx, g.lsp.Handle(), op, reply)
	return err
}

// codes of a REPL's calls; their program is below.
var codes = [...]string{"quick", "slow", "hang", "import X"}

func (g *gale) runCode(ctx context.Context, key, kind int) error {
	reply := messages.NewReplyTo[messages.RunReport]()
	op := messages.RunCode{Head: g.head(ctx, messages.REPL, key), Code: codes[kind], Reply: reply}
	_, err := actors.Ask(ctx, g.repl.Handle(), op, reply)
	return err
}

func (g *gale) observerChild() *supervisor.Child {
	return &supervisor.Child{Name: "observer", Observer: true, Create: observer.New()}
}

// brittle is an actor that fails with what it was sent in hand and all done.
type brittle struct {
	actors.Behaviour
	gale *gale
}

func (b brittle) Receive(msg any) {
	b.Behaviour.Receive(msg)
	if b.gale.cracks.Load() > 0 && b.gale.cracks.Add(-1) == 0 {
		panic("brittle")
	}
}

// RefuseAll is the actor's own.
func (b brittle) RefuseAll(cause error) { b.Behaviour.(actors.Refuser).RefuseAll(cause) }

func (g *gale) brittle(create func(*actors.Self) actors.Behaviour) func(*actors.Self) actors.Behaviour {
	return func(self *actors.Self) actors.Behaviour { return brittle{create(self), g} }
}

// cache holds two keys.
func (g *gale) cache(kind messages.ResourceKind, resource string, make func(messages.Key) func(*actors.Self) actors.Behaviour) *supervisor.Child {
	return &supervisor.Child{Name: "cache-" + kind.String(), Create: g.brittle(cache.New(cache.Config{Kind: kind, Limit: 2, Idle: time.Minute,
		Weight:      func(messages.Key) int64 { return 1 },
		Creation:    func(messages.Key) time.Duration { return time.Second },
		Resource:    resource,
		NewResource: func(key messages.Key) func(*actors.Self) actors.Behaviour { return g.brittle(make(key)) }}))}
}

func (g *gale) lspChild() *supervisor.Child {
	return g.cache(messages.LSP, "session", func(key messages.Key) func(*actors.Self) actors.Behaviour {
		return lsp.NewSession(lsp.SessionConfig{Key: key, Spec: procscan.Spec{Argv: []string{"server"}, Dir: g.root},
			Start: messages.Start{Limit: 4 * time.Second}, Startup: 4 * time.Second, Exit: time.Second,
			Profile: lsp.Profile{Name: "server", Complete: lsp.CompleteVersion}, Parallel: 2, OpenDocuments: 4,
			Silence: 2 * time.Second, Connect: g.connect})
	})
}

// connect makes a server whose output ends with its leader.
func (g *gale) connect(pipes messages.Pipes, _ lsp.Answers) lsp.Wire {
	wire := fakes.NewWire()
	wire.On("textDocument/hover", fakes.Answer{After: 300 * time.Millisecond, Result: map[string]any{"contents": "x"}})
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wires = append(g.wires, wire)
	go func() {
		_, _ = io.Copy(io.Discard, pipes.Stdout) // ends with the leader
		wire.Hangup()
	}()
	return wire
}

// wireTrouble makes a server silent, or ends its output alone.
func (g *gale) wireTrouble() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.wires) == 0 {
		return
	}
	switch wire := g.wires[g.rng.IntN(len(g.wires))]; g.rng.IntN(3) {
	case 0:
		wire.Silence(true)
	case 1:
		wire.StopReading()
	case 2:
		wire.Hangup()
	}
}

func (g *gale) replChild(resident bool) *supervisor.Child {
	return g.cache(messages.REPL, "pool", func(key messages.Key) func(*actors.Self) actors.Behaviour {
		return repl.NewPool(repl.PoolConfig{Key: key, Workers: 2, Resident: resident, MaxUses: 5, Startup: 4 * time.Second,
			Spec: procscan.Spec{Argv: []string{"repl"}, Dir: g.root}, Protocol: func([]string) repl.Protocol { return repl.NewJSONL("") },
			Memory: repl.Memory{Group: func(context.Context, procscan.Identity) ([]procscan.Identity, error) { return nil, nil }},
			Header: &repl.HeaderConfig{Spec: procscan.Spec{Argv: []string{"header"}, Dir: g.root}}})
	})
}

// play is the program of every child.
func (g *gale) play(child *fakes.Child) {
	switch child.Spec.Argv[0] {
	case "repl":
		fakes.Repl{Warm: 100 * time.Millisecond, Answer: g.answer}.Play(child)
	case "header":
		playHeader(child)
	}
}

func (g *gale) answer(child *fakes.Child, code string) string {
	switch {
	case g.calm.Load():
	case code == "slow":
		time.Sleep(500 * time.Millisecond)
	case code == "hang":
		<-child.Ended()
	}
	return fakes.Result(code)
}

// playHeader judges a header as lean --deps-json does.
func playHeader(child *fakes.Child) {
	_, _ = io.Copy(io.Discard, bufio.NewReader(child.ProgramIn))
	time.Sleep(50 * time.Millisecond)
	verdict, err := json.Marshal(map[string]any{"imports": []any{map[string]any{"imports": []any{map[string]any{"module": "X"}}}}})
	if err != nil {
		panic(err)
	}
	_, _ = fmt.Fprintf(child.ProgramOut, "%s\n", verdict)
	child.Exit(procscan.Status{})
}
