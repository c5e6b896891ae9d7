package actors_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// BenchmarkIdleActor reports the memory that one idle actor takes, handle and roster
// entry included.
func BenchmarkIdleActor(b *testing.B) {
	const idle = 10_000
	for b.Loop() {
		sys, err := actors.NewSystem(discard, func(error) {})
		require.NoError(b, err)
		before := heapInUse()
		handles := make([]*actors.Handle, 0, idle)
		for i := range idle {
			handles = append(handles, sys.SpawnRoot("idle", fmt.Sprint(i), behave(answerStatus)))
		}
		for _, h := range handles { // one that answers is idle again, and made
			_, err := ask(b.Context(), h)
			require.NoError(b, err)
		}
		b.ReportMetric(float64(heapInUse()-before)/idle, "B/actor")
		for _, h := range handles {
			h.Stop()
			<-h.Done()
		}
	}
}

func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// BenchmarkAsk sets one Ask of an actor against one round trip over bare channels, in
// turn, and reports the ratio of their times.
func BenchmarkAsk(b *testing.B) {
	sys, err := actors.NewSystem(discard, func(error) {})
	require.NoError(b, err)
	h := sys.SpawnRoot("answerer", "a", behave(func(_ *actors.Self, msg any) {
		msg.(messages.Hover).Reply.Send(messages.HoverReport{})
	}))
	bare := make(chan chan messages.Result[messages.HoverReport])
	go func() {
		for reply := range bare {
			reply <- messages.Result[messages.HoverReport]{}
		}
	}()
	defer func() { close(bare); h.Stop(); <-h.Done() }()
	ctx := b.Context()
	var asked, plain stopwatch
	for b.Loop() {
		asked.time(100, func() {
			reply := messages.NewReplyTo[messages.HoverReport]()
			_, _ = actors.Ask(ctx, h, messages.Hover{Reply: reply}, reply)
		})
		plain.time(100, func() {
			reply := make(chan messages.Result[messages.HoverReport], 1)
			bare <- reply
			<-reply
		})
	}
	b.ReportMetric(asked.median(), "ns/ask")
	b.ReportMetric(plain.median(), "ns/channel")
	b.ReportMetric(asked.median()/plain.median(), "x-channel")
}

func answerStatus(_ *actors.Self, msg any) {
	if query, ok := msg.(messages.StatusQuery); ok {
		query.Reply.Send(messages.Status{})
	}
}

// stopwatch keeps the times of rounds, so that two things timed in turn on a shared
// machine can be compared by their medians.
type stopwatch struct{ rounds []float64 }

// time runs one round of n calls.
func (s *stopwatch) time(n int, call func()) {
	began := time.Now()
	for range n {
		call()
	}
	s.rounds = append(s.rounds, float64(time.Since(began))/float64(n))
}

func (s *stopwatch) median() float64 {
	slices.Sort(s.rounds)
	return s.rounds[len(s.rounds)/2]
}
