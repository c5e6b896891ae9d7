package repl

import (
	"context"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// PoolConfig is one project's pool of REPL workers.
type PoolConfig struct {
	Key      messages.Key
	Workers  int           // so many at most, and so many are kept warm
	Resident bool          // a worker serves many calls; else each call gets a child of its own
	MaxUses  int           // a resident worker is replaced after so many calls; 0: never
	Startup  time.Duration // of one worker: its launch and its warm-up together
	Spec     procscan.Spec // of a worker's child, without marks
	Start    messages.Start
	Memory   Memory
	// Warm gives what every worker has to load before its first call. It may read the
	// disk, and is asked once.
	Warm func() []string
	// Protocol makes what one child speaks; its warm-up loads what Warm gave.
	Protocol func(warm []string) Protocol
	// Header is how imports are judged; nil where the language has no header to judge.
	Header *HeaderConfig
}

// HeaderConfig says which imports a call's code may have, and who reads them.
type HeaderConfig struct {
	Allowed []string      // first components of module names; nil: any
	Spec    procscan.Spec // of the header command; without Argv there is none to ask
	Start   messages.Start
}

// Memory is the limit of one worker's whole tree, and how it is measured.
type Memory struct {
	Limit int64   // bytes; 0: none
	Ratio float64 // a resident worker above this part of Limit is replaced between calls; 0: never
	// Group gives the living members of a leader's process group.
	Group func(ctx context.Context, leader procscan.Identity) ([]procscan.Identity, error)
	// Measure gives the resident memory of those that still live, in bytes.
	Measure func(ctx context.Context, members []procscan.Identity) (int64, error)
}

// NewPool makes the Pool of one project.
func NewPool(cfg PoolConfig) func(*actors.Self) actors.Behaviour {
	return func(self *actors.Self) actors.Behaviour { return &pool{cfg: cfg, self: self} }
}

type pool struct {
	cfg  PoolConfig
	self *actors.Self
}

func (p *pool) Receive(any) {}
