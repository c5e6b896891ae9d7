package supervisor_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// stormNode is an actor as the laws want one: it owns trees, has children, holds
// operations and passes some on with a copy kept. It may fail anywhere in what it
// does.
type stormNode struct {
	storm    *storm
	self     *actors.Self
	rng      *rand.Rand
	depth    int
	fuse     int // points that it passes before it fails; 0: it doesn't
	children map[messages.Ref]*stormChild
	trees    map[messages.TreeID]bool
	held     map[messages.OperationID]messages.Operation
	closing  bool
	closed   bool
}

type stormChild struct {
	handle *actors.Handle
	ops    map[messages.OperationID]messages.Operation
}

type (
	orderSpawn struct{}
	orderAdopt struct{ role messages.Role }
	orderWork  struct {
		lasts time.Duration
		fault func()
	}
	orderClose struct{}
	orderFuse  struct{ points int }
	answerDue  struct{ id messages.OperationID }
	worked     struct{}
)

func (s *storm) newNode(depth int, seed uint64) func(*actors.Self) actors.Behaviour {
	return func(self *actors.Self) actors.Behaviour {
		n := &stormNode{storm: s, self: self, depth: depth, rng: rand.New(rand.NewPCG(seed, 1)),
			children: make(map[messages.Ref]*stormChild), trees: make(map[messages.TreeID]bool),
			held: make(map[messages.OperationID]messages.Operation)}
		s.entered(self)
		if n.rng.IntN(4) == 0 {
			n.fuse = 1 + n.rng.IntN(40)
		}
		n.point()
		self.Publish(messages.SessionSnapshot{})
		for range n.rng.IntN(3) {
			n.adopt(messages.RoleLSP)
		}
		for depth < 3 && n.rng.IntN(2) == 0 {
			n.spawn()
		}
		n.point()
		return n
	}
}

// point is a place at which the node may fail.
func (n *stormNode) point() {
	if n.fuse == 0 || n.storm.calm.Load() {
		return
	}
	if n.fuse--; n.fuse > 0 {
		return
	}
	n.storm.failed(n.self.Ref())
	if n.rng.IntN(2) == 0 {
		runtime.Goexit()
	}
	panic("storm")
}

func (n *stormNode) Receive(msg any) {
	n.point()
	switch msg := msg.(type) {
	case messages.Operation:
		n.operation(msg)
	case answerDue:
		n.answer(msg.id)
	case messages.Settled:
		if c := n.children[msg.From]; c != nil {
			delete(c.ops, msg.ID)
			n.settled(msg.ID)
		}
	case messages.Close, messages.Abort, orderClose:
		n.close(msg)
	case messages.LeaderDown:
		n.self.TellSupervisor(messages.Sweep{Tree: msg.Tree})
	case messages.LaunchFailed:
		delete(n.trees, msg.Tree)
	case messages.LeaderReaped:
		delete(n.trees, msg.Tree)
	case messages.Republish:
		n.self.Publish(messages.SessionSnapshot{})
	case messages.Down, messages.Closed, messages.TreesGone:
		n.ofChild(msg)
	default:
		n.order(msg)
	}
	n.point()
	n.maybeClosed()
}

func (n *stormNode) order(msg any) {
	switch msg := msg.(type) {
	case orderSpawn:
		if !n.closing && n.depth < 3 {
			n.spawn()
		}
	case orderAdopt:
		if !n.closing {
			n.adopt(msg.role)
		}
	case orderWork:
		if !n.closed {
			n.work(msg)
		}
	case orderFuse:
		n.fuse = msg.points
	}
}

func (n *stormNode) ofChild(msg any) {
	switch msg := msg.(type) {
	case messages.Down:
		n.storm.down(n.self.Ref(), msg.From)
		if c := n.children[msg.From]; c != nil {
			n.refuse(c.ops, msg.Reason)
		}
	case messages.Closed:
		n.lost(msg.From)
	case messages.TreesGone:
		n.storm.gone(n.self.Ref(), msg.From)
		n.lost(msg.From)
	}
}

func (n *stormNode) spawn() {
	h := n.self.Spawn("node", "n", n.storm.newNode(n.depth+1, n.rng.Uint64()))
	n.children[h.Ref()] = &stormChild{h, make(map[messages.OperationID]messages.Operation)}
	n.point()
}

func (n *stormNode) adopt(role messages.Role) {
	id := messages.TreeID(n.self.System().NextID())
	n.trees[id] = true
	n.self.TellSupervisor(messages.Adopt{Owner: n.self.Ref(), Tree: id, Role: role, Spec: procscan.Spec{Argv: []string{"x"}}})
	n.point()
}

func (n *stormNode) work(order orderWork) {
	actors.Go(n.self, n.self.Context(), func(context.Context) (struct{}, error) {
		time.Sleep(order.lasts)
		order.fault()
		return struct{}{}, nil
	}, func(struct{}, error) any { return worked{} }, nil)
}

func (n *stormNode) operation(op messages.Operation) {
	id := op.Header().ID
	if n.closing {
		op.Refuse(messages.ErrClosing)
		n.settled(id)
		return
	}
	for _, c := range n.children { // in no order
		if n.rng.IntN(2) == 0 {
			c.ops[id] = op
			n.point()
			c.handle.Send(op)
			return
		}
	}
	n.held[id] = op
	n.point()
	n.self.After(time.Duration(n.rng.IntN(2000))*time.Millisecond, answerDue{id})
}

func (n *stormNode) answer(id messages.OperationID) {
	op, ok := n.held[id].(messages.StatusQuery)
	if !ok {
		return
	}
	op.Reply.Send(messages.Status{})
	n.point()
	delete(n.held, id)
	n.settled(id)
}

func (n *stormNode) settled(id messages.OperationID) {
	n.self.TellParent(messages.Settled{From: n.self.Ref(), ID: id, Verdict: messages.Healthy})
}

func (n *stormNode) refuse(ops map[messages.OperationID]messages.Operation, reason error) {
	for id, op := range ops {
		op.Refuse(reason)
		delete(ops, id)
		n.point()
		n.settled(id)
	}
}

func (n *stormNode) close(msg any) {
	n.closing = true
	if _, own := msg.(orderClose); own {
		msg = messages.Close{}
	}
	n.refuse(n.held, messages.ErrClosing)
	for _, c := range n.children {
		c.handle.Send(msg)
		n.point()
	}
	for id := range n.trees {
		n.self.TellSupervisor(messages.Sweep{Tree: id})
		n.point()
	}
}

func (n *stormNode) lost(ref messages.Ref) {
	c := n.children[ref]
	if c == nil {
		return
	}
	n.point()
	n.refuse(c.ops, messages.ErrClosing)
	c.handle.Stop()
	n.point()
	delete(n.children, ref)
}

func (n *stormNode) maybeClosed() {
	if n.closing && !n.closed && len(n.children) == 0 && len(n.trees) == 0 && n.self.Workers() == 0 {
		n.closed = true
		n.point()
		n.self.TellParent(messages.Closed{From: n.self.Ref()})
		n.point()
	}
}

// RefuseAll answers what the node held.
func (n *stormNode) RefuseAll(cause error) {
	for _, op := range n.held {
		op.Refuse(cause)
	}
	for _, c := range n.children {
		for _, op := range c.ops {
			op.Refuse(cause)
		}
	}
}
