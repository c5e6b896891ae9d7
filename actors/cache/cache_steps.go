package cache

import (
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

func (c *cache) operation(op messages.Operation) {
	if !c.In(cacheOpen) {
		op.Refuse(messages.ErrClosing)
		return
	}
	admitted := c.ledger.newClaim(op)
	c.inHand = append(c.inHand, admitted)
	admitted.head = op.Header()
	if admitted.head.Ctx.Err() != nil { // for nobody nothing is started, let alone ended
		c.refuse(admitted, outOfTime(&admitted.head, time.Now(), messages.Slot))
		return
	}
	admitted.weight = c.cfg.Weight(admitted.head.Key)
	admitted.creation = c.cfg.Creation(admitted.head.Key)
	c.carryOut(c.ledger.admit(time.Now(), admitted))
}

// carryOut does what the ledger has decided. Its sums are published first, so that
// nobody who is answered here sees them as they were before.
func (c *cache) carryOut(decisions []decision) {
	c.publishChanges()
	for _, d := range decisions {
		switch d.act {
		case grant:
			c.grant(d.claim)
		case create:
			c.spawnEntry(d.claim.row)
			c.grant(d.claim)
		case evict:
			for _, victim := range d.victims {
				c.evict(victim, "for "+d.claim.head.Key.Root)
			}
			c.wait(d.claim)
		case wait:
			c.wait(d.claim)
		case outdate:
			c.self.Send(d.victims[0].entry, messages.Outdated{})
		case refuse:
			c.refuse(d.claim, outOfTime(&d.claim.head, d.claim.since, d.reason))
		}
	}
}

func (c *cache) grant(claim *claim) {
	claim.clocks.stop()
	claim.clocks = clocks{}
	c.self.Forward(claim.row.entry, messages.Lease{Op: claim.op})
}

func (c *cache) spawnEntry(r *row) {
	handle := c.self.Spawn("entry", hashed(r.key), c.newEntry(r.key))
	r.entry = handle.Ref()
	c.entries[r.entry] = resident{r, handle}
}

// wait arms the clocks of an operation that begins to wait. They look at it first
// when it is too late for the creation that it probably needs: to wait on for a
// slot that it could no longer use would only hold up its caller.
func (c *cache) wait(claim *claim) {
	if claim.clocks.armed() {
		return
	}
	at := claim.head.AcquireBy.Add(-claim.creation)
	claim.clocks = arm(c.self, claim.head.Ctx, at, expired{claim.head.ID})
}

func (c *cache) refuse(claim *claim, reason error) {
	claim.clocks.stop()
	c.self.Event(messages.EventRefused, claim.head.Key, reason.Error())
	claim.op.Refuse(reason)
}

// evict closes a key that the ledger has ended.
func (c *cache) evict(r *row, why string) {
	if r.stale {
		why = "stale"
	}
	c.self.Event(messages.EventEvicted, r.key, why)
	c.self.Send(r.entry, messages.Close{})
}

func (c *cache) expired(msg expired) {
	claim := c.ledger.waiter(msg.id)
	if claim == nil {
		return // it was served while the message was on its way
	}
	now := time.Now()
	reason, over := c.ledger.overdue(now, claim)
	if claim.head.Ctx.Err() == nil && !over {
		claim.clocks.timer.Reset(claim.head.AcquireBy.Sub(now))
		return
	}
	if !over {
		reason = messages.Slot
	}
	c.ledger.leave(claim)
	c.publishChanges()
	c.refuse(claim, outOfTime(&claim.head, claim.since, reason))
	c.serve() // those behind may have waited only for this one's turn
}

func (c *cache) serve(fresh ...*claim) {
	c.carryOut(c.ledger.serve(time.Now(), fresh...))
}

func (c *cache) entryReady(msg messages.EntryReady) {
	if at, ok := c.entries[msg.From]; ok {
		c.self.Event(messages.EventReady, at.row.key, "")
	}
}

func (c *cache) leaseReleased(msg messages.LeaseReleased) {
	claim := c.ledger.claims[msg.ID]
	if claim == nil || claim.row == nil || claim.row.entry != msg.From {
		return // an answer that crossed the end of its Entry
	}
	r := claim.row
	if msg.Verdict == messages.Broken {
		c.broken(r, msg.Cause)
	}
	switch closeNow := c.ledger.release(time.Now(), claim, msg.Verdict); {
	case closeNow && r.stale:
		c.evict(r, "stale")
	case closeNow:
		c.self.Send(r.entry, messages.Close{})
	}
	if msg.Verdict == messages.Returned {
		c.again(claim, msg.Cause)
		c.serve(claim)
		return
	}
	c.serve()
	c.ledger.recycle(claim)
}

// again queues an operation that came back unused, at its old place; only once, and
// only while there is time, or it is told why it came back.
func (c *cache) again(claim *claim, cause error) {
	if claim.returned || !c.In(cacheOpen) || !time.Now().Before(claim.head.AcquireBy) {
		if cause == nil {
			cause = messages.ErrClosing
		}
		c.refuse(claim, cause)
		return
	}
	c.ledger.requeue(claim)
}

// broken reports a key whose resource failed, once.
func (c *cache) broken(r *row, cause error) {
	if !r.ending && cause != nil {
		c.self.Event(messages.EventBroken, r.key, cause.Error())
	}
}

func (c *cache) entryDown(msg messages.Down) {
	at, ok := c.entries[msg.From]
	if !ok {
		return
	}
	c.broken(at.row, msg.Reason)
	c.inHand = append(c.inHand, c.ledger.drop(at.row)...)
	for _, claim := range c.inHand {
		c.refuse(claim, mayHaveRun(msg.Reason))
	}
	c.serve() // what is ending counts as coming free
}

// entryGone frees the slot of an Entry of which nothing is left. Leases that were
// on their way to it come back unused.
func (c *cache) entryGone(from messages.Ref, cause error) {
	at, ok := c.entries[from]
	if !ok {
		return
	}
	at.handle.Stop()
	delete(c.entries, from)
	c.broken(at.row, cause)
	c.inHand = append(c.inHand, c.ledger.free(at.row)...)
	c.publishChanges()
	for _, claim := range c.inHand {
		c.again(claim, cause)
	}
	c.serve(c.inHand...)
	c.closeIfEmpty()
}

func (c *cache) sweepIdle() {
	if c.sweeper == nil {
		return // idle is 0: never
	}
	for _, r := range c.ledger.expire(time.Now(), c.cfg.Idle) {
		c.evict(r, "idle")
	}
	c.sweeper.Reset(sweepInterval(c.cfg.Idle))
}

// close lets what was admitted finish, and ends every key when its last lease is
// back; one that is still being created for nobody, at once.
func (c *cache) close() {
	for _, r := range c.stopServing(messages.ErrClosing) {
		c.self.Send(r.entry, messages.Close{})
	}
	c.closeIfEmpty()
}

// abort ends everything now: the Entries refuse what they hold.
func (c *cache) abort() {
	c.stopServing(messages.ErrAborted)
	for ref := range c.entries {
		c.self.Send(ref, messages.Abort{})
	}
	c.closeIfEmpty()
}

// stopServing refuses those who wait and gives the keys that can end at once.
func (c *cache) stopServing(reason error) []*row {
	waiters, ended := c.ledger.drain()
	c.inHand = append(c.inHand, waiters...)
	if c.In(cacheOpen) {
		if c.sweeper != nil {
			c.sweeper.Stop()
		}
		c.Become(cacheClosing)
	}
	for _, claim := range c.inHand {
		c.refuse(claim, reason)
	}
	return ended
}

func (c *cache) closeIfEmpty() {
	if c.In(cacheClosing) && len(c.entries) == 0 {
		c.Become(cacheClosed)
		c.self.TellParent(messages.Closed{From: c.self.Ref()})
	}
}
