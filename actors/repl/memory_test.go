package repl_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors/repl"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/fakes"
)

// limitedTo gives the tree a limit, and a memory of nothing.
func limitedTo(change func(*repl.PoolConfig)) func(*repl.PoolConfig) {
	return func(cfg *repl.PoolConfig) {
		cfg.Memory = repl.Memory{Limit: limit, Ratio: 0.9,
			Group: func(_ context.Context, leader procscan.Identity) ([]procscan.Identity, error) {
				return []procscan.Identity{leader}, nil
			},
			Measure: measure(new(atomic.Int64))}
		if change != nil {
			change(cfg)
		}
	}
}

// measure gives a memory that its test sets between two calls.
func measure(memory *atomic.Int64) func(context.Context, []procscan.Identity) (int64, error) {
	return func(context.Context, []procscan.Identity) (int64, error) { return memory.Load(), nil }
}

func TestResidentWorkerNearItsLimitIsReplacedAfterItsCall(t *testing.T) {
	var memory atomic.Int64
	measured := limitedTo(func(cfg *repl.PoolConfig) { cfg.Memory.Measure = measure(&memory) })
	workerBubble(t, "near", measured, func(b *workerBench) {
		memory.Store(100 * mebibyte)
		b.running()
		memory.Store(190 * mebibyte)
		b.says(b.repl, fakes.Result("42"))
		report, err := b.answer()
		require.NoError(b.t, err)
		assert.EqualValues(b.t, 190*mebibyte, report.MemoryPeak)
		assert.ErrorContains(b.t, b.expectSettled(messages.Broken), "replaced at 190 MiB")
	})
	workerBubble(t, "below", measured, func(b *workerBench) {
		memory.Store(100 * mebibyte)
		b.running().says(b.repl, fakes.Result("42"))
		_, err := b.answer()
		require.NoError(b.t, err)
		b.expectSettled(messages.Healthy)
	})
}

func TestRunningCallIsMeasuredFourTimesASecond(t *testing.T) {
	var memory atomic.Int64
	measured := limitedTo(func(cfg *repl.PoolConfig) { cfg.Memory.Measure = measure(&memory) })
	workerBubble(t, "over", measured, func(b *workerBench) {
		b.running()
		memory.Store(limit)
		time.Sleep(4 * repl.MeasureInterval)
		b.Parent.ExpectNothing(b.t)
		memory.Store(limit + 1)
		time.Sleep(repl.MeasureInterval)
		assert.ErrorContains(b.t, b.expectUnknown(messages.KindMemory), "over its limit of 200 MiB")
		b.expectSettled(messages.Broken)
		b.expectSwept(b.repl)
		b.expectClosed(b.repl)
	})
	workerBubble(t, "the peak is the call's own", measured, func(b *workerBench) {
		memory.Store(50 * mebibyte)
		b.running()
		memory.Store(150 * mebibyte)
		time.Sleep(repl.MeasureInterval)
		synctest.Wait()
		memory.Store(60 * mebibyte)
		b.says(b.repl, fakes.Result("42"))
		report, err := b.answer()
		require.NoError(b.t, err)
		assert.EqualValues(b.t, 150*mebibyte, report.MemoryPeak)
	})
	workerBubble(t, "sampled by the Supervisor", measured, func(b *workerBench) {
		memory.Store(0)
		b.running().sampled(limit + 1)
		b.expectUnknown(messages.KindMemory)
	})
}
