package messages

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-f6977891/hearth/procscan"
)

// BusyReason says what a refused operation had been waiting for. It is wire
// format: append only.
type BusyReason uint8

// The reasons.
const (
	Slot           BusyReason = 1 // a slot of the cache
	CreationBudget BusyReason = 2 // too little time left to start a child
	SessionQueue   BusyReason = 3 // a turn in a language server's session
	WorkerQueue    BusyReason = 4 // an idle REPL worker
	Operations     BusyReason = 5 // max_operations are in flight
	Connections    BusyReason = 6 // max_connections are open
)

// BusyError says that an operation got no place in time. Nothing was started for
// it, and it may be tried again.
type BusyError struct {
	Project string
	Waited  time.Duration
	Reason  BusyReason
}

func (e *BusyError) Error() string {
	switch e.Reason {
	case Slot:
		return "timed out waiting for a shared project slot: " + e.Project + " (all are in use; try again, or raise max_projects)"
	case CreationBudget:
		return "not enough response budget to start a shared project slot: " + e.Project + " (give the call more time, or raise response_timeout)"
	case SessionQueue:
		return fmt.Sprintf("timed out after %s waiting for the language-server session: %s", seconds(e.Waited), e.Project)
	case WorkerQueue:
		return fmt.Sprintf("timed out after %s waiting for an idle REPL", seconds(e.Waited))
	case Operations:
		return "too many operations in flight (max_operations); try again later"
	case Connections:
		return "too many connections (max_connections); try again later"
	}
	return "busy; try again later"
}

// ErrorKind is KindBusy.
func (e *BusyError) ErrorKind() Kind { return KindBusy }

// TimeoutError says that an operation was taken and its time ended first.
// Partial is what had been published or printed by then, and is no result.
type TimeoutError struct {
	After    time.Duration
	Progress string
	Partial  any
}

func (e *TimeoutError) Error() string {
	text := "timed out after " + seconds(e.After)
	if e.Progress != "" {
		text += " (last progress: " + oneLine(e.Progress) + ")"
	}
	return text
}

// ErrorKind is KindTimeout.
func (e *TimeoutError) ErrorKind() Kind { return KindTimeout }

// ProtocolError says that a child broke its protocol, or answered a request with
// an error of its own; Code is the JSON-RPC code of the latter, else 0.
type ProtocolError struct {
	Method  string
	Code    int
	Message string
}

func (e *ProtocolError) Error() string {
	switch {
	case e.Method == "":
		return oneLine(e.Message)
	case e.Code == 0:
		return e.Method + ": " + oneLine(e.Message)
	}
	return fmt.Sprintf("%s failed [%d]: %s", e.Method, e.Code, oneLine(e.Message))
}

// ErrorKind is KindProtocol.
func (e *ProtocolError) ErrorKind() Kind { return KindProtocol }

// LaunchError says why a child could not be started.
type LaunchError struct {
	Argv0, Dir string
	Diagnosis  string // one line: what is wrong and what to do about it
}

func (e *LaunchError) Error() string {
	return fmt.Sprintf("cannot start %s in %s: %s", e.Argv0, e.Dir, oneLine(e.Diagnosis))
}

// ErrorKind is KindProcess.
func (e *LaunchError) ErrorKind() Kind { return KindProcess }

// ExitError says that a child ended although it was needed.
type ExitError struct {
	Identity   procscan.Identity
	Status     string // as a shell would say it: "exit status 3", "signal: killed"
	StderrTail string // the last lines of its standard error
}

func (e *ExitError) Error() string {
	text := fmt.Sprintf("process %d ended (%s)", e.Identity.PID, e.Status)
	if e.StderrTail != "" {
		text += ": " + oneLine(e.StderrTail)
	}
	return text
}

// ErrorKind is KindProcess.
func (e *ExitError) ErrorKind() Kind { return KindProcess }

// SweepError says that one attempt to end a tree failed; the next follows.
type SweepError struct {
	Attempt   int
	Remaining []procscan.Identity
	Err       error
}

func (e *SweepError) Error() string {
	return fmt.Sprintf("sweep %d failed, %d processes left: %s", e.Attempt, len(e.Remaining), oneLine(e.Err.Error()))
}
func (e *SweepError) Unwrap() error { return e.Err }

// ErrorKind is KindUnreaped.
func (e *SweepError) ErrorKind() Kind { return KindUnreaped }

// UnreapedError says which trees had processes left, and which actors had not
// ended, when the time of a stop was over. The sweepers go on.
type UnreapedError struct {
	Trees []TreeSnapshot
	Stuck []string
}

func (e *UnreapedError) Error() string {
	leaders := make([]string, 0, len(e.Trees))
	for _, tree := range e.Trees {
		leaders = append(leaders, fmt.Sprintf("%s %d", tree.Role, tree.Leader.PID))
	}
	return fmt.Sprintf("%d process trees are still ending (%s), %d actors stuck; run hearth sweep when this runtime has ended",
		len(e.Trees), strings.Join(leaders, ", "), len(e.Stuck))
}

// ErrorKind is KindUnreaped.
func (e *UnreapedError) ErrorKind() Kind { return KindUnreaped }

// ConfigError refuses a setting.
type ConfigError struct {
	Setting, Value string
	Want           string // what it may be
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("%s: %q is not valid, want %s", e.Setting, e.Value, e.Want)
}

// ErrorKind is KindInvalid.
func (e *ConfigError) ErrorKind() Kind { return KindInvalid }

// ImportError refuses code for what it imports; no process was touched.
type ImportError struct {
	Disallowed, Allowed []string
}

func (e *ImportError) Error() string {
	return fmt.Sprintf("Disallowed imports: %s. Allowed roots: %s",
		strings.Join(e.Disallowed, ", "), strings.Join(e.Allowed, ", "))
}

// ErrorKind is KindInvalid.
func (e *ImportError) ErrorKind() Kind { return KindInvalid }

// BreachError says which file of a watched build ran over its gate.
type BreachError struct {
	File           string // empty: the whole build
	Elapsed, Limit time.Duration
}

func (e *BreachError) Error() string {
	what := "the build"
	if e.File != "" {
		what = e.File
	}
	return fmt.Sprintf("%s ran for %s, over its limit of %s", what, seconds(e.Elapsed), seconds(e.Limit))
}

// ErrorKind is KindTimeout.
func (e *BreachError) ErrorKind() Kind { return KindTimeout }

// PanicError says that a part of the runtime failed; what it held is being ended.
type PanicError struct {
	Actor string
	Value string
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("internal fault in %s: %s", e.Actor, oneLine(e.Value))
}

// ErrorKind is KindInternal.
func (e *PanicError) ErrorKind() Kind { return KindInternal }

func seconds(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), "0"), ".") + "s"
}

// oneLine keeps errors to one line: what children print has many.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " | ")
}
