package supervisor

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/cache"
	"github.com/seed-f6977891/hearth/actors/observer"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

// Runtime owns process trees for many callers at once. It is safe for concurrent
// use, and two Runtimes in one process share nothing.
type Runtime struct {
	cfg        config.Config
	sys        *actors.System
	table      procscan.Table
	mark       procscan.Mark
	supervisor *actors.Handle
	observer   permanent
	lsp, repl  permanent
	operations atomic.Int64          // in flight
	closed     atomic.Bool           // Shutdown or Close was called
	failure    atomic.Pointer[error] // set once the runtime itself has failed
	rootDown   chan struct{}         // closed when the supervisor has failed
	grace      procscan.Grace
	keep       keep
}

// Start makes a runtime. ctx bounds only the starting, and no child is launched
// before the first call needs one. A configuration that breaks a rule gives a
// *ConfigError that names the setting.
func Start(ctx context.Context, cfg config.Config, opts ...Option) (*Runtime, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	set, err := newSettings(cfg, opts)
	if err != nil {
		return nil, err
	}
	rt := &Runtime{cfg: cfg, table: set.table, grace: set.grace, mark: set.mark, keep: set.keep, rootDown: make(chan struct{})}
	sys, err := actors.NewSystem(set.log, rt.rootFailed)
	if err != nil {
		set.keep.release()
		return nil, messages.Errorf(messages.KindInternal, "%w", err)
	}
	rt.sys = sys
	rt.supervisor = sys.SpawnRoot("supervisor", "main", newSupervisor(rt.options(set)))
	if err := rt.awaitStart(ctx); err != nil {
		return nil, err
	}
	return rt, nil
}

func (rt *Runtime) options(set settings) options {
	return options{launcher: set.launcher, table: set.table, grace: set.grace, sample: set.sample, mark: rt.mark,
		abortGrace: rt.cfg.AbortGrace, limits: set.limits, fail: rt.fail, keep: set.keep,
		members: set.members, bootID: procscan.BootID(),
		children: []childSpec{
			{name: "observer", create: observer.New(), at: &rt.observer, observer: true},
			{name: "cache-lsp", create: cache.New(rt.lspCache()), at: &rt.lsp},
			{name: "cache-repl", create: cache.New(rt.replCache()), at: &rt.repl},
		}}
}

// awaitStart waits until the permanent children have their addresses.
func (rt *Runtime) awaitStart(ctx context.Context) error {
	reply := messages.NewReplyTo[struct{}]()
	rt.supervisor.Send(started{reply})
	select {
	case <-reply.Answer():
		return nil
	case <-rt.rootDown:
		_ = rt.Close() // it has no tree
		return rt.Failed()
	case <-ctx.Done():
		err := context.Cause(ctx)
		_ = rt.Close() // it has no tree
		return messages.Errorf(messages.KindOf(err), "starting was called off: %w", err)
	}
}

// fail notes why later calls are refused. It runs on an actor's goroutine and only
// stores.
func (rt *Runtime) fail(reason error) { rt.failure.CompareAndSwap(nil, &reason) }

// Failed gives the reason for which the runtime can't go on, nil while it can. A
// program whose runtime has failed should Close it and start another.
func (rt *Runtime) Failed() error {
	if reason := rt.failure.Load(); reason != nil {
		return *reason
	}
	return nil
}

// Shutdown ends the runtime in order: new calls are refused, admitted ones finish,
// every tree is ended and reaped. When ctx ends first, what is left is aborted;
// what then still lives after abort_grace is told in an *UnreapedError. The
// sweepers go on in any case, as long as this process lives.
func (rt *Runtime) Shutdown(ctx context.Context) error {
	rt.closed.Store(true)
	reply := messages.NewReplyTo[struct{}]()
	rt.supervisor.Send(shutdown{ctx, reply})
	return rt.awaitEnd(reply)
}

// Close ends the runtime at once: calls in flight are answered with ErrAborted,
// trees are ended without asking their servers. Its error is as Shutdown's.
func (rt *Runtime) Close() error {
	rt.closed.Store(true)
	reply := messages.NewReplyTo[struct{}]()
	rt.supervisor.Send(abort{reply})
	return rt.awaitEnd(reply)
}

func (rt *Runtime) awaitEnd(reply messages.ReplyTo[struct{}]) error {
	select {
	case result := <-reply.Answer():
		if result.Err == nil {
			rt.supervisor.Stop()
			<-rt.supervisor.Done()
			rt.keep.release()
		}
		return result.Err
	case <-rt.supervisor.Done(): // another Shutdown or Close has ended it
		rt.keep.release()
		return nil
	case <-rt.rootDown:
		return rt.sweepAll()
	}
}

// rootFailed notes that the supervisor itself has failed: nobody is left to end
// what it held but Close.
func (rt *Runtime) rootFailed(reason error) {
	rt.fail(messages.Errorf(messages.KindInternal, "the runtime has failed: %w; close it and start another", reason))
	close(rt.rootDown)
}

// sweepPause is between two attempts to end what a failed supervisor has left.
const sweepPause = 20 * time.Millisecond

// sweepAll ends everything that carries the runtime's mark, without any actor, and
// stops the actors that are left.
func (rt *Runtime) sweepAll() error {
	ctx, cancel := context.WithTimeout(context.Background(), rt.cfg.AbortGrace)
	defer cancel()
	err := procscan.Sweep(ctx, rt.table, procscan.Target{Mark: rt.mark}, rt.grace)
	for err != nil && ctx.Err() == nil {
		time.Sleep(sweepPause)
		err = procscan.Sweep(ctx, rt.table, procscan.Target{Mark: rt.mark}, rt.grace)
	}
	if err == nil {
		rt.reapLeaders(ctx)
		err = rt.keep.empty(ctx, rt.grace)
	}
	if err == nil {
		rt.keep.release()
	}
	for _, h := range rt.sys.Roster().Live() {
		h.Stop()
	}
	if err != nil {
		return &messages.UnreapedError{Stuck: []string{err.Error()}}
	}
	return nil
}

// reapLeaders lets the Sweepers finish, which have not failed: the leaders that were
// ended are zombies of this process, and each holds descriptors in it.
func (rt *Runtime) reapLeaders(ctx context.Context) {
	for _, h := range rt.sys.Roster().Live() {
		h.Send(messages.Sweep{}) // means something to Sweepers alone
	}
	for ctx.Err() == nil {
		if status, err := rt.status(ctx, ""); err != nil || len(status.Trees) == 0 {
			return
		}
		time.Sleep(sweepPause)
	}
}
