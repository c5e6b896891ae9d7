package repl

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// Memory is the limit of one worker's whole tree, and how the tree is measured. A
// look at the leader alone would not do: it is often a wrapper that never grows.
type Memory struct {
	Limit int64   // bytes; 0: none, and nothing is measured
	Ratio float64 // a resident worker above this part of Limit is replaced between calls; 0: never
	// Group gives the living members of a leader's process group.
	Group func(ctx context.Context, leader procscan.Identity) ([]procscan.Identity, error)
	// Measure gives the resident memory of those that still live, in bytes.
	Measure func(ctx context.Context, members []procscan.Identity) (int64, error)
}

// measureInterval is how often a running call's tree is measured. The samples of all
// trees, every few seconds, would come too late for code that fills the memory.
const measureInterval = 250 * time.Millisecond

// sample measures the known members, some of which may have left the group, together
// with the group as it is now.
func (m Memory) sample(ctx context.Context, leader procscan.Identity, known []procscan.Identity) (procscan.TreeSample, error) {
	group, err := m.Group(ctx, leader)
	if err != nil {
		return procscan.TreeSample{}, err
	}
	for _, member := range known {
		if !slices.Contains(group, member) {
			group = append(group, member)
		}
	}
	rss, err := m.Measure(ctx, group)
	return procscan.TreeSample{Members: group, RSS: rss}, err
}

// over tells whether a call must not go on.
func (m Memory) over(rss int64) bool { return m.Limit > 0 && rss > m.Limit }

// near tells whether the next call should have another worker.
func (m Memory) near(rss int64) bool {
	return m.over(rss) || m.Limit > 0 && m.Ratio > 0 && float64(rss) >= m.Ratio*float64(m.Limit)
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }

func (w *Worker) measureLater() {
	if w.cfg.Memory.Limit > 0 {
		w.machine.After(measureInterval, measureDue{})
	}
}

// onMemory handles measurements: its own of a running call, and the Supervisor's of
// all trees, which also finds what has left the leader's group.
func (w *Worker) onMemory(msg any) {
	switch msg := msg.(type) {
	case measureDue:
		w.measureLater()
		w.measure()
	case measured:
		w.sizing = false
		if msg.err == nil && w.call != nil && w.call.op.ID == msg.id {
			w.judgeMemory(msg.sample)
		}
	case messages.Sampled:
		if sample, ok := msg.Trees[w.repl.id]; ok {
			w.judgeMemory(sample)
		}
	}
}

func (w *Worker) measure() {
	if w.sizing {
		return // a slow one is not overtaken
	}
	w.sizing = true
	id, memory, leader, members := w.call.op.ID, w.cfg.Memory, w.repl.identity, w.members
	actors.Go(w.self, w.call.ctx, func(ctx context.Context) (procscan.TreeSample, error) {
		return memory.sample(ctx, leader, members)
	}, func(sample procscan.TreeSample, err error) any { return measured{id, sample, err} }, nil)
}

// judgeMemory ends a child that has more than it may.
func (w *Worker) judgeMemory(sample procscan.TreeSample) {
	w.members = sample.Members
	w.note(sample.RSS)
	memory := w.cfg.Memory
	switch {
	case memory.over(sample.RSS):
		w.broken(messages.Errorf(messages.KindMemory, "the REPL took %s of memory, over its limit of %s; raise repl.memory_limit, or let the code take less",
			mebibytes(sample.RSS), mebibytes(memory.Limit)))
	case w.machine.In(workerIdle) && w.cfg.Resident && memory.near(sample.RSS):
		w.broken(fmt.Errorf("replaced at %s of memory", mebibytes(sample.RSS)))
	}
}

// note keeps the highest sample of a call.
func (w *Worker) note(rss int64) { w.peak = max(w.peak, rss) }
