package sweeper_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/seed-f6977891/hearth/actors/sweeper"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/actortest"
	"github.com/seed-f6977891/hearth/test/actortest/explore"
)

// world is one Sweeper, and a tree whose every answer is a choice.
type world struct {
	*actortest.Harness
	explore.Held
	explore.Desk
	owner *actortest.Probe
	leaf  *leaf
	seen  seen
	state string // that was published last
}

// seen is what the search has to remember of the past.
type seen struct {
	Sweeps, Signals int
	Late            bool // the launch's time is over
	LateTold        bool
	Launched        bool
	Downs           int
	Ends, Above     int // of the tree, as owner and Supervisor were told
}

const limit = time.Minute // of the launch

func newWorld(t testing.TB) explore.World {
	w := &world{Harness: actortest.New(t)}
	t.Cleanup(w.Abandon)
	w.owner = w.NewProbe("owner")
	w.leaf = &leaf{world: w}
	mark := procscan.NewMark(procscan.SessionVar)
	w.Spawn("sweeper", "7", w.Wrap(sweeper.New(sweeper.Config{Tree: tree, Owner: w.owner.Handle.Ref(), Role: messages.RoleLSP,
		Mark: mark, Launcher: w.leaf, Table: w.leaf, Grace: procscan.Grace{}})))
	w.Tell(messages.Launch{Spec: spec, Start: messages.Start{Limit: limit}})
	return w
}

func (w *world) Choices() []explore.Choice {
	choices := w.Desk.Choices()
	if w.seen.Sweeps < 2 {
		choices = append(choices, explore.Choice{Name: "Sweep", Due: w.seen.Sweeps == 0, Do: func() {
			w.seen.Sweeps++
			w.Tell(messages.Sweep{Tree: tree})
		}})
	}
	if w.seen.Signals < 1 {
		choices = append(choices, explore.Choice{Name: "SignalTree", Do: func() {
			w.seen.Signals++
			w.Tell(messages.SignalTree{Tree: tree, Signal: syscall.SIGINT})
		}})
	}
	if w.state == "launching" && !w.seen.Late {
		choices = append(choices, explore.Choice{Name: "the launch takes too long", Do: func() {
			w.seen.Late = true
			explore.Pass(limit)
		}})
	}
	if w.state == "backoff" {
		choices = append(choices, explore.Choice{Name: "the back-off is over", Due: true, Do: func() { explore.Pass(time.Second) }})
	}
	return choices
}

func (w *world) State() explore.State {
	return explore.State{Actor: w.Actor(), World: []any{w.seen, w.leaf.facts}, Owed: w.Owed(),
		Opaque: []string{"Sweeper.cfg", "Sweeper.started", "Sweeper.child", "Sweeper.attempt", "Sweeper.failed", "Sweeper.cause", "Machine.since"}}
}

func (w *world) Check() error {
	for _, msg := range w.Observer.Take() {
		if published, ok := msg.(messages.Publish); ok {
			w.state = published.Snapshot.(messages.TreeSnapshot).State
		}
	}
	for _, msg := range w.Parent.Take() {
		switch msg := msg.(type) {
		case messages.Down:
			return msg.Reason
		case messages.LeaderReaped, messages.LaunchFailed:
			w.seen.Above++
		}
	}
	for _, msg := range w.owner.Take() {
		if err := w.told(msg); err != nil {
			return err
		}
	}
	if w.seen.Above != w.seen.Ends {
		return errors.New("owner and Supervisor were not told the same")
	}
	return w.leaf.broken
}

// told notes what the owner hears.
func (w *world) told(msg any) error {
	ended := w.seen.Ends > 0
	switch msg.(type) {
	case messages.Launched:
		if w.seen.Launched {
			return errors.New("Launched twice")
		}
		w.seen.Launched = true
	case messages.LeaderDown:
		w.seen.Downs++
		if w.seen.Downs > 1 {
			return errors.New("LeaderDown twice")
		}
	case messages.LaunchLate:
		w.seen.LateTold = true
	case messages.LaunchFailed:
		w.seen.Ends++
		if w.seen.Launched || w.seen.LateTold {
			return errors.New("LaunchFailed after Launched or LaunchLate")
		}
	case messages.LeaderReaped:
		w.seen.Ends++
		if err := w.reaped(); err != nil {
			return err
		}
	}
	if ended {
		return fmt.Errorf("%T after the end was told", msg)
	}
	return nil
}

func (w *world) reaped() error {
	switch {
	case !w.seen.Launched && !w.seen.LateTold:
		return errors.New("LeaderReaped of a tree that was never launched")
	case w.seen.Launched && w.leaf.facts.Reaps == 0:
		return errors.New("LeaderReaped before the reap")
	case len(w.Owed()) > 0:
		return fmt.Errorf("LeaderReaped while workers are out: %v", w.Owed())
	}
	return nil
}

