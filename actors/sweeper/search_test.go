package sweeper_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest/explore"
)

func TestSearchOfAllOrdersFindsNoBrokenLawOfASweeper(t *testing.T) {
	explore.Run(t, explore.Config{Whole: true, Depth: 20, Crossing: []string{"Sweep", "SignalTree", "leader", "the launch", "the back-off"}, New: newWorld})
}

func TestSearchFindsASweeperThatNeverReaps(t *testing.T) {
	_, failure := explore.Search(t, explore.Config{Depth: 8, New: func(t testing.TB) explore.World {
		w := newWorld(t)
		w.(*world).Deafen(explore.Any[messages.ReapLeader])
		return w
	}})
	assert.ErrorContains(t, failure, "the end of the tree was told 0 times")
}
