package lsp

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// call is one operation from its arrival until it is settled.
type call struct {
	op      messages.Operation
	id      messages.OperationID
	turn    uint64 // its place among all that have arrived
	claim   Claim  // no path: it is about no document
	ctx     context.Context
	cancel  context.CancelCauseFunc // ends ctx
	callOff func() bool             // not nil: a message tells when its caller has left
	arrived time.Time
	ends    time.Time // by its own Timeout or its caller's deadline; zero: it has ended
	reason  error     // what then ends ctx

	phase   callPhase
	waited  bool // it stood in the queue, so that the server did not have all of its time
	sent    bool // the server may have seen something of it
	plan    Plan
	text    []byte
	told    uint64 // of text; see fileRead
	repeats int    // how often it was begun anew
	left    bool   // it has given back slot and document: no worker of its is out
	doubted bool   // it was begun on a server that was being judged
	suspect bool   // answered; its verdict waits for the judgement of the server
	lost    bool   // the connection ended before its answer came
}

// callPhase is how far a call has come.
type callPhase uint8

const (
	callQueued callPhase = iota
	callBegun            // it has a slot
	callAnswered
)

type (
	fileRead struct {
		id   messages.OperationID
		text []byte
		told uint64 // the last change of files that was told before
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
	alarm   struct{}
	expired struct{ id messages.OperationID }
	overdue struct{ id messages.OperationID }
)

// onOperation takes an operation: its Timeout starts here.
func (s *Session) onOperation(op messages.Operation) {
	head := op.Header()
	if !s.machine.In(ready) {
		s.settled(head.ID, messages.Returned, s.cause)
		return
	}
	s.turns++
	c := &call{op: op, id: head.ID, turn: s.turns, claim: claimOf(op), arrived: time.Now()}
	c.ctx, c.cancel = context.WithCancelCause(head.Ctx)
	s.limit(c, head)
	s.calls[c.id] = c
	s.queue = append(s.queue, c)
	s.beginNext()
	if c.phase == callQueued {
		s.wait(c)
	}
	s.publishSoon()
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

// beginNext gives slots to the queued, oldest first, and tells whether it did; one
// whose document is not free is passed over by those of other documents. Nothing is
// begun any more on a connection that has failed.
func (s *Session) beginNext() (some bool) {
	for i := 0; i < len(s.queue) && s.active < s.cfg.Parallel && s.cause == nil; {
		c := s.queue[i]
		if !s.docs.Free(c.claim) {
			i++
			continue
		}
		s.queue = slices.Delete(s.queue, i, i+1)
		s.begin(c)
		some = true
	}
	return some
}

func (s *Session) begin(c *call) {
	s.active++
	c.phase, c.doubted = callBegun, s.probing
	if c.claim.Path == "" {
		s.read(c, s.watcher)
		return
	}
	opens := !s.docs.Has(c.claim.Path)
	plan, sum, known := s.docs.Known(c.claim)
	s.docs.Enter(c.id, c.claim, time.Now())
	switch {
	case c.asksOthers(), opens: // a new file's making is to be told before that is open
		s.read(c, s.watcher)
	case known:
		s.askUnchanged(c, plan, sum)
	default:
		s.read(c, nil)
	}
}

// read reads the file of a call, if it has one, after all that watcher can tell. Then the
// call's own change is told before its didChange, and known to be in its text.
func (s *Session) read(c *call, watcher *Watcher) {
	id, read := c.id, s.reading(c.id, c.claim.Path)
	actors.Go(s.self, c.ctx, func(ctx context.Context) (fileRead, error) {
		flush(ctx, watcher)
		return read(), nil
	}, func(msg fileRead, err error) any {
		if err != nil { // it panicked
			return fileRead{id: id, err: err}
		}
		return msg
	}, nil)
}

// reading makes the function that reads the file of a call.
func (s *Session) reading(id messages.OperationID, path string) func() fileRead {
	read, changes := s.readFile, s.changes
	return func() fileRead {
		told := changes.Load()
		if path == "" {
			return fileRead{id: id, told: told}
		}
		text, err := read(path)
		return fileRead{id, text, told, err}
	}
}

// onCall handles what concerns one call. The answer of a worker whose call is no longer
// there was only waited for.
func (s *Session) onCall(msg any) {
	switch msg := msg.(type) {
	case fileRead:
		s.withCall(msg.id, func(c *call) { s.onFileRead(c, msg) })
	case unchanged:
		s.withCall(msg.id, func(c *call) { s.onUnchanged(c, msg) })
	case synced:
		s.withCall(msg.id, func(c *call) { s.onSynced(c, msg) })
	case opDone:
		s.withCall(msg.id, func(c *call) { s.onOpDone(c, msg) })
	case alarm:
		s.onAlarm()
	case expired:
		s.withCall(msg.id, s.onExpired)
	case overdue:
		s.withCall(msg.id, s.onOverdue)
	}
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
		s.answer(c, func() { c.refuseFile(msg.err) })
	case s.cause != nil: // nothing was sent: it is returned with the end of the session
	default:
		c.text, c.told = msg.text, msg.told
		s.synchronise(c)
	}
}

// synchronise decides what the server must be sent so that it has the bytes that the
// call read, and goes by no old text of others. Where that would take the answer away
// from diagnostics in flight, or is on its way already, the call goes back to its place
// in the queue.
func (s *Session) synchronise(c *call) {
	plan, ok := s.found(c)
	switch {
	case !ok:
		s.requeue(c)
	case plan.Empty():
		c.plan = plan
		s.docs.Sent(c.id, plan, 0)
		s.ask(c)
	default:
		c.plan = plan
		s.sending(c, time.Now())
		id, client, text := c.id, s.client, c.text
		actors.Go(s.self, c.ctx, func(ctx context.Context) (int, error) { return client.Sync(ctx, plan, text) },
			func(written int, err error) any { return synced{id, written, err} }, nil)
		return // the document is not free yet
	}
	s.next()
}

func (s *Session) found(c *call) (Plan, bool) {
	if c.claim.Path == "" {
		return s.docs.Tidy()
	}
	return s.docs.Found(c.id, c.claim.Path, c.text, c.told)
}

func (s *Session) requeue(c *call) {
	s.active--
	c.phase, c.text = callQueued, nil
	s.wait(c)
	at, _ := slices.BinarySearchFunc(s.queue, c, func(a, b *call) int { return cmp.Compare(a.turn, b.turn) })
	s.queue = slices.Insert(s.queue, at, c)
	s.publishSoon()
}

func (s *Session) onSynced(c *call, msg synced) {
	s.docs.Sent(c.id, c.plan, msg.written)
	switch {
	case c.phase == callAnswered:
		s.leave(c)
		return
	case msg.err != nil:
		s.failed(c, msg.err)
	default:
		s.ask(c)
	}
	s.next()
}

func (s *Session) ask(c *call) {
	s.sending(c, time.Now())
	id, doc, ask := c.id, Source{Path: c.claim.Path, Text: c.text}, requestOf(s.client, c)
	actors.Go(s.self, c.ctx, func(ctx context.Context) (func(), error) { return ask(ctx, doc) },
		func(reply func(), err error) any { return opDone{id, reply, err} }, nil)
}

// sending notes that the server is to answer from a moment on. That must be one before
// its answer can have come: what it has answered it doesn't owe.
func (s *Session) sending(c *call, from time.Time) {
	c.sent = true
	if s.client.Heard().After(s.owing) {
		s.owing = from
	}
}

func (s *Session) onOpDone(c *call, msg opDone) {
	switch {
	case c.phase == callAnswered:
		s.leave(c)
	case msg.err != nil:
		if claim, again := c.beginsAnew(msg.err); again {
			s.beginAnew(c, claim)
			return
		}
		s.failed(c, msg.err)
	default:
		s.answer(c, msg.reply)
	}
}
