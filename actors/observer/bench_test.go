package observer_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/observer"
	"github.com/seed-f6977891/hearth/messages"
)

func start(b *testing.B) *actors.Handle {
	sys, err := actors.NewSystem(slog.New(slog.NewTextHandler(io.Discard, nil)), func(error) {})
	require.NoError(b, err)
	o := sys.SpawnRoot("observer", "runtime", observer.New())
	b.Cleanup(func() {
		o.Stop()
		<-o.Done()
	})
	return o
}

func roots(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("/home/someone/projects/number-%04d", i))
	}
	return all
}

// BenchmarkStatus1000 compares a status of 1,000 entries, each with its session,
// pool, worker and tree, with encoding the answer. The contract is at most 2.
func BenchmarkStatus1000(b *testing.B) {
	o := start(b)
	fill(o, roots(1000)...)
	var asking, encoding time.Duration
	for b.Loop() {
		began := time.Now()
		answer, err := ask(b.Context(), o, "")
		asked := time.Now()
		require.NoError(b, err)
		_, err = json.Marshal(answer)
		require.NoError(b, err)
		asking += asked.Sub(began)
		encoding += time.Since(asked)
	}
	ratio := float64(asking) / float64(encoding)
	b.ReportMetric(ratio, "x-encoding")
}

// BenchmarkStatusUnderStorm asks while 100,000 snapshots a second arrive. The
// slowest answer may take 50 ms.
func BenchmarkStatusUnderStorm(b *testing.B) {
	o := start(b)
	fill(o, roots(100)...)
	stop := make(chan struct{})
	sent := make(chan int)
	go func() { sent <- storm(o, stop) }()
	began := time.Now()
	var delays []time.Duration
	for b.Loop() {
		asked := time.Now()
		_, err := ask(b.Context(), o, "")
		require.NoError(b, err)
		delays = append(delays, time.Since(asked))
		time.Sleep(time.Millisecond) // a rate of asking, not a wait for anything
	}
	elapsed := time.Since(began)
	close(stop)
	slowest := slices.Max(delays)
	b.ReportMetric(float64(<-sent)/elapsed.Seconds(), "snapshots/s")
	b.ReportMetric(float64(slowest.Microseconds())/1000, "ms-slowest")
}

// storm publishes 100 snapshots each millisecond, in one go where it was held up.
func storm(o *actors.Handle, stop <-chan struct{}) (sent int) {
	began := time.Now()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return sent
		case <-tick.C:
		}
		for due := int(time.Since(began).Microseconds() / 10); sent < due; sent++ {
			publish(o, fmt.Sprint("session/home/someone/projects/number-", sent%100), messages.SessionSnapshot{Active: sent})
		}
	}
}
