package procscan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Mode says where in the terminal's world a child runs.
type Mode int

const (
	// Session gives the child a session of its own, without a terminal: no
	// Ctrl-C typed at hearth reaches it.
	Session Mode = iota
	// Foreground gives it a process group of its own in our session and, where
	// Stdio.Stdin is a terminal, makes that the terminal's foreground group.
	// Our own group is put back in Reap.
	Foreground
)

// Stdio says what a child's standard streams are. A nil field is a pipe of
// ours; a file is inherited as it is and stays the caller's to close.
type Stdio struct{ Stdin, Stdout, Stderr *os.File }

// Spec says what to launch.
type Spec struct {
	// Argv is the program and its arguments. Argv[0] is looked up as LookPath
	// does, in the PATH of Env.
	Argv []string
	// Dir is the working directory, an absolute path.
	Dir string
	// Env is the whole environment except for Marks; see ChildEnv.
	Env []string
	// Marks come first in the environment and replace what Env has under the
	// same names.
	Marks []Mark
	Stdio Stdio
	Mode  Mode
	// Uncaged keeps the child out of the launcher's Containment: it is to outlive
	// what is in there.
	Uncaged bool
}

// Launcher starts children. Implementations are safe for concurrent use.
type Launcher interface {
	// Launch starts what spec says. The context ends only the starting: a child
	// that was started lives on, and is the caller's to Reap. A child that
	// couldn't be started gives a *StartError.
	Launch(ctx context.Context, spec Spec) (Child, error)
}

// Pipe is our end of one of a child's standard streams. Deadlines work as with
// net.Conn; closing it ends a Read or Write that blocks.
type Pipe interface {
	io.ReadWriteCloser
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
}

// Stage says how far the end of a tree has come. It never goes back.
type Stage int

const (
	// Running: the leader's group may be signalled.
	Running Stage = iota
	// Retired: the group was ended and its number is never used again.
	Retired
	// Reaping: Reap has begun.
	Reaping
)

var (
	// ErrRetired refuses a signal to a group that was already ended.
	ErrRetired = errors.New("process group was retired: its number is not used again")
	// ErrReaped refuses a signal to a group whose leader is being reaped or was.
	ErrReaped = errors.New("leader was reaped: its process group is not signalled")
)

// Child is the leader of a tree, as its one owner sees it. What must not be
// forgotten when that owner dies lives here: whether the group was retired and
// whether the leader was reaped. Methods are safe for concurrent use.
type Child interface {
	Identity() Identity
	// Stdin and Stdout give our ends of the pipes, nil where Spec gave a file.
	Stdin() Pipe
	Stdout() Pipe
	// Stderr gives the last of what the child wrote there, nil where Spec gave
	// a file. It is drained whether anybody looks or not.
	Stderr() *Ring
	// CloseStdin closes our end of its stdin; again is harmless.
	CloseStdin() error
	// Exited blocks until the leader has ended, and leaves it a zombie; ctx
	// ends only the wait. What it wrote to stderr before is in the ring by then.
	Exited(ctx context.Context) (Status, error)
	// SignalGroup signals the leader's process group. It gives ErrRetired after
	// Retire and ErrReaped once Reap has begun.
	SignalGroup(sig os.Signal) error
	// GroupAlive reports whether any member of the leader's group lives,
	// judged by process states: zombies don't.
	GroupAlive(ctx context.Context) (bool, error)
	// Retire records that the group has ended. RetireGroup calls it.
	Retire()
	// Stage says how far the end has come.
	Stage() Stage
	// Cage gives the control group that holds the tree, nil where there is none.
	Cage() Cage
	// Reap waits until the leader has ended (ctx ends that wait), takes its exit
	// status, closes our ends of the pipes and lets go of everything that the
	// child holds here. Calling it again gives the same status.
	Reap(ctx context.Context) (Status, error)
	// Diagnose describes the child in one line for an error message: program,
	// directory and the last line of its stderr.
	Diagnose() string
}

// Cage is a container that holds a tree's processes whether they carry a mark
// or not.
type Cage interface {
	// Populated reports whether anything in it lives.
	Populated() (bool, error)
	// Kill sends SIGKILL to all that is in it.
	Kill() error
}

// Status is how a process ended.
type Status struct {
	// Code is the exit code; -1 when Signal ended it, or when nothing is known
	// because the host program waited for a child that isn't its own.
	Code int
	// Signal ended it; nil when it exited by itself.
	Signal os.Signal
}

// Success reports whether it exited with code 0.
func (s Status) Success() bool { return s.Code == 0 && s.Signal == nil }

// stolen reports that somebody else in this program took the status.
func (s Status) stolen() bool { return s.Code < 0 && s.Signal == nil }

// String gives the form of os.ProcessState: "exit status 3", "signal: killed".
func (s Status) String() string {
	switch {
	case s.Signal != nil:
		return "signal: " + s.Signal.String()
	case s.stolen():
		return "exit status unknown"
	}
	return fmt.Sprintf("exit status %d", s.Code)
}

// StartError says why a child couldn't be started.
type StartError struct {
	Argv0, Dir string
	// Diagnosis says in a few words what is wrong and with which file.
	Diagnosis string
	Err       error
}

func (e *StartError) Error() string { return fmt.Sprintf("start %s: %s", e.Argv0, e.Diagnosis) }

// Unwrap gives the kernel's answer.
func (e *StartError) Unwrap() error { return e.Err }
