package explore_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/test/actortest/explore"
)

func TestWhoWaitsAtTheDeskGetsWhatIsChosen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var desk explore.Desk
		got := map[string]string{}
		ctx, cancel := context.WithCancel(t.Context())
		for _, name := range []string{"b", "a"} {
			go func() { got[name], _ = desk.Await(t.Context(), name, "yes", "no") }()
			synctest.Wait()
		}
		go func() { _, _ = desk.Await(ctx, "c", "yes") }()
		synctest.Wait()
		assert.Equal(t, []string{"a", "b", "c"}, desk.Owed())
		cancel()
		synctest.Wait()
		choices := desk.Choices()
		require.Len(t, choices, 4, "c has stopped waiting")
		assert.Equal(t, "a: no", choices[1].Name)
		assert.Equal(t, []bool{true, false}, []bool{choices[0].Due, choices[1].Due})
		choices[1].Do()
		synctest.Wait()
		assert.Equal(t, map[string]string{"a": "no"}, got)
		desk.Abandon()
		synctest.Wait()
		assert.Equal(t, map[string]string{"a": "no", "b": "yes"}, got)
		late, _ := desk.Await(t.Context(), "d", "yes", "no")
		assert.Equal(t, "yes", late)
	})
}
