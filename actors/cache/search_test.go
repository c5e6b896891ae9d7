package cache_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/cache"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
	"github.com/seed-f6977891/hearth/test/actortest/explore"
)

func TestSearchOfAllOrdersFindsNoBrokenLawOfAnEntry(t *testing.T) {
	explore.Run(t, explore.Config{Whole: true, Depth: 20, Crossing: []string{"the caller", "the leases"}, New: newEntryWorld})
}

func TestSearchFindsAnEntryThatLosesALease(t *testing.T) {
	_, failure := explore.Search(t, explore.Config{Depth: 8, New: func(t testing.TB) explore.World {
		w := newEntryWorld(t)
		w.(*entryWorld).Deafen(explore.Any[messages.Settled])
		return w
	}})
	assert.ErrorContains(t, failure, "a lease was not back")
}

// entryWorld is one Entry between its Cache and its child, which the search plays.
type entryWorld struct {
	*actortest.Harness
	explore.Held
	child     *actortest.Probe
	ops       []*leased
	past      entryPast
	forgotten bool // a lease was not back when nothing was left to wait for
}

// entryPast is what Cache and child remember.
type entryPast struct {
	Close, Abort bool       // were sent
	Patience     bool       // AcquireBy is over
	Child        childStage // how far the child has come
	Told         bool       // the child was told to end
	Ready        int        // EntryReady
	Closed       int        // EntryClosed
}

type childStage uint8

const (
	childStarting childStage = iota
	childServing
	childEnding // it can still settle what it has
	childDown
	childGone
)

// leased is one operation of the world.
type leased struct {
	messages.Head
	cancel context.CancelFunc
	fate
}

// fate is what became of an operation.
type fate struct {
	Leased, Left  bool
	WithChild     bool // forwarded, and not settled
	Runs, Answers int
	Released      int
}

func (l *leased) Refuse(error) {
	l.Answers++
}

const patience = time.Minute

func newEntryWorld(t testing.TB) explore.World {
	w := &entryWorld{Harness: actortest.New(t)}
	child, create := actortest.Child("child")
	w.child = child
	w.Spawn("entry", "a", w.Wrap(cache.NewEntry(keyOf("/b"), "session",
		func(messages.Key) func(*actors.Self) actors.Behaviour { return create })))
	for id := range 2 {
		op := &leased{}
		op.ID, op.Key, op.AcquireBy = messages.OperationID(id+1), keyOf("/b"), time.Now().Add(patience)
		op.Ctx, op.cancel = context.WithCancel(context.Background())
		t.Cleanup(op.cancel)
		w.ops = append(w.ops, op)
	}
	return w
}

func (w *entryWorld) Choices() []explore.Choice {
	var menu explore.Menu
	for i, op := range w.ops {
		menu.May(!op.Leased && (i == 0 || w.ops[i-1].Leased), fmt.Sprint("lease ", op.ID), func() {
			op.Leased = true
			w.Tell(messages.Lease{Op: op})
		})
		w.settling(&menu, op)
	}
	menu.May(w.ops[0].Leased && !w.ops[0].Left && w.ops[0].Released == 0, "the caller of 1 leaves", func() {
		w.ops[0].Left = true
		w.ops[0].cancel()
	})
	menu.May(!w.past.Patience && w.past.Child == childStarting, "the leases are out of time", func() {
		w.past.Patience = true
		explore.Pass(patience)
	})
	menu.May(!w.past.Abort, "Abort", func() {
		w.past.Abort = true
		w.Tell(messages.Abort{})
	})
	w.living(&menu)
	quiet := menu.Quiet()
	end := func() {
		w.forgotten = quiet && slices.ContainsFunc(w.ops, func(op *leased) bool { return op.Leased && op.Released == 0 })
		w.past.Close = true
		w.Tell(messages.Close{})
	}
	menu.May(!w.past.Close && w.past.Closed > 0, "Close", end)
	menu.Must(!w.past.Close && w.past.Closed == 0, "Close", end)
	return menu
}

// settling are the ways in which the child can be done with an operation.
func (w *entryWorld) settling(menu *explore.Menu, op *leased) {
	has := op.WithChild && (w.past.Child == childServing || w.past.Child == childEnding)
	settle := func(verdict messages.Verdict) func() {
		return func() {
			op.WithChild = false
			if verdict != messages.Returned {
				op.Answers++
			}
			if verdict != messages.Healthy {
				w.past.Child = childEnding
			}
			w.Tell(messages.Settled{From: w.child.Ref(), ID: op.ID, Verdict: verdict, Cause: errChild})
		}
	}
	menu.Must(has, fmt.Sprint("the child answers ", op.ID), settle(messages.Healthy))
	menu.May(has, fmt.Sprint("the child breaks under ", op.ID), settle(messages.Broken))
	menu.May(has, fmt.Sprint("the child returns ", op.ID), settle(messages.Returned))
}

