package actors_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// burning is an operation at which its receiver fails, also one that has failed.
type burning struct{ messages.Head }

func (burning) Refuse(error) { faults[[...]string{"panic", "goexit"}[rand.IntN(2)]]() }

// numbered is the place of a message among its sender's.
type numbered struct{ sender, n int }

func (n numbered) Error() string { return fmt.Sprint(n.sender, n.n) }

// However often the goroutine under an actor ends, and whichever way messages come
// to it: none is lost, and none overtakes another of the same sender.
func TestOrderOutlivesEveryGoexit(t *testing.T) {
	const senders, each = 8, 1000
	sys, err := actors.NewSystem(discard, func(error) {})
	require.NoError(t, err)
	var mu sync.Mutex
	next, all := make([]int, senders), make(chan struct{})
	supervisor := sys.SpawnRoot("supervisor", "s", behave(func(_ *actors.Self, msg any) {
		closed, ok := msg.(messages.EntryClosed)
		if !ok {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		number := closed.Cause.(numbered)
		assert.Equal(t, next[number.sender], number.n, "of sender %d", number.sender)
		next[number.sender] = number.n + 1
		for _, n := range next {
			if n < each {
				return
			}
		}
		close(all)
	}))
	sys.SetSupervisor(supervisor)
	target := sys.SpawnRoot("target", "t", behave(func(_ *actors.Self, msg any) {
		if closed, ok := msg.(messages.EntryClosed); ok { // until it fails it passes on itself
			supervisor.Send(closed)
			return
		}
		runtime.Goexit()
	}))
	var done sync.WaitGroup
	for sender := range senders {
		run := func(send func(any)) {
			for n := range each {
				if rand.IntN(8) == 0 {
					send(burning{})
				}
				send(messages.EntryClosed{Cause: numbered{sender, n}})
			}
		}
		if sender%2 == 0 {
			done.Go(func() { run(target.Send) })
			continue
		}
		h := sys.SpawnRoot("sender", fmt.Sprint(sender), behave(func(self *actors.Self, _ any) {
			run(func(msg any) { self.Send(target.Ref(), msg) })
		}))
		h.Send("begin")
		h.Stop()
		done.Go(func() { <-h.Done() })
	}
	done.Wait()
	<-all
	for _, h := range []*actors.Handle{target, supervisor} {
		h.Stop()
		<-h.Done()
	}
}

func TestEveryAnswerIsSeenOrUndelivered(t *testing.T) {
	type came struct{ value int }
	const workers = 20
	for round := range 200 {
		sys, err := actors.NewSystem(discard, func(error) {})
		require.NoError(t, err)
		var mu sync.Mutex
		seen, undelivered := make(map[int]bool), make(map[int]int)
		var answers sync.WaitGroup
		answers.Add(workers)
		failAt, fault := round%(workers+1), faults[[...]string{"panic", "goexit"}[round%2]] // some never fail
		a := sys.SpawnRoot("a", "a", behave(func(self *actors.Self, msg any) {
			if came, ok := msg.(came); ok {
				if len(seen) == failAt {
					fault()
				}
				seen[came.value] = true
				answers.Done()
				return
			}
			for i := range workers {
				actors.Go(self, self.Context(), func(context.Context) (int, error) { runtime.Gosched(); return i, nil },
					func(v int, _ error) any { return came{v} }, func(v int) {
						mu.Lock()
						defer mu.Unlock()
						undelivered[v]++
						answers.Done()
					})
			}
		}))
		a.Send("begin")
		answers.Wait()
		a.Stop()
		<-a.Done()
		for v := range workers {
			assert.Equal(t, !seen[v], undelivered[v] == 1, "answer %d in round %d", v, round)
		}
		assert.Len(t, seen, failAt)
	}
}
