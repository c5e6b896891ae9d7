//go:build linux

package soak_test

import (
	"errors"
	"slices"

	"github.com/seed-f6977891/hearth/messages"
)

// excuse is something that happened to a call.
type excuse int

const (
	ownLimit    excuse = iota // its time limit was short
	ownDeadline               // its caller's deadline was near
	ownLeave                  // its caller left
	struck                    // a process of its project was killed
	upgraded                  // the daemon was replaced since the connection was made
)

// allowed are the kinds of errors that an excuse allows. A call without an excuse has a
// result.
var allowed = map[excuse][]messages.Kind{
	ownLimit: {messages.KindTimeout, messages.KindBusy},
	// Unknown is what a caller is told whose daemon doesn't say in time what came of
	// the call, and cancelled what the daemon knows of a deadline that it wasn't told.
	ownDeadline: {messages.KindTimeout, messages.KindBusy, messages.KindOutcomeUnknown, messages.KindCancelled},
	ownLeave:    {messages.KindCancelled, messages.KindOutcomeUnknown},
	// Protocol: Lean's server answers so for a file whose worker was killed.
	struck: {messages.KindProcess, messages.KindOutcomeUnknown, messages.KindProtocol},
	// Closed: the daemon was finishing. Protocol: a client of the older build is told to
	// start again. Unknown: the request was on its way as the connection closed.
	upgraded: {messages.KindClosed, messages.KindProtocol, messages.KindOutcomeUnknown},
}

// excused tells whether an error is of a kind that what happened to its call allows.
func excused(err error, excuses []excuse) bool {
	if errors.Is(err, messages.ErrAborted) { // nothing here is ended by force
		return false
	}
	return slices.ContainsFunc(excuses, func(e excuse) bool {
		return slices.Contains(allowed[e], messages.KindOf(err))
	})
}

// times says how often the code of a run may have reached a REPL.
func times(err error) (least, most int) {
	switch kind := messages.KindOf(err); {
	case err == nil:
		return 1, 1
	case messages.Retryable(err), kind == messages.KindInvalid:
		return 0, 0
	}
	return 0, 1
}
