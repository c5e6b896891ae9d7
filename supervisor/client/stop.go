package client

import (
	"context"
	"errors"
	"time"

	"github.com/seed-f6977891/hearth/supervisor/wire"
)

const (
	gonePoll     = 2 * time.Millisecond // at first
	gonePollMost = 50 * time.Millisecond
)

// Stopped says what StopDaemon found and did.
type Stopped struct {
	Stopping bool  `json:"stopping"`                   // this build's daemon ran, and has ended
	PID      int   `json:"pid,omitempty"`              // its
	Previous []int `json:"stopped_previous,omitempty"` // other builds' daemons, ended in its place
	Running  *bool `json:"running,omitempty"`          // false: none ran at all
}

// StopDaemon ends the shared daemon, and returns when it has ended with everything that
// it had started. Without now it first finishes what it has admitted. Where no daemon
// of this build runs, those of other builds of the installation are ended.
func (c *Client) StopDaemon(ctx context.Context, now bool) (Stopped, error) {
	conn, ping, err := c.daemon.reach(ctx)
	if err == nil {
		defer conn.end(nil)
		if err = (other{c.daemon.paths.Socket, conn, ping}).stop(ctx, now); err == nil {
			err = c.daemon.awaitReleased(ctx, ping.PID)
		}
		return Stopped{Stopping: true, PID: ping.PID}, err
	}
	var stopped Stopped
	if !errors.Is(err, ErrNotRunning) {
		return stopped, err
	}
	others, err := c.daemon.others(ctx)
	for _, o := range others {
		defer o.conn.end(nil)
		if err == nil {
			err = o.stop(ctx, now)
		}
		if err == nil {
			stopped.Previous = append(stopped.Previous, o.ping.PID)
		}
	}
	if len(stopped.Previous) == 0 {
		stopped.Running = new(bool)
	}
	return stopped, err
}

// stop asks a daemon to end and waits until it has.
func (o other) stop(ctx context.Context, now bool) error {
	err := o.conn.call(ctx, wire.MethodShutdown, wire.ShutdownParams{Now: now}, nil)
	if err != nil && !o.conn.ended() {
		return err
	}
	return awaitGone(ctx, o.socket, o.ping.PID)
}

// awaitReleased waits until a daemon that has given up its socket has let go of the
// lifetime lock, which is the last thing it does. Another one may hold that by then.
func (d *daemon) awaitReleased(ctx context.Context, pid int) error {
	for pause := gonePoll; ; pause = min(2*pause, gonePollMost) {
		lock, free, err := TryLock(d.paths.Lifetime)
		if free {
			lock.Release()
		}
		if free || err != nil {
			return err
		}
		c, ping, err := d.reach(ctx)
		if err == nil {
			c.end(nil)
			if ping.PID != pid {
				return nil
			}
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// awaitGone waits until nobody listens for a daemon any more: by then nothing that it
// had started is left. Another daemon may listen there instead.
func awaitGone(ctx context.Context, socket string, pid int) error {
	for pause := gonePoll; ; pause = min(2*pause, gonePollMost) {
		c, ping, err := reach(ctx, socket)
		if c != nil {
			c.end(nil)
		}
		if errors.Is(err, ErrNotRunning) || err == nil && ping.PID != pid {
			return nil
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}