var errChild = errors.New("the child's reason")

// living are the steps of the child's own life. One that was told to end may still say
// what it said before it was told.
func (w *entryWorld) living(menu *explore.Menu) {
	stage, from := w.past.Child, w.child.Ref()
	say := func(next childStage, msg any) func() {
		return func() {
			w.past.Child = next
			w.Tell(msg)
		}
	}
	menu.Must(stage == childStarting && !w.past.Told, "the child is ready", say(childServing, messages.Ready{From: from}))
	menu.May(stage == childStarting && w.past.Told, "the child is ready", say(childServing, messages.Ready{From: from}))
	menu.May(stage == childStarting, "the child can't start", say(childEnding, messages.StartFailed{From: from, Err: errChild}))
	menu.May(stage == childServing, "the child ends by itself", say(childEnding, messages.Ending{From: from, Err: errChild}))
	menu.May(stage < childDown, "the child fails", say(childDown, messages.Down{From: from, Reason: errChild}))
	menu.Must(stage == childDown, "nothing is left of the failed child", say(childGone, messages.TreesGone{From: from}))
	menu.Must(stage == childEnding || w.past.Told && stage < childDown, "the child has closed", say(childGone, messages.Closed{From: from}))
}

func (w *entryWorld) State() explore.State {
	fates := []fate{w.ops[0].fate, w.ops[1].fate}
	for i := range fates {
		if fates[i].Released > 0 { // how it came to that is over
			fates[i] = fate{Leased: true, Released: fates[i].Released, Answers: fates[i].Answers}
		}
	}
	return explore.State{Actor: w.Actor(), World: []any{w.past, fates}, Opaque: []string{"entry.key", "Machine.since", "kept.since", "leased.fate"}}
}

func (w *entryWorld) Check() error {
	for _, msg := range w.child.Take() {
		if err := w.toChild(msg); err != nil {
			return err
		}
	}
	for _, msg := range w.Parent.Take() {
		if err := w.toCache(msg); err != nil {
			return err
		}
	}
	if w.forgotten {
		return errors.New("nothing was left to wait for, and a lease was not back")
	}
	for _, op := range w.ops {
		switch {
		case w.past.Closed > 0 && op.Leased && op.Released == 0:
			return fmt.Errorf("operation %d was not released by an Entry that has closed", op.ID)
		case op.Answers > 1:
			return fmt.Errorf("operation %d was answered %d times", op.ID, op.Answers)
		case op.WithChild && w.past.Child == childDown && op.Released == 0:
			return fmt.Errorf("operation %d still waits for a child that has failed", op.ID)
		}
	}
	return nil
}

func (w *entryWorld) toChild(msg any) error {
	switch msg := msg.(type) {
	case *leased:
		msg.WithChild = true
		msg.Runs++
		if msg.Runs > 1 || msg.Released > 0 {
			return fmt.Errorf("operation %d was forwarded again, or after it was released", msg.ID)
		}
		if w.past.Ready == 0 && w.past.Child == childStarting {
			return fmt.Errorf("operation %d was forwarded to a child that is not ready", msg.ID)
		}
	case messages.Close, messages.Abort:
		w.past.Told = true
	}
	return nil
}

func (w *entryWorld) toCache(msg any) error {
	switch msg := msg.(type) {
	case messages.Down:
		return msg.Reason
	case messages.EntryReady:
		w.past.Ready++
		if w.past.Ready > 1 || w.past.Closed > 0 {
			return errors.New("EntryReady again, or after the end")
		}
	case messages.LeaseReleased:
		return w.released(w.ops[msg.ID-1], msg.Verdict)
	case messages.EntryClosed:
		w.past.Closed++
		if w.past.Closed > 1 || w.past.Child != childGone {
			return errors.New("EntryClosed twice, or before the child was gone")
		}
	}
	return nil
}

// released checks a lease that comes back: answered once, or returned and not answered.
func (w *entryWorld) released(op *leased, verdict messages.Verdict) error {
	op.Released++
	want := 1
	if verdict == messages.Returned {
		want = 0
	}
	switch {
	case op.Released > 1:
		return fmt.Errorf("operation %d was released twice", op.ID)
	case op.Answers != want:
		return fmt.Errorf("operation %d was released %s with %d answers", op.ID, verdict, op.Answers)
	case op.WithChild && w.past.Child < childDown:
		return fmt.Errorf("operation %d was released while the child has it", op.ID)
	}
	return nil
}

func (w *entryWorld) Ended() error {
	for _, op := range w.ops {
		if op.Leased && op.Released != 1 {
			return fmt.Errorf("operation %d was never released", op.ID)
		}
	}
	switch {
	case w.past.Closed != 1:
		return errors.New("no EntryClosed")
	case w.System.Roster().Lookup(w.child.Ref()) != nil:
		return errors.New("the child was not stopped")
	}
	return nil
}
