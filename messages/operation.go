package messages

import (
	"context"
	"time"

	"github.com/anthdm/hollywood/actor"
)

// Ref names an actor. Every actor has exactly one PID value, made when it is
// spawned, so that == tells whether two Refs name the same actor. Its ID holds
// kind and generation ("session/HASH#17") and is never used twice in a runtime.
type Ref = *actor.PID

// OperationID names one operation within a runtime; it is never used twice.
type OperationID uint64

// ResourceKind is what sort of child serves an operation.
type ResourceKind uint8

// The kinds of resource, each with a cache of its own.
const (
	LSP  ResourceKind = 1 // a language server
	REPL ResourceKind = 2 // a pool of REPL workers
)

func (k ResourceKind) String() string {
	switch k {
	case LSP:
		return "lsp"
	case REPL:
		return "repl"
	}
	return "unknown"
}

// Key is the identity of one shared resource.
type Key struct {
	Kind     ResourceKind `json:"kind"`
	Root     string       `json:"root"`     // the project's canonical directory: absolute, symlinks resolved
	Language string       `json:"language"` // the profile's name
}

func (k Key) String() string { return k.Kind.String() + " " + k.Language + " " + k.Root }

// Fingerprint tells two states of a project's tool chain apart. Taken is when the
// files were looked at: a slow caller's older look never replaces what a newer
// one has created.
type Fingerprint struct {
	Value string
	Taken time.Time
}

// Supersedes tells whether f proves that a resource created under old is stale.
func (f Fingerprint) Supersedes(old Fingerprint) bool {
	return f.Value != old.Value && f.Taken.After(old.Taken)
}

// Head is what every operation carries. Three clocks bound it and are never mixed
// up: AcquireBy ends the wait for a resource, Timeout starts when the resource
// takes the operation, and Ctx is the caller's own, for all of it.
type Head struct {
	ID          OperationID
	Key         Key
	Fingerprint Fingerprint
	Ctx         context.Context
	AcquireBy   time.Time
	Timeout     time.Duration
}

// Header gives the head of any operation that embeds one.
func (h Head) Header() Head { return h }

// Operation is one request from outside. It is answered exactly once and is never
// run twice; Refuse answers it with an error, whatever its answer's type.
type Operation interface {
	Header() Head
	Refuse(err error)
}

// Verdict is what an operation left behind of the resource that it used.
type Verdict uint8

// The verdicts. The zero Verdict is none of them, so a forgotten one shows.
const (
	Healthy  Verdict = 1 // the child can serve the next
	Broken   Verdict = 2 // the child is ending
	Returned Verdict = 3 // nothing was sent and nothing was answered: may be leased again, once
)

func (v Verdict) String() string {
	switch v {
	case Healthy:
		return "healthy"
	case Broken:
		return "broken"
	case Returned:
		return "returned"
	}
	return "none"
}
