package repl_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors/repl"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
)

func TestWorkerThatIsToldToEndSweepsItsTreeFirst(t *testing.T) {
	for name, command := range map[string]any{"close": messages.Close{}, "abort": messages.Abort{}} {
		for state, reach := range map[string]func(*workerBench){
			"launching": func(b *workerBench) { b.launching() },
			"warming":   func(b *workerBench) { b.warming() },
			"idle":      func(b *workerBench) { b.idle() },
		} {
			workerBubble(t, name+" while "+state, nil, func(b *workerBench) {
				reach(b)
				b.worker.Send(command)
				b.expectSwept(b.repl)
				b.worker.Send(command) // it joins
				b.Supervisor.ExpectNothing(b.t)
				b.expectClosed(b.repl)
			})
		}
	}
	workerBubble(t, "its launch comes to nothing", nil, func(b *workerBench) {
		b.launching().worker.Send(messages.Close{})
		b.Parent.ExpectNothing(b.t)
		b.worker.Send(messages.LaunchFailed{Tree: b.repl.tree, Err: messages.ErrClosing})
		b.expectClosed()
	})
}

func TestEndingWorkerGivesCallsBackUnanswered(t *testing.T) {
	for state, reach := range map[string]func(*workerBench){
		"closing": func(b *workerBench) { b.closing() },
		"closed":  func(b *workerBench) { b.closing().expectClosed(b.repl) },
	} {
		workerBubble(t, state, nil, func(b *workerBench) {
			reach(b)
			b.assign("x", repl.Decision{Run: &repl.Request{Code: "x"}})
			b.Parent.ExpectExactly(b.t, messages.Settled{From: b.worker.Ref(), ID: b.op.ID, Verdict: messages.Returned})
		})
	}
}

func TestWorkerIsClosedOnlyWhenItsOwnWorkersAreIn(t *testing.T) {
	workerBubble(t, "a run that is cut off", nil, func(b *workerBench) {
		b.running().worker.Send(messages.Abort{})
		b.expectUnknown(messages.KindClosed)
		b.expectSettled(messages.Broken)
		b.expectClosed(b.repl)
	})
}

func TestFailingWorkerTellsItsPoolWhichHasTheCopy(t *testing.T) {
	for name, fault := range faults {
		for state, reach := range map[string]func(*workerBench){
			"launching": func(b *workerBench) { b.launching() },
			"warming":   func(b *workerBench) { b.warming() },
			"idle":      func(b *workerBench) { b.idle() },
			"checking":  func(b *workerBench) { b.asking() },
			"running":   func(b *workerBench) { b.running() },
			"closing":   func(b *workerBench) { b.closing() },
			"closed":    func(b *workerBench) { b.closing().expectClosed(b.repl) },
		} {
			workerBubble(t, state+" by "+name, nil, func(b *workerBench) {
				reach(b)
				b.worker.Send(faulty{fault: fault})
				down := actortest.Find[messages.Down](b.t, b.Parent)
				assert.Equal(b.t, b.worker.Ref(), down.From)
				assert.Equal(b.t, down, actortest.Find[messages.Down](b.t, b.Supervisor))
				b.assign("y", repl.Decision{Run: &repl.Request{Code: "y"}})
				b.Parent.ExpectNothing(b.t)
				assert.Empty(b.t, b.op.Reply.Answer(), "the Pool answers, from its copy")
			})
		}
	}
}

// faulty is a message that its receiver fails at.
type faulty struct {
	messages.StatusQuery
	fault func()
}

func (f faulty) Refuse(error) { f.fault() }
