package wire

import (
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// RemoteError carries the line that the daemon gave an error, where the typed error
// made of its detail says less: the daemon had wrapped it, or is of another build.
type RemoteError struct {
	Text string
	Err  error // typed
}

func (e *RemoteError) Error() string { return e.Text }
func (e *RemoteError) Unwrap() error { return e.Err }

// restore makes the typed error again that Describe was given. What it can't
// (another build's, or another program's) becomes a *messages.Error of the kind.
func (d Detail) restore(code int, line string) error {
	typed := d.typed(code)
	switch {
	case typed == nil:
		return &messages.Error{Kind: d.kindOr(code), Text: line}
	case typed.Error() == line:
		return typed
	}
	return &RemoteError{Text: line, Err: typed}
}

// kindOr is the kind, or what the code says of it where there was no detail.
func (d Detail) kindOr(code int) messages.Kind {
	if d.Kind != 0 {
		return d.Kind
	}
	switch code {
	case CodeInternal: // stands for two kinds, one of them a guess
		return messages.KindInternal
	case CodeParse, CodeInvalidRequest, CodeUnknownMethod:
		return messages.KindInvalid
	}
	for _, c := range classes {
		if c.code == code && c.reason == 0 { // a time-out is rather that than the queue's, which is retryable
			return c.kind
		}
	}
	return messages.KindInternal
}

// typed is nil where the name of the type says nothing to us.
func (d Detail) typed(code int) error {
	for _, s := range sentinels {
		if d.Error == s.name {
			return s.err
		}
	}
	switch d.Error {
	case "error":
		return &messages.Error{Kind: d.kindOr(code), Text: d.Text, Err: d.Cause.error()}
	case "request":
		return &RequestError{d.Code, d.Text}
	case "run":
		return &messages.RunError{Sent: d.Sent, Err: d.Cause.orUnknown()}
	case "busy":
		return &messages.BusyError{Project: d.Project, Waited: d.Waited.duration(), Reason: d.Reason}
	case "timeout":
		return &messages.TimeoutError{After: d.After.duration(), Progress: d.Progress, Partial: d.Partial.value()}
	case "protocol":
		return &messages.ProtocolError{Method: d.Method, Code: d.Code, Message: d.Message}
	case "launch":
		return &messages.LaunchError{Argv0: d.Program, Dir: d.Dir, Diagnosis: d.Diagnosis}
	case "exit":
		return &messages.ExitError{Identity: d.Process.identity(), Status: d.Status, StderrTail: d.Stderr}
	case "sweep":
		return &messages.SweepError{Attempt: d.Attempt, Remaining: identities(d.Remaining), Err: d.Cause.orUnknown()}
	case "unreaped":
		return &messages.UnreapedError{Trees: snapshots(d.Trees), Stuck: d.Stuck}
	case "config":
		return &messages.ConfigError{Setting: d.Setting, Value: d.Value, Want: d.Want}
	case "import":
		return &messages.ImportError{Disallowed: d.Disallowed, Allowed: d.Allowed}
	case "breach":
		return &messages.BreachError{File: d.File, Elapsed: d.Elapsed.duration(), Limit: d.Limit.duration()}
	case "panic":
		return &messages.PanicError{Actor: d.Actor, Value: d.Value}
	}
	return nil
}

// error makes a cause again.
func (d *Detail) error() error {
	if d == nil {
		return nil
	}
	return d.restore(0, d.Text)
}

// orUnknown is for errors that can't be without a cause.
func (d *Detail) orUnknown() error {
	if d == nil {
		return errors.New("unknown")
	}
	return d.error()
}

func (s Decimal) duration() time.Duration {
	return time.Duration(math.Round(float64(s) * float64(time.Second)))
}

func (p *process) identity() procscan.Identity {
	if p == nil {
		return procscan.Identity{}
	}
	return procscan.Identity{PID: p.PID, StartTicks: p.Start}
}

func identities(list []process) []procscan.Identity {
	var ids []procscan.Identity
	for _, p := range list {
		ids = append(ids, p.identity())
	}
	return ids
}

func snapshots(list []leftTree) []messages.TreeSnapshot {
	var trees []messages.TreeSnapshot
	for _, tree := range list {
		trees = append(trees, messages.TreeSnapshot{
			ActorSnapshot: messages.ActorSnapshot{State: tree.State},
			Tree:          tree.Tree, Role: tree.Role,
			Key:    messages.Key{Root: tree.Project, Language: tree.Language},
			Leader: tree.Leader.identity(), Attempts: tree.Attempts,
			Remaining: identities(tree.Remaining), Reason: tree.Reason,
		})
	}
	return trees
}

// partialMost is how large a partial result may be, in bytes. One that is larger is left
// out, so that it doesn't keep the error from fitting into a message.
const partialMost = 4 << 20

// partialOf and value know the types that a TimeoutError may carry; of another one
// only the fact of the time-out goes over the wire.
func partialOf(v any) *partial {
	var name string
	switch v.(type) {
	case string:
		name = "text"
	case []messages.Diagnostic:
		name = "diagnostics"
	case messages.DiagnosticsReport:
		name = "diagnostics report"
	case messages.RunReport:
		name = "run report"
	default:
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil || len(raw) > partialMost {
		return nil
	}
	return &partial{name, raw}
}

func (p *partial) value() any {
	if p == nil {
		return nil
	}
	switch p.Type {
	case "text":
		return decoded[string](p.Value)
	case "diagnostics":
		return decoded[[]messages.Diagnostic](p.Value)
	case "diagnostics report":
		return decoded[messages.DiagnosticsReport](p.Value)
	case "run report":
		return decoded[messages.RunReport](p.Value)
	}
	return nil
}

func decoded[T any](raw json.RawMessage) any {
	var value T
	if json.Unmarshal(raw, &value) != nil {
		return nil
	}
	return value
}
