package lsp

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// failed answers a call whose worker came back with an error, or leaves it to the end
// of the whole session where the connection itself has failed. An answer of the
// server's own is one, however late.
func (s *Session) failed(c *call, err error) {
	var stream *StreamError
	var malformed *MalformedError
	var fault *messages.PanicError
	var answer *ResponseError
	s.noteCrash(c, err)
	switch {
	case errors.As(err, &stream), errors.As(err, &malformed), errors.As(err, &fault):
		c.lost = true
		s.breakdown(err)
	case c.ctx.Err() != nil && !errors.As(err, &answer):
		reason := s.timeoutError(c, err)
		s.judge(c)
		s.answer(c, func() { c.op.Refuse(reason) })
	default:
		s.answer(c, func() { c.op.Refuse(serverError(c.op, err)) })
	}
}

// answer ends a call whose worker is in. Its caller finds it ended in status, and waits
// for nobody's accounting, nor for the observer to be woken.
func (s *Session) answer(c *call, reply func()) {
	c.phase = callAnswered
	s.release(c)
	s.machine.PublishForward()
	reply()
	s.settle(c)
	s.next()
}

// leave ends a call that was answered before its last worker came in.
func (s *Session) leave(c *call) {
	s.release(c)
	s.machine.Publish()
	s.settle(c)
	s.next()
}

// release gives back a call's slot and document.
func (s *Session) release(c *call) {
	s.active--
	c.left = true
	s.lastUsed = time.Now()
	if c.claim.Path != "" {
		s.closeDocuments(s.docs.Leave(c.id, c.claim.Path, s.lastUsed))
		s.expireLater(documentIdle)
	}
}

// next begins what may begin now.
func (s *Session) next() {
	if s.machine.In(ready) && s.beginNext() {
		s.publishSoon()
	}
}

// settle tells the Entry of an answered call, unless that waits for the judgement.
func (s *Session) settle(c *call) {
	if !c.suspect {
		s.forget(c, messages.Healthy, nil)
	}
}

// forget settles a call and releases what it holds.
func (s *Session) forget(c *call, verdict messages.Verdict, cause error) {
	c.release()
	delete(s.calls, c.id)
	s.settled(c.id, verdict, cause)
}

func (s *Session) settled(id messages.OperationID, verdict messages.Verdict, cause error) {
	s.self.TellParent(messages.Settled{From: s.self.Ref(), ID: id, Verdict: verdict, Cause: cause})
}

// inOrder are all calls by their arrival.
func (s *Session) inOrder() []*call {
	return slices.SortedFunc(maps.Values(s.calls), func(a, b *call) int { return cmp.Compare(a.turn, b.turn) })
}

// errProbeCutOff says that the connection ended while a sign of life was awaited. That
// is no silence, and the end of the connection is told by itself.
var errProbeCutOff = errors.New("the connection ended first")

// judge decides whether the end of a call's time says anything about the server. One
// that had all of that time must show itself alive within probeBound, by any frame. A
// caller's own end, or a time that was partly spent in the queue, proves nothing: then
// a server is suspect only if it has owed something for long and sent nothing at all.
// A busy server of one thread isn't a dead one.
func (s *Session) judge(c *call) {
	allOfIt := errors.Is(context.Cause(c.ctx), errOutOfTime) && !c.waited
	if !c.sent || !allOfIt && s.silence() < s.cfg.Silence {
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
		alive := client.Probe(ctx)
		if !alive && ctx.Err() == nil {
			return false, errProbeCutOff
		}
		return alive, nil
	}, func(alive bool, err error) any { return probed{alive, err} }, nil)
}

// silence is for how long the server has sent nothing although it owed an answer.
func (s *Session) silence() time.Duration {
	since := s.owing
	if heard := s.client.Heard(); heard.After(since) {
		since = heard
	}
	return time.Since(since)
}

// onProbed ends the judgement. A suspect whose worker is still out keeps its place
// until that is in.
func (s *Session) onProbed(msg probed) {
	s.probing = false
	switch {
	case !s.machine.In(ready), s.cause != nil, errors.Is(msg.err, errProbeCutOff):
		return
	case msg.err != nil:
		s.breakdown(msg.err)
		return
	case !msg.alive:
		s.spare()
		s.breakdown(&messages.ProtocolError{Message: s.server + " is silent: no answer in time, and no sign of life after it"})
		return
	}
	for _, c := range s.inOrder() {
		c.doubted = false
		if !c.suspect {
			continue
		}
		c.suspect = false
		if c.left {
			s.settle(c)
		}
	}
}

// spare lets the next server serve what was begun while this one was judged, and found
// silent: it has seen none of it, or was never going to answer. A caller's own request
// is told instead, since it may be one that does something.
func (s *Session) spare() {
	for _, c := range s.calls {
		if _, query := c.op.(messages.Query); c.doubted && !query && c.phase == callBegun {
			c.sent = false
		}
	}
}

// onDocuments closes documents that nobody needs open any longer.
func (s *Session) onDocuments(msg any) {
	if !s.machine.In(ready) {
		return
	}
	switch msg := msg.(type) {
	case docsClosed:
		s.docs.Closed(msg.plan, msg.written)
		if msg.err != nil {
			s.breakdown(msg.err)
			return
		}
		s.publishSoon()
		s.next()
	case expireDocs:
		s.expiring = false
		plan, next := s.docs.Expire(time.Now())
		s.closeDocuments(plan)
		if !next.IsZero() {
			s.expireLater(time.Until(next))
		}
	}
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
func (s *Session) expireLater(idle time.Duration) {
	if !s.expiring && len(s.docs.Open()) > 0 {
		s.expiring = true
		s.machine.After(idle, expireDocs{})
	}
}
