//go:build linux

package chaos_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/procscan"
)

// result is what the rounds of a run came to.
type result struct {
	reusers

	mu           sync.Mutex
	rounds, fell int
	survived     int
	victims      map[string]int
	slowestClose time.Duration // of a runtime that lived
	slowestGuard time.Duration // from a runtime's death until its guard had ended everything
	slowestStart time.Duration // from a start until what was left before had ended
}

func (r *result) note(slowest *time.Duration, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*slowest = max(*slowest, took)
}

func (r *result) survivors(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.survived += n
}

func (r *result) played(one *round) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rounds++
	r.victims[one.victim]++
	if one.fell {
		r.fell++
	}
}

func (r *result) String() string {
	var victims string
	for _, name := range slices.Sorted(maps.Keys(r.victims)) {
		victims += fmt.Sprintf(", %s %d", name, r.victims[name])
	}
	return fmt.Sprintf("%d rounds (-seed=%d), %d survivors; slowest close %v, slowest end by a guard %v, by the next start %v; "+
		"%d victims were there to be killed, %d numbers were used again%s",
		r.rounds, *seed, r.survived, r.slowestClose.Round(time.Millisecond), r.slowestGuard.Round(time.Millisecond),
		r.slowestStart.Round(time.Millisecond), r.fell, r.placed, victims)
}

// TestNothingSurvivesWhateverDiesFirst plays the rounds. One of them alone:
// -run 'Nothing/^rounds$/^17$' -seed=S.
func TestNothingSurvivesWhateverDiesFirst(t *testing.T) {
	t.Logf("-seed=%d", *seed)
	canContain := probeContainment()
	w := newWorld(t)
	all := &result{victims: map[string]int{}}
	t.Run("rounds", func(t *testing.T) {
		for n := range *rounds {
			d := draw(rand.New(rand.NewPCG(*seed, uint64(n))), canContain)
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				t.Parallel()
				t.Log(d)
				(&round{drawn: d, t: t, result: all}).play()
			})
		}
	})
	w.unharmed(t)
	fmt.Println(all)
	assert.Zero(t, all.survived)
}

func probeContainment() bool {
	c, err := procscan.NewContainment("chaos-" + procscan.NewMark("PROBE").Value)
	if err != nil {
		return false
	}
	return c.Close() == nil
}
