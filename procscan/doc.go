// Package procscan is the only part of hearth that talks to the kernel about
// processes: it starts trees of them, finds them again, and ends them.
//
// # The promise
//
// A tree is a child together with everything that it started, directly or
// not. When a tree has been ended here nothing of it lives, even if its leader
// died first, its workers moved into sessions of their own, or a build ignores
// SIGTERM. Nothing else is ever touched.
//
// # The tour
//
//	Identity   names a process: a PID with the kernel's start time (identity.go)
//	Mark       a random environment entry by which a tree is found again (mark.go)
//	Table      the machine's processes: Scan finds carriers of a mark, Walk lists all (table.go)
//	scanner    the rules by which a process is a hit, gone, unreadable or unknown (scan.go, round.go)
//	Sample     the memory of all trees from one walk (sample.go)
//	Members    what runs in one tree, with command lines and ages (members.go)
//	Launcher   starts a Child with own pipes, its own session and its marks (launch.go)
//	Child      the leader of a tree; stays a zombie until Reap (child.go)
//	RetireGroup  ends the leader's process group, politely first (group.go)
//	Sweep      ends every carrier of a mark; two clean scans prove it (sweep.go)
//	Containment  a control group per tree, where the machine allows one (contain_linux.go)
//	Reaper     adopts and reaps orphans, for a program that is nothing but hearth (reaper_linux.go)
//
// The order of an end is always the same: close stdin, RetireGroup, Sweep until
// it succeeds, Reap. The leader comes last because its zombie pins the number
// of its process group: once it is reaped the number may belong to a stranger.
//
// What no mark can prove: that a tree is gone which forks as fast as it can, or
// whose processes cleared their environment or hide it (set-user-ID programs and
// those that aren't dumpable, from all but root). A cage ends them, and the Reaper
// shows what is left where there are no control groups.
//
// # What is acted on
//
// A number is not a process: numbers are reused within a millisecond when they
// wrap around, and start times are only 10 ms fine. So an Identity is for
// names, logs and comparisons, and every signal to a single process goes
// through a pidfd that was opened before the process's environment was read
// for the last time.
//
// # Nothing of the host
//
// Unless a program asks for a Reaper, nothing here is global to the process: no
// signal handler, no wait for foreign children, no subreaper flag. The only
// goroutine is the one that drains a child's standard error, and it ends in
// Reap.
package procscan
