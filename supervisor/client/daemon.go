package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// daemon says which one is meant.
type daemon struct {
	install  config.Install
	paths    config.Paths
	explicit bool     // a socket of the user's choice: other builds have nothing to do with it
	args     []string // of the one that is started, beside its own
	noStart  bool
	started  func(pid int) // is told of the one that is started
}

const (
	connectTimeout = 2 * time.Second // of one attempt to connect
	pingTimeout    = 5 * time.Second
	busyPoll       = 5 * time.Millisecond // while the daemon's queue of connections is full
)

// notRunning says that nobody listens on the socket.
type notRunning struct {
	socket string
	err    error
}

func (e *notRunning) Error() string {
	return fmt.Sprintf("no daemon runs (%s: %v); hearth start starts one", e.socket, e.err)
}

// ErrorKind is KindClosed.
func (e *notRunning) ErrorKind() messages.Kind { return messages.KindClosed }

// Is makes it match ErrNotRunning, and ErrClosed as every error of its kind.
func (e *notRunning) Is(target error) bool {
	return target == ErrNotRunning || target == messages.ErrClosed
}

// ErrNotRunning says that no daemon runs, where none was to be started.
var ErrNotRunning = errors.New("no daemon runs")

// reach connects to a socket and asks who is there. The error is notRunning where the
// socket proves that nobody is.
func reach(ctx context.Context, socket string) (*connection, wire.Ping, error) {
	var ping wire.Ping
	raw, err := connect(ctx, socket)
	if err != nil {
		return nil, ping, err
	}
	c := open(raw)
	asking, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	err = c.call(asking, wire.MethodPing, nil, &ping)
	if err == nil {
		return c, ping, nil
	}
	vanished, err := c.vanished(err)
	c.end(nil)
	switch {
	case vanished: // between our connect and our ping, which may be asked again
		err = &notRunning{socket, errors.New("it has just ended")}
	case ctx.Err() != nil: // the caller's time, in which nothing but who is there was asked
		err = context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		err = &messages.TimeoutError{After: pingTimeout, Progress: "waiting for the daemon at " + socket + " to say who it is"}
	}
	return nil, ping, err
}

func connect(ctx context.Context, socket string) (*net.UnixConn, error) {
	dialer := net.Dialer{Timeout: connectTimeout}
	for {
		conn, err := dialer.DialContext(ctx, "unix", socket)
		switch {
		case err == nil:
			raw := conn.(*net.UnixConn)
			if err := wire.CheckPeer(raw); err != nil {
				_ = raw.Close()
				return nil, err
			}
			return raw, nil
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ECONNREFUSED):
			return nil, &notRunning{socket, rootCause(err)}
		case errors.Is(err, unix.EAGAIN): // its queue is full: it is there
			if err := sleep(ctx, busyPoll); err != nil {
				return nil, err
			}
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		default:
			return nil, messages.Errorf(messages.KindInternal, "cannot connect to the daemon: %w", err)
		}
	}
}

// rootCause is the kernel's answer, without the words that the layers above put around it.
func rootCause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// reach connects to this daemon and no other.
func (d *daemon) reach(ctx context.Context) (*connection, wire.Ping, error) {
	c, ping, err := reach(ctx, d.paths.Socket)
	if err == nil && !d.explicit && ping.InstallID != d.install.String() {
		c.end(nil)
		return nil, ping, &messages.ProtocolError{Message: fmt.Sprintf(
			"the daemon at %s is of another installation: %s, not %s", d.paths.Socket, ping.InstallID, d.install)}
	}
	return c, ping, err
}

// othersOf are the daemons of other builds of the installation that run.
func (d *daemon) others(ctx context.Context) ([]other, error) {
	if d.explicit {
		return nil, nil
	}
	sockets, err := d.paths.OtherBuilds(d.install)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, messages.Errorf(messages.KindInternal, "cannot look for daemons of other builds: %w", err)
	}
	var found []other
	for _, socket := range sockets {
		c, ping, err := reach(ctx, socket)
		switch {
		case errors.Is(err, ErrNotRunning):
		case err != nil:
			return found, err
		default:
			found = append(found, other{socket, c, ping})
		}
	}
	return found, nil
}

// other is a daemon of another build.
type other struct {
	socket string
	conn   *connection
	ping   wire.Ping
}

// newerThan tells which of two builds gives way. A build's text decides between two of
// the same moment, so that they never replace each other in turns.
func (o other) newerThan(install config.Install) bool {
	if o.ping.BuildGeneration != install.Generation {
		return o.ping.BuildGeneration > install.Generation
	}
	return o.ping.InstallID > install.String()
}
