// Package client has the methods of supervisor.Runtime over the socket of the user's
// shared daemon, so that a host changes from an engine of its own to the shared one in
// one line:
//
//	rt, err := supervisor.Start(ctx, supervisor.DefaultConfig())
//	rt, err := client.Connect(ctx, supervisor.DefaultConfig())
//
// The values are the same, and so are the errors, for errors.Is and errors.As. The
// daemon's settings are those of whoever started it; of the configuration given here
// only runtime_dir and response_timeout count.
//
// A tour:
//
//   - client.go: Connect, the options, Shutdown and Close, which end the client and not
//     the daemon. calls.go: the calls.
//   - connection.go: one kept connection, shared by concurrent callers.
//   - daemon.go: which daemon is meant and how it is reached; start.go: how it is started
//     when none runs, and how an older build gives way; stop.go: how it is stopped.
//   - lock.go, stale.go: the locks and the rule for sockets that nobody listens on. The
//     daemon uses both itself.
//
// # What is never done twice
//
// Only a daemon that isn't there, or says that it is stopping, makes a client start
// one, and that is found out by a ping. Once a request has been given to the kernel it
// is never sent again: a connection that ends then is an error of KindOutcomeUnknown.
//
// # Starting
//
// Two locks, by flock, which the kernel lets go of when their holder dies, however it
// does: the bootstrap lock is held by whoever starts a daemon, the lifetime lock by the
// daemon as long as it lives. Under the bootstrap lock a client pings once more, makes
// older builds stop, waits until nobody holds the lifetime lock, and only then removes a
// socket on which connections are refused. Losers of the race find the winner's daemon.
package client
