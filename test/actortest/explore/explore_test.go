package explore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/test/actortest"
	"github.com/seed-f6977891/hearth/test/actortest/explore"
)

// counter is an actor that adds what it is told, modulo 5.
type counter struct {
	self  *actors.Self
	sum   int
	heard int // does not matter
	born  time.Time
}

func (c *counter) Receive(msg any) {
	c.heard++
	c.sum = (c.sum + msg.(int)) % 5
}

// counting is the counter's world. forbidden is a sum that breaks the law.
type counting struct {
	*actortest.Harness
	explore.Held
	explore.Desk
	forbidden, added int
	counter          *counter
}

func world(forbidden int) func(testing.TB) explore.World {
	return func(t testing.TB) explore.World {
		w := &counting{Harness: actortest.New(t), forbidden: forbidden}
		w.Spawn("counter", "a", w.Wrap(func(self *actors.Self) actors.Behaviour {
			w.counter = &counter{self: self, born: time.Now()}
			return w.counter
		}))
		return w
	}
}

func (w *counting) Choices() []explore.Choice {
	var choices []explore.Choice
	for _, n := range []int{1, 3} {
		choices = append(choices, explore.Choice{Name: fmt.Sprint("add ", n), Due: w.added == 0, Do: func() {
			w.added = 1
			w.Tell(n)
		}})
	}
	return choices
}

func (w *counting) Check() (err error) {
	w.Look(func() {
		if w.counter.sum == w.forbidden {
			err = errors.New("the sum is forbidden")
		}
	})
	return err
}

func (w *counting) State() explore.State {
	return explore.State{Actor: w.Actor(), World: w.added, Opaque: []string{"counter.heard"}}
}

func (w *counting) Ended() error { return nil }

func TestSearchMergesEqualStatesAndStopsWhereAllWereSeen(t *testing.T) {
	report, err := explore.Search(t, explore.Config{Depth: 100, New: world(-1)})
	require.NoError(t, err)
	assert.Equal(t, explore.Report{States: 6, Transitions: 13, Deepest: 3}, report)
	report, err = explore.Search(t, explore.Config{Depth: 1, New: world(-1)})
	require.NoError(t, err)
	assert.Equal(t, explore.Report{States: 3, Transitions: 3, Deepest: 1, Cut: 2}, report)
}

func TestSearchFindsTheShortestWayToABrokenLaw(t *testing.T) {
	_, failure := explore.Search(t, explore.Config{Depth: 100, New: world(2)})
	require.Error(t, failure)
	assert.Equal(t, "the sum is forbidden\nafter\n   1. add 1\n   2. add 1", failure.Error())
	_, failure = explore.Search(t, explore.Config{Depth: 1, New: world(2)})
	assert.NoError(t, failure, "not as deep")
	_, failure = explore.Search(t, explore.Config{Depth: 1, Crossing: []string{"add 3"}, New: world(4)})
	assert.Equal(t, "the sum is forbidden\nafter\n   1. add 1, and before that is seen: add 3", failure.Error())
}
