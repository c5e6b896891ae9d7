package lsp

import (
	"context"
	"errors"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// failed answers a call whose worker came back with an error, or leaves it to the end
// of the whole session where the connection itself has failed.
func (s *Session) failed(c *call, err error) {
	var stream *StreamError
	var malformed *MalformedError
	var fault *messages.PanicError
	switch {
	case errors.As(err, &stream), errors.As(err, &malformed), errors.As(err, &fault):
		s.breakdown(err)
	case c.ctx.Err() != nil:
		c.op.Refuse(s.timeoutError(c, err))
		c.phase = callAnswered
		s.judge(c, context.Cause(c.ctx))
		s.leave(c)
	default:
		c.op.Refuse(serverError(c.op, err))
		s.done(c)
	}
}

// done ends a call that was answered, and whose worker is in: the next may begin.
func (s *Session) done(c *call) {
	c.phase = callAnswered
	s.lastUsed = time.Now()
	s.leave(c)
}

// leave gives back the slot and the document of an answered call.
func (s *Session) leave(c *call) {
	s.active--
	c.left = true
	if c.claim.Path != "" {
		s.closeDocuments(s.docs.Leave(c.id, c.claim.Path, time.Now()))
		s.expireLater()
	}
	if !c.suspect {
		s.forget(c, messages.Healthy)
	}
	s.beginNext()
	s.machine.Publish()
}

// forget settles a call and releases what it holds.
func (s *Session) forget(c *call, verdict messages.Verdict) {
	c.callOff()
	c.free()
	c.cancel(nil)
	delete(s.calls, c.id)
	s.settled(c.id, verdict)
}

func (s *Session) settled(id messages.OperationID, verdict messages.Verdict) {
	s.self.TellParent(messages.Settled{From: s.self.Ref(), ID: id, Verdict: verdict, Cause: s.cause})
}

// judge decides whether the end of a call's time says anything about the server. After
// its whole time any frame within probeBound clears it. A caller's own end proves
// nothing: then a server is suspect only if it has sent nothing at all for long.
func (s *Session) judge(c *call, cause error) {
	wholeTime := errors.Is(cause, errOutOfTime)
	if !wholeTime && time.Since(s.client.Heard()) < s.cfg.Silence {
		return
	}
	c.suspect = true
	if s.probing {
		return
	}
	s.probing = true
	client := s.client
	actors.Go(s.self, s.self.Context(), func(ctx context.Context) (bool, error) {
		ctx, stop := context.WithTimeout(ctx, probeBound)
		defer stop()
		return client.Probe(ctx), nil
	}, func(alive bool, _ error) any { return probed{alive} }, nil)
}

// onProbed ends the judgement. A suspect whose worker is still out keeps its place
// until that is in.
func (s *Session) onProbed(alive bool) {
	s.probing = false
	if !s.machine.In(ready) {
		return
	}
	if !alive {
		s.breakdown(&messages.ProtocolError{Message: s.client.Server() + " is silent: no answer within its time, and no sign of life after it"})
		return
	}
	for _, c := range s.calls {
		if !c.suspect {
			continue
		}
		c.suspect = false
		if c.left {
			s.forget(c, messages.Healthy)
		}
	}
}

// onDocuments closes documents that nobody needs open any longer.
func (s *Session) onDocuments(msg any) {
	switch msg := msg.(type) {
	case docsClosed:
		if s.machine.In(ready) {
			s.docs.Closed(msg.plan, msg.written)
			s.beginNext()
		}
	case expireDocs:
		s.expiring = false
		if s.machine.In(ready) {
			plan, _ := s.docs.Expire(time.Now())
			s.closeDocuments(plan)
			s.expireLater()
		}
	}
	s.finish()
}

func (s *Session) closeDocuments(plan Plan) {
	if plan.Empty() {
		return
	}
	client := s.client
	actors.Go(s.self, s.self.Context(), func(ctx context.Context) (int, error) { return client.Sync(ctx, plan, nil) },
		func(written int, err error) any { return docsClosed{plan, written, err} }, nil)
}

// expireLater sets the timer for the next document to be closed, once.
func (s *Session) expireLater() {
	if s.expiring || len(s.docs.Open()) == 0 {
		return
	}
	s.expiring = true
	s.machine.After(documentIdle, expireDocs{})
}
