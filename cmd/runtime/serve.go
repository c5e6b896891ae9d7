package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f6977891/hearth/cmd/runtime/internal/rpc"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/client"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

func (a *app) serve() *cobra.Command {
	var log string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the daemon in the foreground, as a service manager does; others use hearth start",
		Args:  arguments(cobra.NoArgs, "serve [--socket PATH] [--log FILE]"),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.runServe(cmd.Context(), log) },
	}
	cmd.Flags().StringVar(&log, "log", "", "log there, 2 MiB at most and two older files, instead of to standard error")
	return cmd
}

// runServe is the daemon's whole life. It listens and answers pings first; what needs the
// engine waits until that is there.
func (a *app) runServe(ctx context.Context, log string) error {
	d := &served{app: a, began: time.Now()}
	if err := d.inherit(os.Getpid()); err != nil {
		return err
	}
	cfg, err := a.load()
	if err != nil {
		return err
	}
	if err := d.take(cfg); err != nil {
		return err
	}
	defer d.lifetime.Release()
	if err := d.settle(log); err != nil {
		d.listener.abandon()
		return err
	}
	// The context of commands ends with the first signal; a daemon takes that for the
	// wish to finish what it has begun.
	return d.run(context.WithoutCancel(ctx))
}

// inherit takes what a service manager handed over and lets go of all other descriptors
// that the program was started with: the end of a pipe, for one, would keep its reader
// waiting as long as the daemon lives. It comes first, as long as their numbers are not
// those of something else.
func (d *served) inherit(pid int) (err error) {
	d.listener, err = activation(d.app.environ, pid)
	for _, fd := range d.app.inherited {
		if fd != activationFirst || d.listener == nil {
			_ = syscall.Close(fd)
		}
	}
	d.manager = d.app.environ("NOTIFY_SOCKET")
	for _, name := range []string{"NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		_ = os.Unsetenv(name) // they are not our children's
	}
	return err
}

// take makes this process the one daemon of its installation, and listens.
func (d *served) take(cfg config.Config) (err error) {
	if d.install, err = d.app.install(); err != nil {
		return err
	}
	if d.install.Temporary() {
		return messages.Invalidf("this program was built by go run and has no lasting file for a daemon; go build -o hearth ./cmd/runtime makes one")
	}
	socket := d.app.socket
	if d.listener != nil && socket == "" {
		socket = d.listener.path
	}
	if d.paths, err = d.app.paths(cfg, d.install, socket); err != nil {
		return err
	}
	if err := config.PrivateDir(d.paths.Dir); err != nil {
		return err
	}
	var free bool
	d.lifetime, free, err = client.TryLock(d.paths.Lifetime)
	switch {
	case err != nil:
		return err
	case !free:
		return messages.Errorf(messages.KindBusy, "a daemon of this installation runs already (it holds %s); hearth status shows it, hearth stop ends it", d.paths.Lifetime)
	}
	if d.listener == nil {
		if d.listener, err = listen(d.paths.Socket); err != nil {
			d.lifetime.Release()
			return err
		}
	}
	cfg.RuntimeDir = d.paths.Dir // the list of trees is a daemon's in any case
	d.cfg = cfg
	return nil
}

// settle does what a daemon may and an embedded engine never: it makes the log and the
// working directory its own.
func (d *served) settle(log string) (err error) {
	if log != "" {
		if log, err = filepath.Abs(log); err != nil {
			return messages.Invalidf("--log %s: %w", log, err)
		}
	}
	d.log = daemonLog(log, d.app.stderr, d.cfg.LogLevel)
	if err := os.Chdir("/"); err != nil { // a relative path must not mean another file for each starter
		return messages.Errorf(messages.KindInternal, "%w", err)
	}
	return nil
}

// run serves until somebody asks for the end, or the runtime can't go on.
func (d *served) run(ctx context.Context) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	defer signal.Stop(children)

	d.stops = make(chan bool, stopsKept)
	d.settings = describe(d.cfg, d.app.origins)
	server := rpc.New(rpc.Options{Config: d.cfg, Ping: d.ping, Shutdown: d.shutdown, Log: d.log})
	go server.Serve(d.listener.UnixListener)
	runtime, err := supervisor.Start(ctx, withPathHint(d.cfg), supervisor.WithLogger(d.log), supervisor.WithGuard(),
		supervisor.WithContainment(), supervisor.WithSubreaper(children))
	if err != nil {
		d.end(server)
		return err
	}
	server.Attach(runtime)
	d.log.Info("the daemon has started", "pid", os.Getpid(), "build", d.install.String(), "socket", d.paths.Socket)
	d.notify("READY=1")

	now, failure := d.awaitEnd(runtime, signals)
	d.notify("STOPPING=1")
	err = d.drain(ctx, runtime, signals, now)
	d.end(server)
	if failure != nil {
		err = failure
	}
	d.log.Info("the daemon has ended", "reason", err)
	return err
}

// awaitEnd blocks until the end is asked for; its error is why the runtime itself can't
// go on. That is looked for: whoever would tell us may be what has failed.
func (d *served) awaitEnd(runtime *supervisor.Runtime, signals <-chan os.Signal) (now bool, failure error) {
	health := time.NewTicker(healthInterval)
	defer health.Stop()
	for {
		select {
		case now := <-d.stops:
			return now, nil
		case sig := <-signals:
			d.log.Info("asked to stop", "signal", sig.String())
			return false, nil
		case <-health.C:
			if err := runtime.Failed(); err != nil {
				d.log.Error("the runtime has failed", "reason", err)
				return true, err
			}
		}
	}
}

// drain lets the runtime finish, within stop_timeout. A second signal, or a stop --now,
// ends that: then what is left is aborted.
func (d *served) drain(ctx context.Context, runtime *supervisor.Runtime, signals <-chan os.Signal, now bool) error {
	d.stopping.Store(true)
	ctx, abort := context.WithTimeout(ctx, d.cfg.StopTimeout)
	defer abort()
	if now {
		abort()
	}
	ended := make(chan error, 1)
	go func() { ended <- runtime.Shutdown(ctx) }()
	for {
		select {
		case err := <-ended:
			return err
		case sig := <-signals:
			d.log.Info("asked again, stopping now", "signal", sig.String())
			abort()
		case now := <-d.stops:
			if now {
				abort()
			}
		}
	}
}

// end takes the socket away and lets clients have what is theirs. The lifetime lock is
// let go of last, by the caller.
func (d *served) end(server *rpc.Server) {
	d.listener.remove()
	closing, cancel := context.WithTimeout(context.Background(), lastAnswers)
	defer cancel()
	server.Close(closing, d.listener.UnixListener)
	_ = d.listener.Close()
}
