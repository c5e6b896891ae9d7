package main

import (
	"errors"
	"net"
	"os"
	"strconv"
	"syscall"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/client"
)

// daemonListener is the daemon's socket.
type daemonListener struct {
	*net.UnixListener
	path string
	made os.FileInfo // of the socket's file; nil: a service manager made it, and keeps it
}

// listen makes the socket, for this user alone. The caller holds the lifetime lock; a
// socket that is there already is removed if connections to it are refused.
func listen(path string) (*daemonListener, error) {
	listener, err := bind(path)
	if errors.Is(err, syscall.EADDRINUSE) {
		if err := client.RemoveStale(path); err != nil {
			return nil, err
		}
		listener, err = bind(path)
	}
	if err != nil {
		return nil, messages.Errorf(messages.KindInternal, "cannot listen: %w", err)
	}
	listener.SetUnlinkOnClose(false) // by then the path may be another daemon's
	info, err := os.Lstat(path)
	if err != nil {
		_ = listener.Close()
		return nil, messages.Errorf(messages.KindInternal, "the socket vanished as it was made: %w", err)
	}
	return &daemonListener{listener, path, info}, nil
}

// bind makes the socket's file with its final mode: a chmod would come after the first
// moment in which others can connect. The umask is the whole process's, which has no
// other thread at work yet.
func bind(path string) (*net.UnixListener, error) {
	defer syscall.Umask(syscall.Umask(0o177))
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
}

// remove takes the socket's file away if it is still ours. Its number alone doesn't tell
// that: one that was removed gives it to the next.
func (l *daemonListener) remove() {
	if l.made == nil {
		return
	}
	info, err := os.Lstat(l.path)
	if err == nil && os.SameFile(info, l.made) && info.ModTime().Equal(l.made.ModTime()) {
		_ = os.Remove(l.path)
	}
}

// abandon is for a daemon that comes to nothing.
func (l *daemonListener) abandon() {
	l.remove()
	_ = l.Close()
}

// activationFirst is the first descriptor that a service manager hands over.
const activationFirst = 3

// activation takes over the socket that a service manager made, as sd_listen_fds(3)
// has it; nil: there is none.
func activation(environ func(string) string, pid int) (*daemonListener, error) {
	if environ("LISTEN_PID") != strconv.Itoa(pid) {
		return nil, nil
	}
	if count := environ("LISTEN_FDS"); count != "1" {
		return nil, messages.Invalidf("the service manager hands over %s sockets (LISTEN_FDS), want 1", count)
	}
	file := os.NewFile(activationFirst, "activation")
	defer file.Close()
	listener, err := net.FileListener(file)
	if err != nil {
		return nil, messages.Invalidf("what the service manager hands over is no listening socket: %w", err)
	}
	socket, ok := listener.(*net.UnixListener)
	if !ok {
		_ = listener.Close()
		return nil, messages.Invalidf("the service manager's socket is not a Unix socket: %s", listener.Addr())
	}
	socket.SetUnlinkOnClose(false)
	return &daemonListener{UnixListener: socket, path: socket.Addr().String()}, nil
}
