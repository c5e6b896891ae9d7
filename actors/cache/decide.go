package cache

import (
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// act is what becomes of a claim.
type act uint8

const (
	grant   act = iota + 1 // a lease on its key's Entry
	create                 // a lease on an Entry that is to be made
	evict                  // the victims are closed, and it waits
	wait                   // it waits
	refuse                 // it is out, with the reason
	outdate                // its key, which has leases, gets no further ones
)

// decision is one step that the Cache carries out, in the order given.
type decision struct {
	act     act
	claim   *claim
	row     *row                // the claim's key, if it occupies anything
	victims []*row              // of evict
	reason  messages.BusyReason // of refuse
}

// turn is one walk over the queue.
type turn struct {
	// spare is the room there will be when everything that is ending is gone and
	// everybody who was looked at so far has what was promised.
	spare    int64
	promised map[messages.Key]struct{} // the keys that will be created for somebody who was looked at
	blocked  bool                      // somebody needs room that nobody is about to give
}

func (t *turn) promise(key messages.Key, weight int64) {
	if t.promised == nil {
		t.promised = make(map[messages.Key]struct{})
	}
	t.promised[key] = struct{}{}
	t.spare -= weight
}

// serve decides for everybody who waits, the head first whatever its key. fresh are
// those who were not told yet that they wait. It stops at the first whose room
// nobody is about to give: nothing behind it may take what it needs, nor lease what
// has to become idle for it, or it could wait for ever.
//
// Who is promised room stops nobody, and who waits for its own key's calls to end
// stops nobody either: a call that hangs there must not hold up other projects.
func (l *ledger) serve(now time.Time, fresh ...*claim) []decision {
	clear(l.out)
	l.out = l.out[:0]
	t := turn{spare: l.limit - l.occupied + l.ending}
	for at := l.queue.first; at != nil && !t.blocked; {
		c := at.member
		at = at.next // before c may be taken out
		l.settle(now, c, &t)
	}
	for _, c := range fresh {
		if c.row == nil && !c.waiting && l.claims[c.head.ID] == c {
			l.settle(now, c, &t)
		}
	}
	return l.out
}

// settle decides first and changes afterwards.
func (l *ledger) settle(now time.Time, c *claim, t *turn) {
	d := decision{claim: c, row: l.rows[c.head.Key]}
	l.decide(now, &d, t)
	l.apply(&d)
}

// decide changes nothing but the turn: what it refuses has cost nobody anything.
func (l *ledger) decide(now time.Time, d *decision, t *turn) {
	c, r := d.claim, d.row
	left := c.head.AcquireBy.Sub(now)
	if r.serves(c) {
		switch {
		case left <= 0:
			d.act, d.reason = refuse, messages.Slot
		case t.blocked:
			d.act = wait
		default:
			d.act = grant
		}
		return
	}
	switch {
	case left < c.creation:
		d.act, d.reason = refuse, messages.CreationBudget
	case left <= 0:
		d.act, d.reason = refuse, messages.Slot
	case r != nil && !r.ending && r.leases == 0: // stale: its room is for this one
		t.spare += r.weight
		t.promise(c.head.Key, c.weight)
		d.act, d.victims = evict, []*row{r}
	case t.blocked, r != nil && !r.ending:
		d.act = wait
	default:
		d.act, d.victims = l.makeRoom(c, r, t)
	}
}

// makeRoom decides for a claim whose key has to be created, r being what is ending
// under that key, if anything is.
func (l *ledger) makeRoom(c *claim, r *row, t *turn) (act, []*row) {
	if _, ok := t.promised[c.head.Key]; ok {
		return wait, nil // and joins that creation
	}
	if t.spare >= c.weight {
		t.promise(c.head.Key, c.weight)
		if r == nil && l.limit-l.occupied >= c.weight {
			return create, nil
		}
		return wait, nil
	}
	victims := l.victims(c.weight - t.spare)
	if victims == nil {
		t.blocked = true
		return wait, nil
	}
	for _, victim := range victims {
		t.spare += victim.weight
	}
	t.promise(c.head.Key, c.weight)
	return evict, victims
}

// victims gives the idle keys that were not used for longest, enough to free need,
// or none: closing some that don't suffice would help nobody.
func (l *ledger) victims(need int64) []*row {
	var chosen []*row
	for at := l.idle.first; at != nil; at = at.next {
		chosen = append(chosen, at.member)
		if need -= at.member.weight; need <= 0 {
			return chosen
		}
	}
	return nil
}

// serves tells whether a key may be leased to a claim.
func (r *row) serves(c *claim) bool {
	return r != nil && !r.ending && !r.stale && !c.head.Fingerprint.Supersedes(r.fingerprint)
}

// apply changes the ledger as decided, and reports what the Cache has to do.
func (l *ledger) apply(d *decision) {
	c, r := d.claim, d.row
	switch d.act {
	case refuse:
		l.leave(c)
	case create:
		r = &row{key: c.head.Key, fingerprint: c.head.Fingerprint, weight: c.weight}
		r.spot.member = r
		l.rows[r.key] = r
		l.occupied += r.weight
		l.lease(c, r)
	case grant:
		if r.leases == 0 {
			l.idle.remove(&r.spot)
		}
		l.lease(c, r)
	case evict:
		l.outdate(c, r)
		for _, victim := range d.victims {
			l.end(victim)
		}
		c.waiting = true
	case wait:
		l.outdate(c, r)
		if c.waiting {
			return // it knows
		}
		c.waiting = true
	}
	l.out = append(l.out, *d)
}

// outdate marks a key that a waiting claim has seen in a newer state.
func (l *ledger) outdate(c *claim, r *row) {
	if r == nil || r.stale || !c.head.Fingerprint.Supersedes(r.fingerprint) {
		return
	}
	r.stale = true
	if r.leases > 0 {
		l.out = append(l.out, decision{act: outdate, claim: c, victims: []*row{r}})
	}
}

func (l *ledger) lease(c *claim, r *row) {
	l.queue.remove(&c.spot)
	c.row = r
	r.leases++
}

// overdue tells whether a claim has nothing more to wait for, and why: its time is
// over, or what is left is too little for the creation that it needs.
func (l *ledger) overdue(now time.Time, c *claim) (messages.BusyReason, bool) {
	left := c.head.AcquireBy.Sub(now)
	switch {
	case left <= 0:
		return messages.Slot, true
	case left <= c.creation && !l.rows[c.head.Key].serves(c):
		return messages.CreationBudget, true
	}
	return 0, false
}
