package wire

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// Detail is what JSON-RPC says of an error beside its code and its line: enough to
// make the same typed error of it at the other end. Times are in seconds. Names are
// added to it, never changed.
type Detail struct {
	Kind  messages.Kind `json:"kind"`
	Error string        `json:"error,omitempty"` // the name of its type; empty: kind and line are all
	Cause *Detail       `json:"cause,omitempty"` // what it wraps, with its line in Text
	Text  string        `json:"text,omitempty"`
	Sent  bool          `json:"sent,omitempty"` // run: from there on its outcome is unknown

	Project    string              `json:"project,omitempty"`  // busy
	Reason     messages.BusyReason `json:"reason,omitempty"`   // busy
	Waited     Decimal             `json:"waited,omitempty"`   // busy
	After      Decimal             `json:"after,omitempty"`    // timeout
	Progress   string              `json:"progress,omitempty"` // timeout
	Partial    *partial            `json:"partial,omitempty"`  // timeout
	Method     string              `json:"method,omitempty"`   // protocol
	Code       int                 `json:"code,omitempty"`     // protocol
	Message    string              `json:"message,omitempty"`  // protocol
	Program    string              `json:"program,omitempty"`  // launch
	Dir        string              `json:"dir,omitempty"`      // launch
	Diagnosis  string              `json:"diagnosis,omitempty"`
	Process    *process            `json:"process,omitempty"`   // exit
	Status     string              `json:"status,omitempty"`    // exit
	Stderr     string              `json:"stderr,omitempty"`    // exit: the child's last lines
	Attempt    int                 `json:"attempt,omitempty"`   // sweep
	Remaining  []process           `json:"remaining,omitempty"` // sweep
	Trees      []leftTree          `json:"trees,omitempty"`     // unreaped
	Stuck      []string            `json:"stuck,omitempty"`     // unreaped
	Setting    string              `json:"setting,omitempty"`   // config
	Value      string              `json:"value,omitempty"`     // config, panic
	Want       string              `json:"want,omitempty"`      // config
	Disallowed []string            `json:"disallowed,omitempty"`
	Allowed    []string            `json:"allowed,omitempty"`
	File       string              `json:"file,omitempty"`    // breach
	Elapsed    Decimal             `json:"elapsed,omitempty"` // breach
	Limit      Decimal             `json:"limit,omitempty"`   // breach
	Actor      string              `json:"actor,omitempty"`   // panic
}

// process is a procscan.Identity.
type process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start_ticks"`
}

// leftTree is what an UnreapedError says of one tree.
type leftTree struct {
	Tree      messages.TreeID `json:"tree"`
	Role      messages.Role   `json:"role"`
	Project   string          `json:"project_dir"`
	Language  string          `json:"language"`
	Leader    process         `json:"leader"`
	State     string          `json:"state"`
	Attempts  int             `json:"attempts"`
	Remaining []process       `json:"remaining"`
	Reason    string          `json:"reason,omitempty"`
}

// partial is what a call had got when its time ended, with the name of its type.
type partial struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// sentinels are errors that errors.Is asks for, by their names on the wire. The
// order counts: every error of KindClosed is ErrClosed to errors.Is.
var sentinels = []struct {
	name string
	err  error
}{
	{"closing", messages.ErrClosing},
	{"aborted", messages.ErrAborted},
	{"closed", messages.ErrClosed},
	{"deadline", context.DeadlineExceeded},
	{"canceled", context.Canceled},
}

// Describe gives the detail of an error: of the first in its chain that is one of
// ours, since wrapping adds words and no meaning.
func Describe(err error) Detail {
	detail := Detail{Kind: messages.KindOf(err)}
	for ; err != nil; err = errors.Unwrap(err) {
		if detail.fill(err) {
			break
		}
	}
	return detail
}

// fill writes one error down, and reports whether it is of a type that can be.
func (d *Detail) fill(err error) bool {
	for _, s := range sentinels {
		if err == s.err {
			d.Error = s.name
			return true
		}
	}
	switch e := err.(type) {
	case *messages.Error:
		d.Error, d.Text, d.Cause = "error", e.Text, causeOf(e.Err)
	case *RequestError:
		d.Error, d.Text, d.Code = "request", e.Text, e.Code
	case *messages.RunError:
		d.Error, d.Sent, d.Cause = "run", e.Sent, causeOf(e.Err)
	case *messages.BusyError:
		d.Error, d.Project, d.Waited, d.Reason = "busy", e.Project, inSeconds(e.Waited), e.Reason
	case *messages.TimeoutError:
		d.Error, d.After, d.Progress, d.Partial = "timeout", inSeconds(e.After), e.Progress, partialOf(e.Partial)
	case *messages.ProtocolError:
		d.Error, d.Method, d.Code, d.Message = "protocol", e.Method, e.Code, e.Message
	case *messages.LaunchError:
		d.Error, d.Program, d.Dir, d.Diagnosis = "launch", e.Argv0, e.Dir, e.Diagnosis
	case *messages.ExitError:
		d.Error, d.Process, d.Status, d.Stderr = "exit", &process{e.Identity.PID, e.Identity.StartTicks}, e.Status, e.StderrTail
	case *messages.SweepError:
		d.Error, d.Attempt, d.Remaining, d.Cause = "sweep", e.Attempt, processes(e.Remaining), causeOf(e.Err)
	case *messages.UnreapedError:
		d.Error, d.Trees, d.Stuck = "unreaped", leftTrees(e.Trees), e.Stuck
	case *messages.ConfigError:
		d.Error, d.Setting, d.Value, d.Want = "config", e.Setting, e.Value, e.Want
	case *messages.ImportError:
		d.Error, d.Disallowed, d.Allowed = "import", e.Disallowed, e.Allowed
	case *messages.BreachError:
		d.Error, d.File, d.Elapsed, d.Limit = "breach", e.File, inSeconds(e.Elapsed), inSeconds(e.Limit)
	case *messages.PanicError:
		d.Error, d.Actor, d.Value = "panic", e.Actor, e.Value
	default:
		return false
	}
	return true
}

// causeOf describes what an error wraps, with its own line.
func causeOf(err error) *Detail {
	if err == nil {
		return nil
	}
	detail := Describe(err)
	detail.Text = err.Error()
	return &detail
}

func inSeconds(d time.Duration) Decimal { return Decimal(d.Seconds()) }

func processes(ids []procscan.Identity) []process {
	list := make([]process, len(ids))
	for i, id := range ids {
		list[i] = process{id.PID, id.StartTicks}
	}
	return list
}

func leftTrees(trees []messages.TreeSnapshot) []leftTree {
	list := make([]leftTree, len(trees))
	for i, tree := range trees {
		list[i] = leftTree{
			Tree: tree.Tree, Role: tree.Role, Project: tree.Key.Root, Language: tree.Key.Language,
			Leader: process{tree.Leader.PID, tree.Leader.StartTicks}, State: tree.State,
			Attempts: tree.Attempts, Remaining: processes(tree.Remaining), Reason: tree.Reason,
		}
	}
	return list
}
