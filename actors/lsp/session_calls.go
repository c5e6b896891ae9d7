package lsp

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// call is one operation from its arrival until it is settled.
type call struct {
	op      messages.Operation
	id      messages.OperationID
	claim   Claim // no path: it is about no document
	ctx     context.Context
	cancel  context.CancelCauseFunc
	free    func() // releases ctx's timer
	callOff func() bool
	phase   callPhase
	arrived time.Time
	plan    Plan
	text    []byte
	left    bool // it has given back slot and document: no worker of its is out
	suspect bool // answered; its verdict waits for the judgement of the server
}

// callPhase is how far a call has come.
type callPhase uint8

const (
	callQueued callPhase = iota
	callReading
	callSyncing
	callAsking   // from here on the server may have seen it
	callAnswered // it has had its reply
)

// errOutOfTime is the cause of a call's context whose own Timeout was over: it had its
// whole time.
var errOutOfTime = errors.New("its time was over")

type (
	fileRead struct {
		id   messages.OperationID
		text []byte
		err  error
	}
	synced struct {
		id      messages.OperationID
		written int
		err     error
	}
	opDone struct {
		id    messages.OperationID
		reply func()
		err   error
	}
	expired struct{ id messages.OperationID }
	overdue struct{ id messages.OperationID }
)

// onOperation takes an operation: its Timeout starts here.
func (s *Session) onOperation(op messages.Operation) {
	head := op.Header()
	if !s.machine.In(ready) {
		s.settled(head.ID, messages.Returned)
		return
	}
	c := &call{op: op, id: head.ID, claim: claimOf(op), arrived: time.Now()}
	ctx, cancel := context.WithCancelCause(head.Ctx)
	c.ctx, c.free = context.WithTimeoutCause(ctx, head.Timeout, errOutOfTime)
	c.cancel = cancel
	c.callOff = s.self.Expire(c.ctx, expired{c.id})
	s.calls[c.id] = c
	s.queue = append(s.queue, c)
	s.beginNext()
	s.machine.Publish()
}

func claimOf(op messages.Operation) Claim {
	switch op := op.(type) {
	case messages.Diagnostics:
		return Claim{Path: op.Path, LanguageID: op.LanguageID, Diagnoses: true}
	case messages.Hover:
		return Claim{Path: op.Path, LanguageID: op.LanguageID}
	case messages.Query:
		return Claim{Path: op.Path, LanguageID: op.LanguageID}
	}
	return Claim{}
}

// beginNext gives slots to the queued, oldest first; one whose document is not free is
// passed over by those of other documents.
func (s *Session) beginNext() {
	for i := 0; i < len(s.queue) && s.active < s.cfg.Parallel; {
		c := s.queue[i]
		if c.claim.Path != "" && !s.docs.Free(c.claim) {
			i++
			continue
		}
		s.queue = slices.Delete(s.queue, i, i+1)
		s.begin(c)
	}
}

func (s *Session) begin(c *call) {
	s.active++
	if c.claim.Path == "" {
		s.ask(c)
		return
	}
	c.phase = callReading
	s.docs.Enter(c.id, c.claim, time.Now())
	id, path := c.id, c.claim.Path
	actors.Go(s.self, c.ctx, func(context.Context) ([]byte, error) { return os.ReadFile(path) },
		func(text []byte, err error) any { return fileRead{id, text, err} }, nil)
}

// onCall handles what concerns one call. The answer of a worker whose call is no longer
// there was only waited for.
func (s *Session) onCall(msg any) {
	switch msg := msg.(type) {
	case fileRead:
		s.withCall(msg.id, func(c *call) { s.onFileRead(c, msg) })
	case synced:
		s.withCall(msg.id, func(c *call) { s.onSynced(c, msg) })
	case opDone:
		s.withCall(msg.id, func(c *call) { s.onOpDone(c, msg) })
	case expired:
		s.withCall(msg.id, s.onExpired)
	case overdue:
		s.withCall(msg.id, func(c *call) { s.outOfTime(c, context.Cause(c.ctx)) })
	}
	s.finish()
}

