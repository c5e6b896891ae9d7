package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

const (
	startTimeout = 15 * time.Second // for a daemon that was started to answer
	startPoll    = time.Millisecond // at first
	startMost    = 25 * time.Millisecond
)

// ensure gives a connection to this build's daemon, and starts it where that is so
// wished and nobody has.
func (d *daemon) ensure(ctx context.Context) (*connection, wire.Ping, error) {
	c, ping, err := d.reach(ctx)
	if d.usable(ping, err) {
		return c, ping, err
	}
	if c != nil {
		c.end(nil)
	}
	if err := config.PrivateDir(d.paths.Dir); err != nil {
		return nil, ping, err
	}
	bootstrap, err := AwaitLock(ctx, d.paths.Lock)
	if err != nil {
		return nil, ping, err
	}
	defer bootstrap.Release()
	if c, ping, err = d.reachUndrained(ctx); d.usable(ping, err) {
		return c, ping, err
	}
	if err := d.replaceOlder(ctx); err != nil {
		return nil, ping, err
	}
	if err := d.clearAway(ctx); err != nil {
		return nil, ping, err
	}
	return d.start(ctx)
}

// usable tells whether an attempt to reach the daemon is the last word.
func (d *daemon) usable(ping wire.Ping, err error) bool {
	if d.noStart {
		return true
	}
	return err == nil && !ping.Stopping || err != nil && !errors.Is(err, ErrNotRunning)
}

// reachUndrained waits for the end of a daemon that is stopping.
func (d *daemon) reachUndrained(ctx context.Context) (*connection, wire.Ping, error) {
	for {
		c, ping, err := d.reach(ctx)
		if err != nil || !ping.Stopping {
			return c, ping, err
		}
		err = awaitGone(ctx, d.paths.Socket, ping.PID)
		c.end(nil)
		if err != nil {
			return nil, ping, err
		}
	}
}

// replaceOlder stops the daemons of older builds, each after it has finished what it
// had begun. A newer one stays: whoever runs an old build is told, and nothing else.
func (d *daemon) replaceOlder(ctx context.Context) error {
	others, err := d.others(ctx)
	for _, o := range others {
		defer o.conn.end(nil)
		if o.newerThan(d.install) {
			return o.refusal()
		}
	}
	if err != nil {
		return err
	}
	for _, o := range others {
		if err := o.stop(ctx, false); err != nil {
			return err
		}
	}
	return nil
}

func (o other) refusal() error {
	return &messages.ProtocolError{Message: fmt.Sprintf(
		"a newer build of hearth is already active (pid %d, %s); start this program again from the new build, or end that daemon with its own hearth stop",
		o.ping.PID, o.ping.InstallID)}
}

// clearAway makes the socket's path free. Whoever holds the lifetime lock without
// listening is about to end, or is stuck.
func (d *daemon) clearAway(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	lifetime, err := AwaitLock(waiting, d.paths.Lifetime)
	if err != nil && ctx.Err() == nil && waiting.Err() != nil {
		return messages.Errorf(messages.KindInternal,
			"a daemon that doesn't listen any more still runs: it holds %s; see %s, and kill it", d.paths.Lifetime, d.paths.Log)
	}
	if err != nil {
		return err
	}
	defer lifetime.Release()
	return RemoveStale(d.paths.Socket)
}

// start starts the daemon and waits until it answers. The lifetime lock is free for it;
// the bootstrap lock keeps other starters away.
func (d *daemon) start(ctx context.Context) (*connection, wire.Ping, error) {
	child, err := d.launch(ctx)
	if err != nil {
		return nil, wire.Ping{}, err
	}
	ended := make(chan procscan.Status, 1)
	go func() {
		// A daemon that outlives us is its new parent's; one that doesn't must not stay a
		// zombie. Nothing else ends this wait, not even the client's end.
		status, _ := child.Exited(context.Background())
		ended <- status
		_, _ = child.Reap(context.Background())
	}()
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	c, ping, err := d.awaitAnswer(starting, ended)
	if err == nil && ping.PID == child.Identity().PID {
		d.started(ping.PID)
	}
	if err != nil && ctx.Err() == nil {
		_ = child.SignalGroup(unix.SIGTERM) // gone already, mostly; but one that only our caller has no time for is wanted
	}
	return c, ping, err
}

func (d *daemon) awaitAnswer(ctx context.Context, ended <-chan procscan.Status) (*connection, wire.Ping, error) {
	for pause := startPoll; ; pause = min(2*pause, startMost) {
		c, ping, err := d.reach(ctx)
		if err == nil {
			return c, ping, nil
		}
		if !errors.Is(err, ErrNotRunning) {
			return nil, ping, err
		}
		select {
		case status := <-ended:
			if c, ping, err := d.reach(ctx); err == nil { // somebody's hearth serve was quicker
				return c, ping, nil
			}
			return nil, ping, messages.Errorf(messages.KindProcess, "the daemon ended as it started (%s)%s; its log is %s",
				status, lastWords(d.paths.Log), d.paths.Log)
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ping, messages.Errorf(messages.KindTimeout, "the daemon was started and did not answer within %s; its log is %s: %w",
				startTimeout, d.paths.Log, context.Cause(ctx))
		}
	}
}

// launch starts the daemon's process: in a session of its own, in the root directory,
// with nothing of ours but the environment. What it says before it has opened its log
// is appended there, and so are a crash's last words.
func (d *daemon) launch(ctx context.Context) (procscan.Child, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDONLY, 0)
	if err != nil {
		return nil, messages.Errorf(messages.KindInternal, "%w", err)
	}
	defer null.Close()
	log, err := os.OpenFile(d.paths.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, messages.Errorf(messages.KindInternal, "cannot open the daemon's log: %w", err)
	}
	defer log.Close()
	argv := append([]string{d.install.Path}, d.args...)
	argv = append(argv, "serve", "--log", d.paths.Log)
	if d.explicit {
		argv = append(argv, "--socket", d.paths.Socket)
	} else {
		argv = append(argv, "--runtime_dir", d.paths.Dir)
	}
	child, err := procscan.NewLauncher().Launch(ctx, procscan.Spec{Argv: argv, Dir: "/", Env: os.Environ(),
		Stdio: procscan.Stdio{Stdin: null, Stdout: log, Stderr: log}})
	if start := (*procscan.StartError)(nil); errors.As(err, &start) {
		return nil, &messages.LaunchError{Argv0: start.Argv0, Dir: start.Dir, Diagnosis: start.Diagnosis}
	}
	return child, err
}

// lastWordsMost is how much of a log's end is looked at for its last line.
const lastWordsMost = 2048

// lastWords is the last line of a log, for an error message.
func lastWords(log string) string {
	file, err := os.Open(log)
	if err != nil {
		return ""
	}
	defer file.Close()
	tail := make([]byte, lastWordsMost)
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	n, _ := file.ReadAt(tail, max(0, info.Size()-lastWordsMost)) // less is there, mostly
	lines := strings.Split(string(bytes.TrimSpace(tail[:n])), "\n")
	return ": " + strings.TrimSpace(lines[len(lines)-1])
}
