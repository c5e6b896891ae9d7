package repl_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/repl"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
	"github.com/seed-f6977891/hearth/test/actortest/explore"
)

// poolWorld is one Pool between its Entry and its workers, which the search plays.
type poolWorld struct {
	*actortest.Harness
	explore.Held
	explore.Desk
	cfg       repl.PoolConfig
	impatient bool // callers leave, time passes, and Abort comes
	spawned   []*actortest.Probe
	workers   []*workerPart // that are there, or were
	calls     []*worldCall
	past      poolPast
	forgotten bool // a call was not settled when nothing was left to wait for
}

// poolPast is what the Entry and the clock remember.
type poolPast struct {
	Close, Abort, OutOfTime bool // were told, or came
	BackedOff               int
	Faults                  int // of workers
	Ready, Failed, Closed   int
}

// workerPart is a worker's part, and how far it has played it.
type workerPart struct {
	probe *actortest.Probe
	name  string // of its slot
	Stage workerStage
	Told  bool // to end
	Call  messages.OperationID
}

type workerStage uint8

const (
	workerStarts workerStage = iota
	workerIdles
	workerRuns
	workerAnswered // and has not said yet what its child is good for
	workerEnds
	workerFailed
	workerGone
)

// worldCall is one call with what became of it.
type worldCall struct {
	messages.RunCode
	cancel context.CancelFunc
	callFate
}

type callFate struct {
	Sent, Left, Ran bool // Ran: a worker that has failed or answered had it
	Answers         int
	Settled         int
}

func newPoolWorld(cfg repl.PoolConfig, impatient bool) func(testing.TB) explore.World {
	return func(t testing.TB) explore.World {
		w, cfg := &poolWorld{Harness: actortest.New(t), cfg: cfg, impatient: impatient}, cfg
		t.Cleanup(w.Abandon)
		cfg.Warm = func() []string {
			if outcome, _ := w.Await(context.Background(), "preparing", "is done", "panics"); outcome == "panics" {
				panic("no modules")
			}
			return nil
		}
		for id := range 2 {
			c := &worldCall{RunCode: messages.RunCode{Code: "x", Reply: messages.NewReplyTo[messages.RunReport]()}}
			c.Head = messages.Head{ID: messages.OperationID(id + 1), Key: key, Timeout: timeout}
			c.Ctx, c.cancel = context.WithCancel(context.Background())
			t.Cleanup(c.cancel)
			w.calls = append(w.calls, c)
		}
		w.Spawn("pool", "0", w.Wrap(repl.NewPoolWith(cfg, func() func(*actors.Self) actors.Behaviour {
			probe, create := actortest.Child("worker")
			w.spawned = append(w.spawned, probe)
			return create
		})))
		return w
	}
}

var errWorker = errors.New("the worker's reason")

func (w *poolWorld) Choices() []explore.Choice {
	menu := explore.Menu(w.Desk.Choices())
	for _, part := range w.present() {
		w.starting(&menu, part)
		w.serving(&menu, part)
		w.ending(&menu, part)
	}
	for i, c := range w.calls {
		menu.May(w.past.Ready > 0 && !c.Sent && (i == 0 || w.calls[i-1].Sent), fmt.Sprint("call ", c.ID), func() {
			c.Sent = true
			w.Tell(c.RunCode)
		})
	}
	first := w.calls[0]
	menu.May(w.impatient && first.Sent && !first.Left && first.Settled == 0, "the caller of 1 leaves", func() {
		first.Left = true
		first.cancel()
	})
	open := !w.past.Close && !w.past.Abort
	waits := open && slices.ContainsFunc(w.calls, func(c *worldCall) bool { return c.Sent && c.Settled == 0 })
	menu.May(w.impatient && waits && !w.past.OutOfTime, "the calls are out of time", func() {
		w.past.OutOfTime = true
		explore.Pass(timeout)
	})
	back := func() {
		w.past.BackedOff++
		explore.Pass(backoff)
	}
	alone := len(w.present()) == 0
	menu.May(w.impatient && waits && w.past.BackedOff == 0 && !alone, "the back-off is over", back)
	menu.Must(waits && alone && w.past.BackedOff < 2, "the back-off is over", back)
	quiet := menu.Quiet()
	menu.May(w.impatient && !w.past.Abort, "Abort", func() {
		w.past.Abort = true
		w.Tell(messages.Abort{})
	})
	end := func() {
		w.forgotten = quiet && waits
		w.past.Close = true
		w.Tell(messages.Close{})
	}
	menu.May(open && w.past.Closed > 0, "Close", end)
	menu.Must(open && w.past.Closed == 0, "Close", end)
	return menu
}

