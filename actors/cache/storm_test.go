package cache_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/cache"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
)

// counted counts its answers.
type counted struct {
	*call
	mu      sync.Mutex
	answers int
}

func (c *counted) Refuse(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers++
	c.call.Refuse(err)
}

func (c *counted) succeed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers++
	c.call.succeed()
}

func TestUseCloseAndAbortAtOnceAnswerEveryCallOnceAndEndEverythingOnce(t *testing.T) {
	const rounds, users = 200, 20
	for round := range rounds {
		synctest.Test(t, func(t *testing.T) {
			w := &world{Harness: actortest.New(t), t: t, startTakes: time.Millisecond, callTakes: time.Millisecond, closeTakes: time.Millisecond}
			w.cache = w.Spawn("cache", "lsp", cache.New(limited(cache.Config{Limit: 2, NewResource: w.newServer, Idle: time.Second})))
			var together sync.WaitGroup
			for user := range users {
				together.Go(func() { w.use(t, rand.New(rand.NewPCG(uint64(round), uint64(user)))) })
			}
			together.Wait()
			w.cache.Send(messages.Close{})
			time.Sleep(time.Second)
			synctest.Wait()
			assert.Zero(t, w.living())
			closed := 0
			for _, msg := range w.Parent.Take() {
				if _, ok := msg.(messages.Closed); ok {
					closed++
				}
			}
			assert.Equal(t, 1, closed)
			assert.LessOrEqual(t, w.peak, 2)
		})
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}

// use makes a few calls, one of them under a short deadline, and sometimes tries to
// end everything.
func (w *world) use(t *testing.T, random *rand.Rand) {
	for range 4 {
		time.Sleep(time.Duration(random.IntN(2000)) * time.Microsecond)
		switch random.IntN(24) {
		case 0:
			w.cache.Send(messages.Close{})
		case 1:
			w.cache.Send(messages.Abort{})
		default:
			w.callOnce(t, random)
		}
	}
}

func (w *world) callOnce(t *testing.T, random *rand.Rand) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+random.IntN(9))*time.Millisecond)
	defer cancel()
	op := &counted{call: newCall(w.System, fmt.Sprint("/", random.IntN(3)), under(ctx))}
	began := time.Now()
	_, err := actors.Ask(ctx, w.cache, op, op.Reply)
	assert.Less(t, time.Since(began), 5*time.Second)
	if err != nil {
		kinds := []messages.Kind{messages.KindBusy, messages.KindClosed, messages.KindOutcomeUnknown}
		assert.Contains(t, kinds, messages.KindOf(err), err)
	}
	op.mu.Lock()
	defer op.mu.Unlock()
	assert.LessOrEqual(t, op.answers, 1)
}
