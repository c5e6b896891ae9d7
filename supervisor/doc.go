// Package supervisor is hearth as a Go package: a runtime that owns trees of
// operating-system processes (language servers, REPLs) for many callers at once,
// and the supervision tree under it.
//
// # Using it
//
// [Start] makes a [Runtime]; nothing is launched before the first call. Calls take a
// context first, whose deadline is their whole budget, and values instead of text;
// they are safe for concurrent use, are answered exactly once, and are never run
// twice. [Runtime.Shutdown] ends everything in order, [Runtime.Close] at once. Errors
// are those of package messages, for errors.Is and errors.As.
//
// A runtime touches nothing that belongs to its host: no signal handlers, no waiting
// for foreign children, no default logger, no working directory. Two runtimes in one
// process share nothing.
//
// # The tree
//
//	supervisor            one for one
//	 |- observer          permanent; answers status from snapshots
//	 |- cache-lsp         permanent - entry/* - session/*
//	 |- cache-repl        permanent - entry/* - pool/* - worker/*
//	 |- build/*           temporary; watches one build, a copy of its question is kept
//	 `- sweeper/*         one for each process tree
//
// A permanent child that fails is restarted, once everything that was below it is
// gone; more than 5 failures in 5 s end the runtime (of the Observer: status only).
// Entries, sessions, pools and workers are never restarted: a new one takes their
// place when the next call needs it. A Sweeper that fails gets a successor over the
// same tree.
//
// # Words
//
//	tree     a child process with everything that it started, directly or not
//	leader   a tree's first process; it is reaped last
//	census   every tree that exists or may come to exist; the supervisor's
//	part     of a dead actor: the trees owned at or below it, and its descendants;
//	         only when it is empty is what the actor held free
//	closing  orderly: what was admitted is finished first
//	abort    at once: what was admitted is answered with ErrAborted
//
// # When the runtime itself dies
//
// Nothing of what follows is there unless it is asked for.
//
//	WithGuard          a second process of this program waits for our death and then ends
//	                   our trees (guard.go; guardwatch.go restarts it when it dies)
//	Config.RuntimeDir  a file under lock in trees/ tells the next start what we and our
//	                   guard left together (leftovers.go)
//	WithContainment    a control group for each tree holds also what cleared its environment
//	WithSubreaper      orphans come to this process, and those that no sweep can find are
//	                   ended with it (orphans.go)
//
// The first launch waits until the guard is there and the leftovers are gone, ten
// seconds at most (hold.go). At the end the order is the other way round: trees,
// adopted orphans, control groups, file, guard.
//
// # A call's way
//
// The caller's goroutine resolves the project, takes its fingerprint and counts the
// call against max_operations; then it asks the Cache, whose ledger grants a slot;
// the Entry forwards to the Session or Pool, which answers the caller directly.
// Settled and LeaseReleased give the slot back, behind the answer.
package supervisor
