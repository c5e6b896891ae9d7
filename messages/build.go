package messages

import (
	"context"
	"os"
	"time"

	"github.com/seed-f6977891/hearth/procscan"
)

// Build is a command whose compiles are watched.
type Build struct {
	Dir      string // where it runs; files below it are named from here
	Argv     []string
	PerFile  time.Duration // one file's limit; 0: none
	Limit    time.Duration // the whole build's; 0: none
	Interval time.Duration // between two looks; 0: 250 ms
	Grace    time.Duration // between SIGTERM and SIGKILL at its end; 0: the runtime's
	Match    string        // lean, cc, go, or a regular expression with one group for the file; empty: the first three
	// Stdio is inherited by the command, which then runs in the foreground of the
	// terminal where that is one. nil: nothing to read, and what it prints comes as
	// events and in the report's tail.
	Stdio *procscan.Stdio
}

// ExitBreach is the exit code of a build that was ended because of a limit.
const ExitBreach = 124

// BuildReport is what became of a watched build.
type BuildReport struct {
	// ExitCode is the command's own as shells give it (128 and the signal's number
	// where one ended it), or ExitBreach; -1 where there is none.
	ExitCode int       `json:"exit_code"`
	Duration float64   `json:"duration_seconds"`
	BootID   string    `json:"boot_id"`  // with PID and start ticks the name of each process
	Compiles int       `json:"compiles"` // that were seen; one shorter than the interval may not be
	Breaches []Breach  `json:"breaches"`
	Slowest  []Compile `json:"slowest"` // one for each file, the slowest first
	Samples  []Compile `json:"samples"` // the last that ended, in their order
	Tail     string    `json:"output_tail,omitempty"`
}

// Breach is a limit that was exceeded.
type Breach struct {
	File    string  `json:"file,omitempty"` // empty: the whole build
	Elapsed float64 `json:"elapsed_seconds"`
	Limit   float64 `json:"limit_seconds"`
}

// Err is the breach as an error.
func (b Breach) Err() *BreachError {
	return &BreachError{File: b.File, Elapsed: inDuration(b.Elapsed), Limit: inDuration(b.Limit)}
}

func inDuration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// Compile is the process that compiled a file. Its time counts from the kernel's own
// start time, or from when it was last seen running another program, to the last look
// that saw it.
type Compile struct {
	File       string  `json:"file"`
	PID        int     `json:"pid"`
	StartTicks uint64  `json:"start_ticks"`
	Seconds    float64 `json:"seconds"`
	Peak       int64   `json:"peak_bytes"` // the most memory that it, or a process below it, had resident
}

// RunningFile is one compile that a watched build runs now.
type RunningFile struct {
	File    string  `json:"file"`
	PID     int     `json:"pid"`
	Seconds float64 `json:"seconds"`
}

// BuildEvent is what a caller hears of its build while that runs: one look's result,
// or a piece of output.
type BuildEvent struct {
	Running  []RunningFile `json:"running,omitempty"` // the slowest first
	Compiles int           `json:"compiles,omitempty"`
	Breaches []Breach      `json:"breaches,omitempty"` // the build is being ended for them
	Output   string        `json:"output,omitempty"`
}

// Interrupt, as the cause of a context's end, says that a signal ended it: a watched
// build then gets the same signal before it is ended.
type Interrupt struct{ Signal os.Signal }

func (e *Interrupt) Error() string { return "interrupted by the signal " + e.Signal.String() }

// ErrorKind is KindCancelled.
func (e *Interrupt) ErrorKind() Kind { return KindCancelled }

// WatchBuild runs a build and ends it at a limit, or when Ctx ends.
type WatchBuild struct {
	Head
	Build  Build         // without zeros that stand for a standard value
	Spec   procscan.Spec // how its command is launched, without marks
	Output *os.File      // our end of its output; nil: it has streams of its own
	Events BuildEvents
	Reply  ReplyTo[BuildOutcome]
}

// Refuse answers with err.
func (op WatchBuild) Refuse(err error) { op.Reply.Fail(err) }

// BuildOutcome is a build's report and, where it was ended for something else than a
// limit, why: a report is worth having then, too.
type BuildOutcome struct {
	Report BuildReport
	Err    error
}

// BuildEvents is where the caller of a WatchBuild hears of it, until it leaves. Looks
// that nobody takes are dropped; output is not, and whoever sends it waits. The zero
// BuildEvents discards everything.
type BuildEvents struct {
	looks  chan BuildEvent
	output chan BuildEvent
	left   chan struct{}
}

// looksKept is how many looks may wait to be taken. Half of the places are kept for
// those with a breach, of which a build has at most two.
const looksKept = 4

// NewBuildEvents makes the address of one caller.
func NewBuildEvents() BuildEvents {
	return BuildEvents{looks: make(chan BuildEvent, looksKept), output: make(chan BuildEvent), left: make(chan struct{})}
}

// Send hands over a look. It never blocks.
func (e BuildEvents) Send(event BuildEvent) {
	if len(event.Breaches) == 0 && len(e.looks) >= looksKept/2 {
		return
	}
	select {
	case e.looks <- event:
	default: // the report has every breach, too
	}
}

// SendOutput hands over a piece of output. It blocks until the caller takes it or has
// left, or ctx ends.
func (e BuildEvents) SendOutput(ctx context.Context, text string) {
	if e.output == nil {
		return
	}
	select {
	case e.output <- BuildEvent{Output: text}:
	case <-e.left:
	case <-ctx.Done():
	}
}

// Looks is where looks arrive.
func (e BuildEvents) Looks() <-chan BuildEvent { return e.looks }

// Output is where pieces of output arrive.
func (e BuildEvents) Output() <-chan BuildEvent { return e.output }

// Leave says, once, that the caller takes nothing more.
func (e BuildEvents) Leave() { close(e.left) }
