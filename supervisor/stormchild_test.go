package supervisor_test

import (
	"context"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/fakes"
)

// stormObserver keeps what is in status.
type stormObserver struct{ *storm }

func (o stormObserver) Receive(msg any) {
	switch msg := msg.(type) {
	case messages.Publish:
		o.note(func() { o.published[msg.Key] = true })
	case messages.Retract:
		o.note(func() { delete(o.published, msg.Key) })
	case orderFuse:
		if !o.calm.Load() {
			panic("observer")
		}
	}
}

// brittleLauncher's children panic as often as the storm wants it, each where one
// of its calls comes from the Sweeper itself or from its workers.
type brittleLauncher struct {
	procscan.Launcher
	storm *storm
}

func (l brittleLauncher) Launch(ctx context.Context, spec procscan.Spec) (procscan.Child, error) {
	child, err := l.Launcher.Launch(ctx, spec)
	if err != nil {
		return nil, err
	}
	return brittleChild{child.(*fakes.Child), l.storm}, nil
}

type brittleChild struct {
	*fakes.Child
	storm *storm
}

func (c brittleChild) crack() {
	if c.storm.brittle.Load() > 0 && c.storm.brittle.Add(-1) >= 0 {
		panic("brittle")
	}
}

func (c brittleChild) Stdin() procscan.Pipe  { c.crack(); return c.Child.Stdin() }
func (c brittleChild) Cage() procscan.Cage   { c.crack(); return c.Child.Cage() }
func (c brittleChild) Stage() procscan.Stage { c.crack(); return c.Child.Stage() }
func (c brittleChild) CloseStdin() error     { c.crack(); return c.Child.CloseStdin() }
