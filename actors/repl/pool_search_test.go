package repl_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors/repl"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest/explore"
)

func TestSearchOfAllOrdersFindsNoBrokenLawOfAPool(t *testing.T) {
	for name, search := range map[string]explore.Config{
		"one worker, its child for one call": {Depth: 8, New: newPoolWorld(repl.PoolConfig{Workers: 1}, true),
			Crossing: []string{"the caller", "worker 0 ends", "worker 0 has closed"}},
		"two workers for many calls": {Depth: 8, New: newPoolWorld(repl.PoolConfig{Workers: 2, Resident: true}, false)},
	} {
		t.Run(name, func(t *testing.T) { explore.Run(t, search) })
	}
}

func TestSearchFindsAPoolThatKeepsASlot(t *testing.T) {
	_, failure := explore.Search(t, explore.Config{Depth: 8, New: func(t testing.TB) explore.World {
		w := newPoolWorld(repl.PoolConfig{Workers: 1}, true)(t)
		w.(*poolWorld).Deafen(explore.Any[messages.Closed])
		return w
	}})
	assert.ErrorContains(t, failure, "worker 0 was not stopped")
}

func (w *poolWorld) State() explore.State {
	var parts []workerPart
	for _, part := range w.present() {
		parts = append(parts, *part)
	}
	fates := []callFate{w.calls[0].callFate, w.calls[1].callFate}
	for i := range fates {
		if fates[i].Settled > 0 { // how it came to that is over
			fates[i] = callFate{Sent: true, Settled: fates[i].Settled, Answers: fates[i].Answers}
		}
	}
	return explore.State{Actor: w.Actor(), World: []any{w.past, parts, fates}, Owed: w.Owed(), Opaque: []string{
		"workerPart.probe", "Pool.cfg", "Pool.lastUsed", "Pool.restarts", "Pool.cause", "Machine.since", "Queue.calls", "poolSlot.ready",
		"assignment.arrived"}}
}

func (w *poolWorld) Check() error {
	w.Observer.Take()
	if err := w.takeWorkers(); err != nil {
		return err
	}
	for _, c := range w.calls {
		c.Answers += len(c.Reply.Answer())
		if len(c.Reply.Answer()) > 0 {
			<-c.Reply.Answer()
		}
	}
	for _, msg := range w.Parent.Take() {
		if err := w.toEntry(msg); err != nil {
			return err
		}
	}
	if w.forgotten {
		return errors.New("nothing was left to wait for, and a call was not settled")
	}
	for _, c := range w.calls {
		switch {
		case c.Answers > 1:
			return fmt.Errorf("call %d was answered %d times", c.ID, c.Answers)
		case c.Answers > 0 && c.Settled == 0:
			return fmt.Errorf("call %d was answered and not settled", c.ID)
		case c.Ran && c.Answers == 0:
			return fmt.Errorf("call %d has no answer, and its worker has nothing more to say of it", c.ID)
		case w.past.Closed > 0 && c.Sent && c.Settled == 0:
			return fmt.Errorf("call %d was not settled by a Pool that has closed", c.ID)
		}
	}
	return nil
}

// takeWorkers notes which workers were started, and what they were told.
func (w *poolWorld) takeWorkers() error {
	for _, probe := range w.spawned[len(w.workers):] {
		name, _, _ := strings.Cut(strings.Replace(probe.Ref().ID, "/", " ", 1), "#")
		w.workers = append(w.workers, &workerPart{probe: probe, name: name})
	}
	there := w.present()
	for i, part := range there {
		if i > 0 && there[i-1].name == part.name || i >= w.cfg.Workers {
			return errors.New("a worker was started in a slot that is not free")
		}
	}
	for _, part := range w.workers {
		for _, msg := range part.probe.Take() {
			if err := w.toWorker(part, msg); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *poolWorld) toWorker(part *workerPart, msg any) error {
	switch msg := msg.(type) {
	case repl.Assignment:
		op, _ := msg.Parts()
		return w.assigned(part, w.calls[op.ID-1])
	case messages.Close:
		part.Told = true
	case messages.Abort: // it answers what it has, and ends
		part.Told = true
	}
	return nil
}

func (w *poolWorld) assigned(part *workerPart, c *worldCall) error {
	for _, other := range w.present() {
		if other != part && other.Call == c.ID && other.Stage == workerRuns {
			return fmt.Errorf("call %d is run by two workers", c.ID)
		}
	}
	switch {
	case c.Ran || c.Answers > 0:
		return fmt.Errorf("call %d is run again", c.ID)
	case part.Stage == workerStarts || part.Stage == workerRuns || part.Stage == workerAnswered:
		return fmt.Errorf("%s gets call %d, and takes none", part.name, c.ID)
	case part.Stage == workerGone || part.Stage == workerFailed:
		return nil // it crossed its end
	}
	part.Call = c.ID
	if part.Stage == workerIdles {
		part.Stage = workerRuns
	}
	return nil
}

func (w *poolWorld) toEntry(msg any) error {
	switch msg := msg.(type) {
	case messages.Down:
		return msg.Reason
	case messages.Ready:
		w.past.Ready++
		if w.past.Ready > 1 || w.past.Failed > 0 {
			return errors.New("Ready again, or after StartFailed")
		}
	case messages.StartFailed:
		w.past.Failed++
		if w.past.Failed > 1 || w.past.Ready > 0 {
			return errors.New("StartFailed again, or after Ready")
		}
	case messages.Settled:
		c := w.calls[msg.ID-1]
		c.Settled++
		if msg.Verdict == messages.Returned {
			c.Answers++ // its caller's answer comes from somebody else
		}
		if c.Settled > 1 || c.Answers != 1 {
			return fmt.Errorf("call %d was settled %s, %d answers, %d times", c.ID, msg.Verdict, c.Answers, c.Settled)
		}
	case messages.Closed:
		w.past.Closed++
		if w.past.Closed > 1 || len(w.present()) > 0 || len(w.Owed()) > 0 {
			return errors.New("Closed again, or before all workers were gone")
		}
	}
	return nil
}

func (w *poolWorld) Ended() error {
	for _, part := range w.workers {
		if w.System.Roster().Lookup(part.probe.Ref()) != nil {
			return fmt.Errorf("%s was not stopped", part.name)
		}
	}
	if w.past.Closed != 1 {
		return errors.New("no Closed")
	}
	return nil
}