// backoff is that of a slot which failed once. Two of them are shorter than a call's time.
const backoff = time.Second

// present are the workers that are not gone, by their slots.
func (w *poolWorld) present() []*workerPart {
	there := slices.DeleteFunc(slices.Clone(w.workers), func(part *workerPart) bool { return part.Stage == workerGone })
	slices.SortStableFunc(there, func(a, b *workerPart) int { return strings.Compare(a.name, b.name) })
	return there
}

func (w *poolWorld) step(part *workerPart, next workerStage, msg any) func() {
	return func() {
		part.Stage = next
		w.Tell(msg)
	}
}

// mayFail adds a fault of a worker's. There is one on a path.
func (w *poolWorld) mayFail(menu *explore.Menu, possible bool, name string, do func()) {
	menu.May(possible && w.past.Faults < 1, name, func() {
		w.past.Faults++
		do()
	})
}

func (w *poolWorld) starting(menu *explore.Menu, part *workerPart) {
	from, starts := part.probe.Ref(), part.Stage == workerStarts
	menu.Must(starts && !part.Told, part.name+" is ready", w.step(part, workerIdles, messages.Ready{From: from}))
	menu.May(starts && part.Told, part.name+" is ready", w.step(part, workerIdles, messages.Ready{From: from}))
	w.mayFail(menu, starts, part.name+" can't start", w.step(part, workerEnds, messages.StartFailed{From: from, Err: errWorker}))
	w.mayFail(menu, part.Stage == workerIdles, part.name+" ends by itself", w.step(part, workerEnds, messages.Ending{From: from, Err: errWorker}))
}

// serving are a worker's words about a call. One that has ended, or was told to, gives
// back what still comes.
func (w *poolWorld) serving(menu *explore.Menu, part *workerPart) {
	from := part.probe.Ref()
	settled := func(verdict messages.Verdict, cause error) messages.Settled {
		return messages.Settled{From: from, ID: part.Call, Verdict: verdict, Cause: cause}
	}
	menu.Must(part.Stage == workerRuns, part.name+" answers", func() {
		part.Stage = workerAnswered
		w.calls[part.Call-1].Ran = true
		w.Tell(repl.Answer(from, part.Call, messages.RunReport{}, nil))
	})
	back := part.Stage == workerRuns || part.Stage == workerEnds && part.Call != 0
	menu.May(back, part.name+" gives its call back", func() {
		part.Stage = workerEnds
		msg := settled(messages.Returned, nil)
		part.Call = 0
		w.Tell(msg)
	})
	good := part.Stage == workerAnswered && !part.Told && w.cfg.Resident
	menu.Must(good, part.name+" is as good as before", func() {
		msg := settled(messages.Healthy, nil)
		part.Stage, part.Call = workerIdles, 0
		w.Tell(msg)
	})
	spend := func() {
		msg := settled(messages.Broken, nil)
		part.Stage, part.Call = workerEnds, 0
		w.Tell(msg)
	}
	menu.Must(part.Stage == workerAnswered && !good, part.name+" is spent", spend)
	menu.May(good, part.name+" is spent", spend)
}

func (w *poolWorld) ending(menu *explore.Menu, part *workerPart) {
	from := part.probe.Ref()
	w.mayFail(menu, part.Stage < workerFailed, part.name+" fails", func() {
		if part.Call != 0 && part.Stage == workerRuns {
			w.calls[part.Call-1].Ran = true
		}
		w.step(part, workerFailed, messages.Down{From: from, Reason: errWorker})()
	})
	menu.Must(part.Stage == workerFailed, "nothing is left of "+part.name, w.step(part, workerGone, messages.TreesGone{From: from}))
	idle := part.Told && (part.Stage == workerStarts || part.Stage == workerIdles)
	menu.Must(part.Stage == workerEnds || idle, part.name+" has closed", w.step(part, workerGone, messages.Closed{From: from}))
}
