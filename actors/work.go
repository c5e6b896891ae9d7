package actors

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/seed-f6977891/hearth/messages"
)

// answer is what a worker brings back: the message, and what to do with its value
// where nobody can take it.
type answer struct {
	msg         any
	undelivered func()
}

// Go runs blocking work outside of the actor, once this turn is over. Its outcome comes
// back as the message that toMessage makes of it, in the actor's mailbox; a panic or a
// Goexit of work comes back as a *messages.PanicError. toMessage only wraps: it must not
// panic. The actor must have got every answer before it says that it is finished.
//
// undelivered, which may be nil, gets the value of an answer that found its actor
// sealed or stopped, or that was in hand when the actor failed: so a child process
// that was just started still finds an owner. It may be called with a value that
// the actor has seen.
//
// Go is called only from the actor's own goroutine.
func Go[T any](s *Self, ctx context.Context, work func(context.Context) (T, error),
	toMessage func(T, error) any, undelivered func(T)) {
	s.out++
	s.handle.actor.follow(&worker[T]{s, ctx, work, toMessage, undelivered})
}

// worker is one piece of blocking work.
type worker[T any] struct {
	self        *Self
	ctx         context.Context
	work        func(context.Context) (T, error)
	toMessage   func(T, error) any
	undelivered func(T)
}

func (w *worker[T]) run() (next turn) {
	var value T
	var err error
	normal := false
	defer func() { // runs for a return, a panic and a Goexit alike
		if !normal {
			err = workerFault(w.self, recover())
		}
		msg := &answer{msg: w.toMessage(value, err), undelivered: func() {
			if w.undelivered != nil {
				w.undelivered(value)
			}
		}}
		switch p := w.self.handle.actor; {
		case !normal:
			p.post(msg) // after a Goexit there is no runner any more
		case p.mail.put(msg):
			next = p
		}
	}()
	value, err = w.work(w.ctx)
	normal = true
	return nil
}

func workerFault(s *Self, cause any) error {
	if cause == nil {
		cause = "runtime.Goexit"
	}
	s.Log().Error("worker failed", "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
	return &messages.PanicError{Actor: s.handle.ID() + " worker", Value: fmt.Sprint(cause)}
}
