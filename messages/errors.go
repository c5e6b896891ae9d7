package messages

import (
	"context"
	"errors"
	"fmt"
)

// Kind sorts every error that leaves the runtime. It is wire format: append only,
// and never renumber.
type Kind uint8

// The kinds.
const (
	KindInvalid        Kind = 1  // the caller's input was refused; nothing was started
	KindBusy           Kind = 2  // no slot, turn or budget in time; retryable
	KindTimeout        Kind = 3  // it ran, and its time ended first
	KindCancelled      Kind = 4  // the caller left
	KindOutcomeUnknown Kind = 5  // it may have run; never sent again
	KindClosed         Kind = 6  // the runtime, or the resource, is closing
	KindProtocol       Kind = 7  // the child broke its protocol
	KindProcess        Kind = 8  // the child failed to start, or died
	KindMemory         Kind = 9  // the child went over its memory limit
	KindUnreaped       Kind = 10 // processes were still there when the time to end them was over
	KindInternal       Kind = 11 // a fault of the runtime itself
)

var kindNames = map[Kind]string{
	KindInvalid: "invalid", KindBusy: "busy", KindTimeout: "timeout", KindCancelled: "cancelled",
	KindOutcomeUnknown: "outcome unknown", KindClosed: "closed", KindProtocol: "protocol",
	KindProcess: "process", KindMemory: "memory", KindUnreaped: "unreaped", KindInternal: "internal",
}

func (k Kind) String() string {
	if name, ok := kindNames[k]; ok {
		return name
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Error is an error that has a kind and a line, and nothing more to say.
type Error struct {
	Kind Kind
	Text string
	Err  error // what caused it, if anything did; part of Text already
}

func (e *Error) Error() string { return e.Text }
func (e *Error) Unwrap() error { return e.Err }

// ErrorKind is the error's kind; KindOf reads it.
func (e *Error) ErrorKind() Kind { return e.Kind }

// Is makes ErrClosed match every error of its kind, so that a caller may ask for
// the kind or for the very reason.
func (e *Error) Is(target error) bool {
	return target == ErrClosed && e.Kind == KindClosed
}

// Errorf makes an *Error. As with fmt.Errorf, a %w names the cause.
func Errorf(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Text: err.Error(), Err: errors.Unwrap(err)}
}

// Invalidf refuses a caller's input.
func Invalidf(format string, args ...any) *Error { return Errorf(KindInvalid, format, args...) }

// Sentinels for errors.Is, all of kind KindClosed.
var (
	ErrClosed  error = &Error{Kind: KindClosed, Text: "the runtime is closed; start another"}
	ErrClosing error = &Error{Kind: KindClosed, Text: "closing; try again when it has ended"}
	ErrAborted error = &Error{Kind: KindClosed, Text: "aborted by a forced stop"}
)

// KindOf gives the kind of any error: its own, else what a context's end means,
// else Internal. The kind of nil is 0.
func KindOf(err error) Kind {
	var kinded interface{ ErrorKind() Kind }
	switch {
	case err == nil:
		return 0
	case errors.As(err, &kinded):
		return kinded.ErrorKind()
	case errors.Is(err, context.DeadlineExceeded):
		return KindTimeout
	case errors.Is(err, context.Canceled):
		return KindCancelled
	}
	return KindInternal
}

// Retryable tells whether the same call may be made again without the risk of
// running anything twice.
func Retryable(err error) bool {
	switch KindOf(err) {
	case KindBusy:
		return true
	case KindClosed: // refused before it was begun, unless an abort cut it off
		return !errors.Is(err, ErrAborted)
	}
	return false
}
