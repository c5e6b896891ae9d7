// Package buildwatch runs a build, looks at its processes, and ends it when one file's
// compile or the whole build takes longer than its limit.
//
// # The tour
//
//	BuildWatch  the actor: launches the command, looks, ends (buildwatch.go, steps.go)
//	Match       which processes compile which file (match.go)
//	gate        how long each has taken, and which are over (gate.go); it is pure
//	family      who started whom: a wrapper and its compiler are one compile (family.go)
//	copyText    a daemon's build prints into events (output.go)
//
// # What is observed
//
// The build is not changed: no wrapper stands in the compiler's place. Every look goes
// through the processes that carry the tree's mark, so that a compile counts however
// it was started and whoever its parent is now. It is named by (boot, PID, start
// ticks) and timed by the kernel's own clock, which nobody sets.
//
// # No false alarm
//
// A limit is held against a process only for the time in which it may have compiled
// that file: a script that was seen before it became a compiler (exec) counts from
// then on, and while the machine is suspended nothing counts. What ends while it is
// looked at is gone, and no error. Once the command itself has ended nothing is held
// against it. A look that fails for any other reason ends the build: a watcher that
// can't see must not let it run on.
//
// # What it can't see
//
// A compile that is over between two looks. A compiler that was started with a cleared
// environment, or that takes its files from a response file (@FILE). A compiler that
// serves many files from one process, as a daemon, is one process.
package buildwatch
