//go:build linux

// Package soak lets 32 agents work for a while with one user's daemon, while everything
// that may happen to it happens: processes are killed, files change, projects are evicted,
// calls run out of time or are cancelled, and newer builds replace the daemon.
//
//	go test ./test/soak -soak.minutes=2 [-soak.seed=N] -v
//
// Without the flag a run takes a quarter of a minute, and one of hours needs -timeout=0
// beside it. All draws come from the seed, which
// is printed; what the machine makes of them differs from run to run.
//
// # What is held
//
//   - Every call has one answer, and that is its own: a check speaks of a text that was on
//     disk while it ran, a run of the code that it sent. An error is of a kind that what
//     was done to the call may have. In a third of the projects no process is killed:
//     there a plain call has no excuse but an upgrade.
//   - The agents that share one connection (package client would drop a second answer
//     silently) see each request answered once, also those that they cancelled.
//   - Code that was answered ran once; code that was refused did not run; code whose
//     outcome is unknown ran once at most.
//   - When the daemon is stopped nothing is left of all that was started.
//   - Memory and descriptors are flat: of each daemon that lived long enough to tell, the
//     median of the last third of its life is compared with that of the first.
package soak
