package lsp

import (
	"context"
	"errors"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// stderrLines is how many of a failed server's last lines an error carries.
const stderrLines = 10

// breakdown begins the end of a server that failed. A pipe that ended is mostly the
// first sign of a dead process, whose exit status says more and gets a moment to arrive.
// Of a connection that this side ended, for what came over it, the exit says nothing.
func (s *Session) breakdown(err error) {
	switch {
	case !s.machine.In(initializing, ready):
	case !pipeEnded(err):
		s.broken(err)
	case s.cause == nil:
		s.ending(err)
	}
}

// ending begins nothing any more, and lets the rest come of what is known in part: the
// exit of a server whose output has ended, or what one said before it exited.
func (s *Session) ending(cause error) {
	s.cause = cause
	s.machine.After(exitWait, exitKnown{})
	s.machine.Publish()
}

// conclude ends a server whose exit is known once all that it said is read, and has
// reached those who wait for it.
func (s *Session) conclude() {
	if s.exit != nil && s.machine.In(initializing, ready) && s.client.Err() != nil && !s.awaitsAnswers() {
		s.giveUp()
	}
}

func (s *Session) awaitsAnswers() bool {
	if s.machine.In(initializing) {
		return !s.shaken
	}
	for _, c := range s.calls {
		if c.phase == callBegun && c.sent && !c.lost {
			return true
		}
	}
	return false
}

// giveUp waits no longer for the rest.
func (s *Session) giveUp() {
	if s.exit == nil {
		s.broken(s.cause)
		return
	}
	s.fail(s.exited(*s.exit))
	s.sweep()
}

// pipeEnded reports whether err only says that a pipe is closed.
func pipeEnded(err error) bool {
	var stream *StreamError
	return errors.As(err, &stream) && stream.Err != nil
}

// broken ends the server for cause: everybody who waits on it is told.
func (s *Session) broken(cause error) {
	s.fail(s.explain(cause))
	s.sweep()
}

// fail leaves the serving states unasked.
func (s *Session) fail(cause error) {
	s.cause = cause
	s.self.Event(messages.EventBroken, s.cfg.Key, cause.Error())
	if s.machine.In(ready) {
		s.self.TellParent(messages.Ending{From: s.self.Ref(), Err: cause})
	} else {
		s.self.TellParent(messages.StartFailed{From: s.self.Ref(), Err: cause})
	}
	s.leaveReady(sweeping, cause)
}

// explain turns a failure of the client's layer into an error for callers, with what
// the server last wrote to its standard error.
func (s *Session) explain(cause error) error {
	var fault *messages.PanicError
	if errors.As(cause, &fault) {
		return cause // of this side
	}
	words := ""
	if tail := s.stderr(); tail != "" {
		words = "; its last words: " + tail
	}
	var answer *ResponseError
	switch {
	case errors.As(cause, &answer):
		return &messages.ProtocolError{Method: answer.Method, Code: answer.Code, Message: answer.Message + words}
	case errors.Is(cause, context.DeadlineExceeded):
		return &messages.TimeoutError{After: s.cfg.Startup, Progress: "no answer to initialize" + words}
	}
	return &messages.ProtocolError{Message: cause.Error() + words}
}

// exited is why a server is gone that this side didn't end. One that exits because this
// side has hung up may be seen to exit before the hanging up is told of: what came over
// the connection is the reason then.
func (s *Session) exited(status procscan.Status) error {
	if s.client != nil {
		if fault := s.client.Err(); fault != nil && !pipeEnded(fault) {
			return s.explain(fault)
		}
	}
	return &messages.ExitError{Identity: s.identity, Status: status.String(), StderrTail: s.stderr()}
}

func (s *Session) stderr() string {
	if s.pipes.Stderr == nil {
		return ""
	}
	return s.pipes.Stderr.Tail(stderrLines)
}
