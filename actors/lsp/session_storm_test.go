package lsp_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/fakes"
)

// keeper plays the Supervisor and the Sweeper of one tree, whose every step takes a
// millisecond.
type keeper struct {
	*bench
	self   *actors.Self
	owner  messages.Ref
	tree   messages.TreeID
	sweeps int
}

func (k *keeper) create(self *actors.Self) actors.Behaviour {
	k.self = self
	return k
}

func (k *keeper) Receive(msg any) {
	switch msg := msg.(type) {
	case messages.Adopt:
		k.owner, k.tree = msg.Owner, msg.Tree
		k.later(messages.Launched{Tree: msg.Tree, Identity: leader, Pipes: messages.Pipes{Stderr: &k.stderr}})
	case messages.Sweep:
		k.sweeps++
		k.wire.Hangup()
		k.exited()
		k.later(messages.LeaderReaped{Tree: k.tree})
	}
}

func (k *keeper) later(msg any) {
	time.AfterFunc(time.Millisecond, func() { k.self.Send(k.owner, msg) })
}

func (k *keeper) exited() {
	k.self.Send(k.owner, messages.LeaderDown{Tree: k.tree, Status: procscan.Status{}})
}

// user makes a few calls, some under a short deadline, and sometimes tries to end
// everything.
type user struct {
	*bench
	*rand.Rand
	mu    *sync.Mutex
	calls map[messages.OperationID]func() int // the answers to a call
}

func (u user) act() {
	for range 5 {
		time.Sleep(time.Duration(u.IntN(3000)) * time.Microsecond)
		switch u.IntN(30) {
		case 0:
			u.session.Send(messages.Close{})
		case 1:
			u.session.Send(messages.Abort{})
		case 2:
			u.wire.Hangup()
		default:
			u.call()
		}
	}
}

func (u user) call() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+u.IntN(9))*time.Millisecond)
	defer cancel()
	head := messages.Head{ID: messages.OperationID(u.System.NextID()), Key: u.cfg.Key, Ctx: ctx, Timeout: 5 * time.Millisecond}
	path := filepath.Join(u.cfg.Key.Root, fmt.Sprint(u.IntN(3), ".go"))
	target := messages.Target{Path: path, LanguageID: "go"}
	switch u.IntN(3) {
	case 0:
		reply := messages.NewReplyTo[messages.HoverReport]()
		u.keep(head.ID, func() int { return len(reply.Answer()) })
		u.session.Send(messages.Hover{Head: head, Target: target, Reply: reply})
	case 1:
		reply := messages.NewReplyTo[messages.DiagnosticsReport]()
		u.keep(head.ID, func() int { return len(reply.Answer()) })
		u.session.Send(messages.Diagnostics{Head: head, Target: target, Reply: reply})
	default:
		refused := new(atomic.Int64)
		u.keep(head.ID, func() int { return int(refused.Load()) })
		op := strange{onRefuse: func() { refused.Add(1) }}
		op.Head = head
		u.session.Send(op)
	}
	time.Sleep(time.Duration(u.IntN(10)) * time.Millisecond)
}

func (u user) keep(id messages.OperationID, answers func() int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls[id] = answers
}

func TestUseCloseAndAbortAtOnceAnswerEveryCallOnceAndRetireTheServerOnce(t *testing.T) {
	const rounds, users = 200, 20
	for round := range rounds {
		bubble(t, fmt.Sprint(round), func(t *testing.T, b *bench) {
			b.wire.On("textDocument/hover", fakes.Answer{After: time.Millisecond, Result: said("here").Result})
			b.wire.Finds(findsTheText(time.Millisecond))
			k := &keeper{bench: b}
			b.wire.Heard("exit", k.exited)
			for i := range 3 {
				b.write(fmt.Sprint(i, ".go"), "x")
			}
			b.System.SetSupervisor(b.Supervisor.Spawn("keeper", "k", k.create))
			b.session = b.Spawn("session", "a", lsp.NewSessionReading(b.cfg, b.read))
			var mu sync.Mutex
			var together sync.WaitGroup
			calls := map[messages.OperationID]func() int{}
			for i := range users {
				random := rand.New(rand.NewPCG(uint64(round), uint64(i)))
				together.Go(user{b, random, &mu, calls}.act)
			}
			together.Wait()
			b.session.Send(messages.Close{})
			time.Sleep(time.Minute)
			b.expectOneEnd(calls)
			assert.Equal(t, 1, k.sweeps)
			b.System.SetSupervisor(b.Supervisor.Handle)
		})
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}

// expectOneEnd expects that the Session has closed once, and has settled every call
// once: unanswered where it was returned, else answered once.
func (b *bench) expectOneEnd(calls map[messages.OperationID]func() int) {
	b.t.Helper()
	ends, settled := 0, map[messages.OperationID]int{}
	for _, msg := range b.Parent.Take() {
		switch msg := msg.(type) {
		case messages.Closed:
			ends++
		case messages.Settled:
			settled[msg.ID]++
			want := 1
			if msg.Verdict == messages.Returned {
				want = 0
			} else {
				require.Zero(b.t, ends, "it ended before it had settled what it served")
			}
			assert.Equal(b.t, want, calls[msg.ID](), "answers to a call that is %s", msg.Verdict)
		case messages.Down:
			require.Fail(b.t, msg.Reason.Error())
		}
	}
	assert.Equal(b.t, 1, ends)
	for id := range calls {
		assert.Equal(b.t, 1, settled[id])
	}
}
