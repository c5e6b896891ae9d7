package cache

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// Config says what a Cache holds, and how much of it.
type Config struct {
	Kind  messages.ResourceKind
	Limit int64         // the sum of the weights that may be resident
	Idle  time.Duration // a key that nobody used for so long is closed; 0: never

	// Weight is what a key takes of Limit. What is heavier than Limit is admitted alone.
	Weight func(messages.Key) int64
	// Creation is the time that must be left of an operation's AcquireBy when its
	// key has to be created.
	Creation func(messages.Key) time.Duration

	// Resource is the kind of actor that serves a key ("session", "pool"), and
	// NewResource makes it. It answers operations, and to its Entry.
	Resource    string
	NewResource func(messages.Key) func(*actors.Self) actors.Behaviour
}

type cacheState uint8

const (
	cacheOpen cacheState = iota + 1
	cacheClosing
	cacheClosed
)

func (s cacheState) String() string {
	return [...]string{cacheOpen: "open", cacheClosing: "closing", cacheClosed: "closed"}[s]
}

var cacheLegal = actors.Legal[cacheState]{
	cacheOpen:    {cacheClosing},
	cacheClosing: {cacheClosed},
}

// cache gives out leases on its Entries as its ledger decides.
//
//	Open           | Operation     | as the ledger decides: Lease, or spawn an Entry and Lease; Close -> victims, Outdated -> what is stale; keep it and its clocks; refuse | Open
//	Open           | Operation whose caller has left | refuse                                       | Open
//	Open           | expired(id)   | refuse; serve                                                  | Open
//	Open, Closing  | EntryReady    |                                                                | same
//	Open, Closing  | LeaseReleased | release; Broken, Returned: the key is ending; Returned: queue again, once; stale or Closing, and 0 leases: Close; serve | same
//	Open, Closing  | Down          | refuse its operations, drop its leases; the slot stays         | same
//	Open, Closing  | EntryClosed, TreesGone | stop the Entry; free the slot; leases that crossed it: as Returned; serve; Closing and none left: Closed -> parent | same, Closed
//	Open           | SweepIdle     | Close where 0 leases and age >= idle                           | Open
//	Open           | Close         | refuse the waiters; Close where 0 leases                       | Closing, Closed
//	Open, Closing  | Abort         | refuse the waiters; Abort -> all Entries                       | Closing, Closed
//	Closing, Closed | Operation    | refuse                                                         | same
//	any            | Republish     | publish                                                        | same
type cache struct {
	*actors.Machine[cacheState]
	self      *actors.Self
	cfg       Config
	newEntry  func(messages.Key) func(*actors.Self) actors.Behaviour
	ledger    *ledger
	entries   map[messages.Ref]resident
	inHand    []*claim // out of the ledger, and not answered yet
	published tally
	sweeper   *time.Timer
}

// resident is an Entry with its row.
type resident struct {
	row    *row
	handle *actors.Handle
}

// tally is what a Cache's snapshot says: published again when it has changed.
type tally struct {
	occupied int64
	waiting  int
}

// New makes the actor that shares the resources of one kind.
func New(cfg Config) func(*actors.Self) actors.Behaviour {
	return newCache(cfg, func(key messages.Key) func(*actors.Self) actors.Behaviour {
		return newEntry(key, cfg.Resource, cfg.NewResource)
	})
}

func newCache(cfg Config, entries func(messages.Key) func(*actors.Self) actors.Behaviour) func(*actors.Self) actors.Behaviour {
	return func(self *actors.Self) actors.Behaviour {
		c := &cache{
			self: self, cfg: cfg, newEntry: entries,
			ledger:  newLedger(cfg.Limit),
			entries: make(map[messages.Ref]resident),
		}
		c.Machine = actors.NewMachine(self, cacheOpen, cacheLegal, c.snapshot)
		c.Publish()
		if cfg.Idle > 0 {
			c.sweeper = self.After(sweepInterval(cfg.Idle), messages.SweepIdle{})
		}
		return c
	}
}

// sweepInterval is how often a Cache looks for what is idle: often enough that
// nothing stays for much more than half as long again, and never a busy loop.
func sweepInterval(idle time.Duration) time.Duration {
	return min(time.Minute, max(time.Second, idle/2))
}

func (c *cache) Receive(msg any) {
	c.receive(msg)
	clear(c.inHand)
	c.inHand = c.inHand[:0]
}

func (c *cache) receive(msg any) {
	switch msg := msg.(type) {
	case messages.Operation:
		c.operation(msg)
	case messages.LeaseReleased:
		c.leaseReleased(msg)
	case messages.EntryReady:
		c.entryReady(msg)
	case messages.EntryClosed:
		c.entryGone(msg.From, msg.Cause)
	case messages.TreesGone:
		c.entryGone(msg.From, nil)
	case messages.Down:
		c.entryDown(msg)
	case messages.Republish:
		c.Publish()
	default:
		c.command(msg)
	}
}

// command handles what is only meant for a Cache that has not ended.
func (c *cache) command(msg any) {
	_, aborted := msg.(messages.Abort)
	switch {
	case aborted && c.In(cacheOpen, cacheClosing):
		c.abort()
	case c.In(cacheOpen):
		c.openCommand(msg)
	default:
		c.Unexpected(msg)
	}
}

func (c *cache) openCommand(msg any) {
	switch msg := msg.(type) {
	case expired:
		c.expired(msg)
	case messages.SweepIdle:
		c.sweepIdle()
	case messages.Close:
		c.close()
	default:
		c.Unexpected(msg)
	}
}

func (c *cache) snapshot() messages.Snapshot {
	return messages.CacheSnapshot{
		ActorSnapshot: c.Snapshot(),
		Kind:          c.cfg.Kind,
		Limit:         c.cfg.Limit,
		Occupied:      c.ledger.occupied,
		Waiting:       c.ledger.queue.length,
	}
}

// publishChanges publishes if the ledger's sums have changed. A lease on a warm key
// changes none of them: what such a call does is for its resource to say.
func (c *cache) publishChanges() {
	now := tally{c.ledger.occupied, c.ledger.queue.length}
	if now != c.published {
		c.published = now
		c.Publish()
	}
}

// hashed is a key's short name in the ids of the actors that serve it.
func hashed(key messages.Key) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key.String())) // never fails
	return fmt.Sprintf("%08x", h.Sum32())
}

// RefuseAll answers everything that a failed Cache holds: what waited was never
// begun, what was leased may have run.
func (c *cache) RefuseAll(cause error) {
	for _, claim := range slices.AppendSeq(c.inHand, maps.Values(c.ledger.claims)) {
		claim.clocks.stop()
		if claim.row != nil {
			claim.op.Refuse(mayHaveRun(cause))
		} else {
			claim.op.Refuse(cause)
		}
	}
}
