package supervisor

import (
	"context"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

// Option changes what a Runtime is made of.
type Option func(*settings)

type settings struct {
	log      *slog.Logger
	launcher procscan.Launcher
	table    procscan.Table
	grace    procscan.Grace
	sample   func(context.Context) (map[string]procscan.TreeSample, error)
	members  func(context.Context, procscan.Mark) (procscan.Look, error)
	mark     procscan.Mark
	limits   []string
	keep     keep

	guarded, contained, reaps bool
}

// WithLogger makes the runtime log there; without it, it logs nothing.
func WithLogger(log *slog.Logger) Option { return func(s *settings) { s.log = log } }

// WithLauncher makes the runtime start its children by launcher, in containers for
// example. A launcher's children must carry the marks of their Spec, and be visible
// in this machine's process table.
func WithLauncher(launcher procscan.Launcher) Option {
	return func(s *settings) { s.launcher = launcher }
}

// WithGuard starts a second process of this program, which does nothing but wait for
// the death of this one, by SIGKILL for example, and then ends the trees that the
// runtime left. Without it they live on until the next start with the same
// Config.RuntimeDir. It needs [GuardMain] as the first line of main; else Start gives
// a *ConfigError.
func WithGuard() Option { return func(s *settings) { s.guarded = true } }

// WithContainment puts each tree into a control group (version 2) of its own, below
// that of this process, where the machine allows it: so that what a tree started with
// a cleared environment ends with the tree. Where it can't be had, status says why.
func WithContainment() Option { return func(s *settings) { s.contained = true } }

// WithSubreaper makes this process the parent of every orphan among its descendants,
// and reaps them: at once for what came through wake, for which the program notifies
// SIGCHLD, else within a second. Those that no sweep can find are shown in status and
// ended at the shutdown.
//
// It is for programs that are nothing but hearth: the whole process becomes a
// subreaper, for good, and every child in a session of its own that the launcher
// doesn't know of is taken for an orphan.
func WithSubreaper(wake <-chan os.Signal) Option {
	return func(s *settings) { s.reaps, s.keep.wake = true, wake }
}

// newSettings makes what the options ask for. What it has made when it fails is gone
// again.
func newSettings(cfg config.Config, opts []Option) (_ settings, err error) {
	s := settings{log: slog.New(slog.NewTextHandler(io.Discard, nil)), table: procscan.SystemTable(),
		grace: procscan.DefaultGrace, sample: func(ctx context.Context) (map[string]procscan.TreeSample, error) {
			return procscan.Sample(ctx, procscan.SessionVar)
		}, members: procscan.Members, mark: procscan.NewMark(procscan.RuntimeVar), limits: procscan.Limits()}
	for _, opt := range opts {
		opt(&s)
	}
	s.keep.cleared = new(sync.Once)
	if err := s.check(); err != nil {
		return s, err
	}
	defer func() {
		if err != nil {
			s.keep.release()
		}
	}()
	own := s.ownLauncher()
	if cfg.RuntimeDir != "" {
		if err := s.keep.enter(cfg.RuntimeDir, s.mark); err != nil {
			return s, err
		}
	}
	if s.guarded {
		s.keep.guardBy(own, s.mark)
	}
	if s.reaps {
		return s, s.keep.reapBeside(own, s.mark, &s.limits)
	}
	return s, nil
}

func (s *settings) check() error {
	switch {
	case s.guarded && !guardMainRan.Load():
		return &messages.ConfigError{Setting: "WithGuard", Value: "a program without GuardMain",
			Want: "supervisor.GuardMain() as the first line of main"}
	case s.contained && s.launcher != nil:
		return &messages.ConfigError{Setting: "WithContainment", Value: "WithLauncher", Want: "one of the two"}
	case s.reaps && s.launcher != nil:
		return &messages.ConfigError{Setting: "WithSubreaper", Value: "WithLauncher", Want: "one of the two"}
	}
	return nil
}

// ownLauncher is what starts processes here: the guard always, and the children
// unless a launcher was given for them.
func (s *settings) ownLauncher() *procscan.OSLauncher {
	var options []procscan.Option
	if s.contained {
		containment, err := procscan.NewContainment("hearth-" + s.mark.Value)
		if err == nil {
			s.keep.containment = containment
			options = append(options, procscan.WithContainment(containment))
		} else {
			s.limits = append(s.limits, "a child that clears its environment outlives its tree: "+err.Error())
		}
	}
	own := procscan.NewLauncher(options...)
	if s.launcher == nil {
		s.launcher = own
	}
	return own
}
