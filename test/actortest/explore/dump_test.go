package explore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest/explore"
)

type node struct {
	name  string
	next  *node
	when  time.Time
	call  func()
	ctx   context.Context
	err   error
	trees map[messages.TreeID]any
	noise int
}

func dump(actor any) string {
	return explore.Dump(explore.State{Actor: actor, Opaque: []string{"node.noise"}})
}

func TestStatesWithTheSameFutureLookTheSame(t *testing.T) {
	build := func(id messages.TreeID, change func(*node)) string {
		n := &node{name: "a", call: func() {}, ctx: t.Context(), err: errors.New("e"),
			trees: map[messages.TreeID]any{id: &node{name: "b"}, id + 1: 2}}
		n.next = n // a cycle
		change(n)
		return dump(n)
	}
	one := build(1, func(*node) {})
	assert.Equal(t, one, build(7, func(n *node) { n.noise = 5 }), "trees go by their order, and what is opaque is left out")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, change := range map[string]func(*node){
		"a text":         func(n *node) { n.name = "c" },
		"a time":         func(n *node) { n.when = time.Now().Add(time.Hour) },
		"an end":         func(n *node) { n.ctx = ended },
		"no function":    func(n *node) { n.call = nil },
		"another reason": func(n *node) { n.err = errors.New("f") },
		"no link":        func(n *node) { n.next = nil },
		"an entry":       func(n *node) { n.trees[3] = 1 },
		"a value in one": func(n *node) { n.trees[2] = 3 },
	} {
		assert.NotEqual(t, one, build(1, change), name)
	}
}