func (w *world) Ended() error {
	if w.seen.Ends != 1 {
		return fmt.Errorf("the end of the tree was told %d times", w.seen.Ends)
	}
	if w.seen.Launched && w.leaf.facts.Reaps != 1 {
		return fmt.Errorf("the leader was reaped %d times", w.leaf.facts.Reaps)
	}
	return nil
}

// leaf is the tree of the world's Sweeper. It keeps the laws of an end: the group is not
// signalled once it was retired, nothing is once the reap has begun, and the reap comes
// after two scans in a row that found nothing.
type leaf struct {
	world  *world
	facts  facts
	broken error
}

type facts struct {
	Stage     procscan.Stage
	Clean     int // scans in a row
	Hits      int // scans that found somebody
	Signalled bool
	Reaps     int
}

func (l *leaf) await(ctx context.Context, name string, outcomes ...string) (string, error) {
	outcome, err := l.world.Await(ctx, name, outcomes...)
	if outcome == "error" {
		err = errors.New(name + " failed")
	}
	return outcome, err
}

func (l *leaf) violate(what string) {
	if l.broken == nil {
		l.broken = errors.New(what)
	}
}

func (l *leaf) Launch(ctx context.Context, _ procscan.Spec) (procscan.Child, error) {
	_, err := l.await(ctx, "launch", "runs", "error")
	return l, err
}

func (l *leaf) Identity() procscan.Identity { return procscan.Identity{PID: 7, StartTicks: 7} }
func (l *leaf) Stdin() procscan.Pipe        { return nil }
func (l *leaf) Stdout() procscan.Pipe       { return nil }
func (l *leaf) Stderr() *procscan.Ring      { return nil }
func (l *leaf) CloseStdin() error           { return nil }
func (l *leaf) Cage() procscan.Cage         { return nil }
func (l *leaf) Diagnose() string            { return "" }
func (l *leaf) Stage() procscan.Stage       { return l.facts.Stage }
func (l *leaf) Retire()                     { l.facts.Stage = max(l.facts.Stage, procscan.Retired) }

func (l *leaf) Exited(ctx context.Context) (procscan.Status, error) {
	_, err := l.await(ctx, "leader", "exits")
	return procscan.Status{}, err
}

func (l *leaf) SignalGroup(os.Signal) error {
	switch l.facts.Stage {
	case procscan.Retired:
		l.violate("the group is signalled after its retirement")
		return procscan.ErrRetired
	case procscan.Reaping:
		l.violate("the group is signalled after the reap has begun")
		return procscan.ErrReaped
	}
	return nil
}

func (l *leaf) GroupAlive(ctx context.Context) (bool, error) {
	outcome, err := l.await(ctx, "group", "has ended", "is alive", "error")
	return outcome == "is alive", err
}

func (l *leaf) Scan(ctx context.Context, _ procscan.Mark) (procscan.Scan, error) {
	if l.facts.Stage != procscan.Retired {
		l.violate("a scan of a tree whose group is not retired, or which is being reaped")
	}
	outcome, err := l.await(ctx, "scan", "finds nobody", "finds somebody", "error")
	if outcome != "finds nobody" {
		l.facts.Clean = 0
		if err == nil {
			return procscan.Scan{Hits: []procscan.Process{escapee{l}}}, nil
		}
		return procscan.Scan{}, err
	}
	l.facts.Clean++
	return procscan.Scan{}, nil
}

func (l *leaf) Walk(context.Context) ([]procscan.Info, error) { return nil, nil }

func (l *leaf) Reap(ctx context.Context) (procscan.Status, error) {
	switch {
	case l.facts.Stage == procscan.Running:
		l.violate("the reap of a leader whose group was not retired")
	case l.facts.Clean < 2:
		l.violate("the leader is not reaped last: nothing proves that the rest of its tree has ended")
	}
	l.facts.Stage = procscan.Reaping
	_, err := l.await(ctx, "reap", "takes the status", "error")
	if err == nil {
		l.facts.Reaps++
	}
	return procscan.Status{}, err
}

// escapee is a process of the tree outside of its group. It ends at once.
type escapee struct{ leaf *leaf }

func (e escapee) Identity() procscan.Identity { return procscan.Identity{PID: 8, StartTicks: 8} }
func (e escapee) Close() error                { return nil }

func (e escapee) Signal(signal os.Signal) error {
	if e.leaf.facts.Stage != procscan.Retired {
		e.leaf.violate("a process is signalled outside of the sweep")
	}
	if slices.Contains([]os.Signal{syscall.Signal(0)}, signal) {
		return procscan.ErrGone
	}
	return nil
}
