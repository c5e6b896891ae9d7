package messages

import (
	"os"
	"time"

	"github.com/seed-f6977891/hearth/procscan"
)

// TreeID names one process tree within a runtime; it is never used twice.
type TreeID uint64

// Role is what a tree is for, as status shows it.
type Role string

// The roles of a tree.
const (
	RoleLSP    Role = "lsp"
	RoleREPL   Role = "repl"
	RoleHeader Role = "header"
	RoleWatch  Role = "watch"
)

// Adopt asks the Supervisor for a process tree: it enters the census before it
// exists, so that nothing is ever started that nobody would end.
type Adopt struct {
	Owner Ref
	Tree  TreeID
	Role  Role
	Key   Key
	Spec  procscan.Spec // without marks: the Supervisor adds fresh ones
	Start Start
	Grace time.Duration // between SIGTERM and SIGKILL at its end; 0: the runtime's
}

// Start says how a tree's leader is found and how long starting it may take.
type Start struct {
	// Fallbacks are further command lines, tried in order when the program of the
	// one before is not found.
	Fallbacks [][]string
	// Hint says how a program that is not found is usually installed.
	Hint string
	// Limit ends the wait for the start; LaunchLate follows. 0: no limit.
	Limit time.Duration
}

// Launch tells a Sweeper to start its tree.
type Launch struct {
	Spec  procscan.Spec
	Start Start
}

// LaunchOrphaned hands the Supervisor the outcome of a launch whose Sweeper has
// failed: a child that runs and that nobody else knows, or the error.
type LaunchOrphaned struct {
	Tree  TreeID
	Child procscan.Child
	Err   error
}

// Launched says that a tree's leader runs. Child is set only in the Supervisor's
// copy (the census must be able to hand it to a Sweeper's successor); the owner
// gets the pipes, and signals nothing.
type Launched struct {
	Tree     TreeID
	Identity procscan.Identity
	Mark     procscan.Mark
	Began    time.Time // when it was to be started: it may have run a while, and be over
	Pipes    Pipes
	Child    procscan.Child
}

// Pipes are the owner's ends of a child's standard streams. Closing them twice is
// harmless; Stderr is drained by procscan and only read here.
type Pipes struct {
	Stdin  procscan.Pipe
	Stdout procscan.Pipe
	Stderr *procscan.Ring
}

// LaunchLate says that starting took longer than Adopt.Limit; the tree is being
// ended, whether it starts still or not.
type LaunchLate struct{ Tree TreeID }

// LaunchFailed says that a tree never came to be; nothing is left of it.
type LaunchFailed struct {
	Tree TreeID
	Err  error
}

// LeaderDown says that a tree's leader has exited. It stays a zombie, and the rest
// of its tree may go on: only a Sweep ends the tree.
type LeaderDown struct {
	Tree   TreeID
	Status procscan.Status
}

// Sweep begins the end of a tree. It is sent to the Supervisor, which knows the
// Sweeper of the day, and joins an end that has begun.
type Sweep struct{ Tree TreeID }

// SignalTree sends a signal to the process group of a tree's leader, unless the end of
// the tree has begun. It is sent to the Supervisor, as Sweep is.
type SignalTree struct {
	Tree   TreeID
	Signal os.Signal
}

// SweepFailed says that one attempt to end a tree failed; the next follows by itself.
type SweepFailed struct {
	Tree  TreeID
	Cause *SweepError
}

// RetrySweep begins attempt Attempt of a Sweeper, to itself.
type RetrySweep struct{ Attempt int }

// ReapLeader makes a Sweeper reap the leader of a tree that is proved gone, to
// itself; it stays a message so that the order is the mailbox's.
type ReapLeader struct{}

// LeaderReaped says that nothing is left of a tree, and that its leader was the
// last of it to be reaped.
type LeaderReaped struct {
	Tree   TreeID
	Status procscan.Status
}

// Close asks for an orderly end: what was admitted is finished first. It joins an
// end that has begun.
type Close struct{}

// Abort asks for the end now: what was admitted is answered with ErrAborted.
type Abort struct{}

// Ready says that a child takes operations from now on.
type Ready struct{ From Ref }

// StartFailed says that a child will never take operations; Closed follows.
type StartFailed struct {
	From Ref
	Err  error
}

// Ending says that a child left its serving state without having been told to.
type Ending struct {
	From Ref
	Err  error
}

// Closed says that an actor is finished: its tree is reaped, its workers are in.
// Its owner then stops it.
type Closed struct{ From Ref }

// Down says that an actor failed; it is sealed and answers nothing more. It goes
// to the parent first, then to the Supervisor.
type Down struct {
	From    Ref
	Parent  Ref
	Reason  error
	Stack   string
	Workers int // how many of its own workers are still out
}

// WorkersIn says that the last worker of an actor that is down has returned.
type WorkersIn struct{ From Ref }

// Stopped says that an actor has ended and left the roster. The kit sends it to the
// Supervisor for every actor, in whatever way it ended.
type Stopped struct {
	From   Ref
	Parent Ref // nil for the root
}

// TreesGone says that every tree owned at or below an actor that is down is
// reaped, and that the actor is stopped: only this frees what it held.
type TreesGone struct{ From Ref }

// Republish asks an actor to publish its snapshot again, to an Observer that was
// restarted.
type Republish struct{}