func (s *Session) withCall(id messages.OperationID, handle func(*call)) {
	if c := s.calls[id]; c != nil && s.machine.In(ready) {
		handle(c)
	}
}

func (s *Session) onFileRead(c *call, msg fileRead) {
	switch {
	case c.phase == callAnswered:
		s.leave(c)
	case msg.err != nil:
		c.refuseFile(msg.err)
		s.done(c)
	default:
		c.text = msg.text
		s.synchronise(c)
	}
}

// synchronise decides what the server must be sent so that it has the bytes that the
// call read. Where that would take the answer away from diagnostics in flight, the call
// goes back to its place in the queue.
func (s *Session) synchronise(c *call) {
	plan, ok := s.docs.Found(c.id, c.claim.Path, c.text)
	if !ok {
		c.phase = callQueued
		s.active--
		at, _ := slices.BinarySearchFunc(s.queue, c, func(a, b *call) int { return a.arrived.Compare(b.arrived) })
		s.queue = slices.Insert(s.queue, at, c)
		s.beginNext()
		return
	}
	c.plan = plan
	if plan.Empty() {
		s.docs.Sent(c.id, plan, 0)
		s.ask(c)
		s.beginNext() // the document is free again
		return
	}
	c.phase = callSyncing
	id, client, text := c.id, s.client, c.text
	actors.Go(s.self, c.ctx, func(ctx context.Context) (int, error) { return client.Sync(ctx, plan, text) },
		func(written int, err error) any { return synced{id, written, err} }, nil)
}

func (s *Session) onSynced(c *call, msg synced) {
	s.docs.Sent(c.id, c.plan, msg.written)
	switch {
	case c.phase == callAnswered:
		s.leave(c)
	case msg.err != nil:
		s.failed(c, msg.err)
	default:
		s.ask(c)
	}
	s.beginNext()
}

func (s *Session) ask(c *call) {
	c.phase = callAsking
	id, request := c.id, requestOf(s.client, s.watcher, c)
	actors.Go(s.self, c.ctx, request, func(reply func(), err error) any { return opDone{id, reply, err} }, nil)
}

// onOpDone answers a call. The reply comes first of all that is told (after what was
// published), so that its caller waits for nobody's accounting.
func (s *Session) onOpDone(c *call, msg opDone) {
	switch {
	case c.phase == callAnswered:
		s.leave(c)
	case msg.err != nil:
		s.failed(c, msg.err)
	default:
		s.lastUsed = time.Now()
		s.machine.Publish()
		msg.reply()
		s.done(c)
	}
}

// onExpired handles the end of a call's context. Its worker, if it has one, is told by
// the same context and brings the better answer.
func (s *Session) onExpired(c *call) {
	switch c.phase {
	case callQueued:
		c.op.Refuse(s.refusal(c))
		s.queue = slices.DeleteFunc(s.queue, func(other *call) bool { return other == c })
		s.forget(c, messages.Healthy)
		s.machine.Publish()
	case callAnswered:
	default:
		s.self.After(workerGrace, overdue{c.id})
	}
}

// refusal is the reason for which a call that was never begun is answered.
func (s *Session) refusal(c *call) error {
	if cause := context.Cause(c.ctx); messages.KindOf(cause) == messages.KindCancelled {
		return messages.Errorf(messages.KindCancelled, "cancelled while waiting for the language-server session: %w", cause)
	}
	return &messages.BusyError{Project: s.cfg.Key.Root, Waited: time.Since(c.arrived), Reason: messages.SessionQueue}
}

// outOfTime answers a call whose context ended while it was under way, and lets the
// server be judged. What its worker still does is waited for in answered.
func (s *Session) outOfTime(c *call, cause error) {
	if c.phase == callAnswered {
		return
	}
	c.op.Refuse(s.timeoutError(c, cause))
	c.phase = callAnswered
	s.judge(c, cause)
}
