package observer

import (
	"fmt"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// observer keeps one snapshot for each publishing actor.
type observer struct {
	self      *actors.Self
	snapshots map[string]messages.Snapshot // by the publishing actor's id
	trees     map[messages.TreeID]memory   // of the trees that have a snapshot
	events    ring
}

// memory is the last sample of one tree. holder is the actor whose snapshot shows
// the tree: a Sweeper that failed is followed by another one of the same tree, and
// the end of the first must not take the second's sample away.
type memory struct {
	holder string
	at     time.Time
	sample procscan.TreeSample
}

// New makes the Observer's behaviour.
func New() func(*actors.Self) actors.Behaviour {
	return func(self *actors.Self) actors.Behaviour {
		return &observer{
			self:      self,
			snapshots: make(map[string]messages.Snapshot),
			trees:     make(map[messages.TreeID]memory),
		}
	}
}

// Receive handles one message.
func (o *observer) Receive(msg any) {
	switch msg := msg.(type) {
	case messages.Publish:
		o.publish(msg)
	case messages.Retract:
		o.retract(msg.Key)
	case messages.Sampled:
		o.sampled(msg)
	case messages.Event:
		o.events.add(msg)
	case messages.StatusQuery:
		msg.Reply.Send(o.picture(time.Now(), msg.Project))
	case messages.Republish: // goes to every live actor; the Observer shows others only
	case messages.Operation:
		msg.Refuse(messages.Errorf(messages.KindInternal, "the observer answers status alone, not %T", msg))
	default:
		o.self.Log().Debug("dropped", "message", fmt.Sprintf("%T", msg))
	}
}

func (o *observer) publish(msg messages.Publish) {
	o.snapshots[msg.Key] = msg.Snapshot
	if tree, ok := msg.Snapshot.(messages.TreeSnapshot); ok {
		known := o.trees[tree.Tree]
		known.holder = msg.Key
		o.trees[tree.Tree] = known
	}
}

func (o *observer) retract(key string) {
	if tree, ok := o.snapshots[key].(messages.TreeSnapshot); ok && o.trees[tree.Tree].holder == key {
		delete(o.trees, tree.Tree)
	}
	delete(o.snapshots, key)
}

// sampled takes over the samples of known trees alone: one that crossed the end of
// its tree would otherwise stay for ever.
func (o *observer) sampled(msg messages.Sampled) {
	for id, sample := range msg.Trees {
		if known, ok := o.trees[id]; ok {
			o.trees[id] = memory{holder: known.holder, at: msg.At, sample: sample}
		}
	}
}
