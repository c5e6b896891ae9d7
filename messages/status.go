package messages

import (
	"time"

	"github.com/seed-f6977891/hearth/procscan"
)

// Snapshot is what an actor publishes of itself; a closed sum.
type Snapshot interface{ snapshot() }

// ActorSnapshot is the part that every actor's snapshot has.
type ActorSnapshot struct {
	Actor  string    // the actor's id
	Parent string    // its parent's
	State  string    // the name of the wait it is in
	Since  time.Time // when it came into that state
}

// SessionSnapshot is a language-server session's.
type SessionSnapshot struct {
	ActorSnapshot
	Key       Key
	Server    string // the server's own name and version, once it told
	Tree      TreeID
	Active    int
	Waiting   int
	LastUsed  time.Time // the end of the last operation; zero: none yet
	Documents int       // kept open
	Progress  string    // what the server says that it is doing
	Step      string    // how far a close has come
	Reason    string    // why it is ending
}

// PoolSnapshot is a REPL pool's.
type PoolSnapshot struct {
	ActorSnapshot
	Key      Key
	Mode     string // fresh or resident
	Capacity int
	Warm     int
	Active   int
	Waiting  int
	LastUsed time.Time
	Restarts int
	Reason   string
}

// WorkerSnapshot is one REPL worker's.
type WorkerSnapshot struct {
	ActorSnapshot
	Key  Key
	Tree TreeID
	Uses int
}

// TreeSnapshot is a process tree's, by its Sweeper.
type TreeSnapshot struct {
	ActorSnapshot
	Tree      TreeID
	Role      Role
	Key       Key
	Leader    procscan.Identity
	Started   time.Time
	Attempts  int                 // failed attempts to end it
	Remaining []procscan.Identity // what the last failed attempt found
	Reason    string              // why the last attempt failed
}

// CacheSnapshot is a cache's sums. Which keys it holds, and how far each is, its
// Entries say themselves: were they listed here, each change of one would cost as
// much as all of them. How many calls a key serves is in its resource's snapshot.
type CacheSnapshot struct {
	ActorSnapshot
	Kind     ResourceKind
	Limit    int64
	Occupied int64 // the weights of all keys whose Entry has not closed
	Waiting  int   // operations that wait for a slot, or for their key's end
}

// EntrySnapshot is an Entry's: one key that occupies its slot. It is retracted when
// nothing is left of the key's trees.
type EntrySnapshot struct {
	ActorSnapshot
	Key    Key
	Warm   bool // its resource takes operations
	Ending bool // it takes no further lease; its trees are ending
	Stale  bool // a newer fingerprint was seen: it ends with its last call
	Kept   int  // operations that wait for its resource
}

// BuildSnapshot is a watched build's.
type BuildSnapshot struct {
	ActorSnapshot
	Tree    TreeID
	Command string
	Running []RunningFile
	Done    int
}

// RuntimeSnapshot is the Supervisor's.
type RuntimeSnapshot struct {
	ActorSnapshot
	Trees    int
	Restarts map[string]int // of permanent actors, by name
	Guard    string         // state of the guard process; empty: none was asked for
	Limits   []string       // what this platform can't promise
	// Leftovers says how far the sweep of what dead runtimes left has come; empty: it
	// is done, or there is none to be made.
	Leftovers string
	// Adopted are orphans that came to this process and carry no mark of the runtime:
	// to which tree they belonged can't be told. They are ended at the shutdown.
	Adopted []procscan.Info
}

func (SessionSnapshot) snapshot() {}
func (PoolSnapshot) snapshot()    {}
func (WorkerSnapshot) snapshot()  {}
func (TreeSnapshot) snapshot()    {}
func (CacheSnapshot) snapshot()   {}
func (EntrySnapshot) snapshot()   {}
func (BuildSnapshot) snapshot()   {}
func (RuntimeSnapshot) snapshot() {}

// Publish replaces what the Observer knows of Key.
type Publish struct {
	Key      string // the publishing actor's id
	Snapshot Snapshot
}

// Retract makes the Observer forget Key.
type Retract struct{ Key string }

// Sampled carries the memory of all trees from one walk of the process table.
type Sampled struct {
	At    time.Time
	Trees map[TreeID]procscan.TreeSample
}

// EventKind sorts the events of a runtime.
type EventKind string

// The kinds of event.
const (
	EventLaunched    EventKind = "launched"
	EventReady       EventKind = "ready"
	EventBroken      EventKind = "broken"
	EventEvicted     EventKind = "evicted"
	EventSweepFailed EventKind = "sweep failed"
	EventReaped      EventKind = "reaped"
	EventRestarted   EventKind = "restarted"
	EventRefused     EventKind = "refused"
)

// Event is one thing that happened, for the Observer's ring of the last 256.
type Event struct {
	At     time.Time `json:"at"`
	Kind   EventKind `json:"kind"`
	Actor  string    `json:"actor"`
	Key    Key       `json:"key,omitzero"`
	Detail string    `json:"detail,omitempty"`
}

// StatusQuery asks the Observer what it knows. Project, where it is set, limits
// the answer to the resources of one canonical root.
type StatusQuery struct {
	Head
	Project string
	Reply   ReplyTo[Status]
}

// Refuse answers with err.
func (op StatusQuery) Refuse(err error) { op.Reply.Fail(err) }

// Status is the whole picture, from snapshots alone: asking changes nothing,
// starts nothing and waits for nothing.
type Status struct {
	At       time.Time
	Runtime  RuntimeSnapshot
	Caches   []CacheSnapshot
	Entries  []EntrySnapshot
	Sessions []SessionSnapshot
	Pools    []PoolSnapshot
	Workers  []WorkerSnapshot
	Trees    []TreeStatus
	Builds   []BuildSnapshot
	Events   []Event
}

// TreeStatus is a tree's snapshot with the last sample of its memory.
type TreeStatus struct {
	TreeSnapshot
	Members []procscan.Identity
	RSS     int64     // bytes, the sum of its processes' resident memory
	Sampled time.Time // zero: not sampled yet
}
