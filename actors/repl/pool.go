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
	Workers  int            // so many at most, and so many are kept warm
	Resident bool           // a worker serves many calls; else each call gets a child of its own
	MaxUses  int            // a resident worker is replaced after so many calls; 0: never
	Startup  time.Duration  // of one worker: its launch and its warm-up together
	Spec     procscan.Spec  // of a worker's child, without marks
	Start    messages.Start // its Limit follows from Startup
	Memory   Memory
	// Warm gives what every worker has to load before its first call. It may read the
	// disk, and is asked once. Nil: nothing.
	Warm func() []string
	// Protocol makes what one child speaks; its warm-up loads what Warm gave.
	Protocol func(warm []string) Protocol
	// Header says how imports are judged; nil where the language has no header to judge.
	Header *HeaderConfig
}

// HeaderConfig says which imports a call's code may have, and who reads them.
type HeaderConfig struct {
	Allowed []string       // first components of module names; nil: any
	Spec    procscan.Spec  // of the header command; without Argv there is none to ask
	Start   messages.Start // its Limit follows from Startup
}

// Pool keeps the REPL workers of one key and gives each call one of them. A Worker is
// one process generation: what replaces it is a new Worker in the same slot.
//
//	Starting       | prepared                | start a worker in every slot                               | Starting
//	Starting       | prepared(err)           | StartFailed, Closed -> Entry                               | Closing, Closed
//	Starting       | worker Ready            | Ready -> Entry; the others go on starting                  | Open
//	Starting       | the last worker's StartFailed, Down | StartFailed with its reason -> Entry           | Closing
//	Open           | RunCode                 | refused by its header: reply; a warm worker: hand over; else queue, Expire | Open
//	Open           | worker Ready            | serve the head, else keep in reserve                       | Open
//	Open           | answered                | publish; reply; Settled Healthy                            | Open
//	Open           | worker Settled Healthy  | it is warm again: serve the next                           | Open
//	Open           | worker Settled Broken   | its slot waits for its tree                                | Open
//	Open           | worker Settled Returned | its call back to the head of the queue                     | Open
//	Open           | worker Ending           | its slot waits for its tree; a back-off if it hardly lived | Open
//	Open           | worker StartFailed      | nothing warm or warming: refuse the queue with the reason; next start after a back-off and on demand | Open
//	Starting, Open | worker Closed           | its call, without answer: back to the head of the queue; slot empty: start the next, after the back-off if it had failed | same
//	any            | worker Down             | refuse its call (OutcomeUnknown); the slot stays taken     | same
//	any            | worker TreesGone        | as Down, then as Closed                                    | same
//	Open           | expired(id)             | in the queue: refuse; else its worker does                 | Open
//	Open           | startDue                | start what is due                                          | Open
//	any            | learned                 | remember what was learned of a header                      | same
//	Starting, Open | Close, Abort            | refuse the queue; the same -> workers                      | Closing
//	Closing        | answered                | publish; reply; Settled                                    | Closing
//	Closing        | worker Settled Returned, worker Closed with a call | Settled Returned                | Closing
//	Closing        | Abort                   | Abort -> workers                                           | Closing
//	Closing        | the last worker's Closed or TreesGone, prepared in | Closed -> Entry                 | Closed
//	Starting, Closing, Closed | RunCode      | Settled Returned                                           | same
//
// Callers are answered here, not by the Worker, which brings its answer as answered:
// only so can the pool's snapshot be published first. A Settled of a Worker says what
// its child is good for: Healthy is warm again, Broken is ending, Returned was asked
// in vain.
type Pool struct {
	cfg     PoolConfig
	self    *actors.Self
	machine *actors.Machine[poolState]
	workers func(workerConfig) func(*actors.Self) actors.Behaviour

	warm     []string
	headers  *Headers // nil where there is no header to judge
	queue    *Queue[messages.OperationID]
	slots    []poolSlot
	calls    map[messages.OperationID]*poolCall
	timer    *time.Timer // of the next start that only time stands in the way of
	lastUsed time.Time
	restarts int
	cause    error // why a worker last failed
}

// poolSlot is the worker of a slot, with the call that it has not answered.
type poolSlot struct {
	worker *actors.Handle // nil: none
	call   *poolCall
	ready  time.Time
}

type poolState uint8

const (
	poolStarting poolState = iota
	poolOpen
	poolClosing
	poolClosed
)

func (s poolState) String() string {
	return [...]string{"starting", "open", "closing", "closed"}[s]
}

var poolLegal = actors.Legal[poolState]{
	poolStarting: {poolOpen, poolClosing},
	poolOpen:     {poolClosing},
	poolClosing:  {poolClosed},
}

type (
	prepared struct {
		warm []string
		err  error
	}
	startDue struct{}
	expired  struct{ id messages.OperationID }

	// assignment gives a Worker a call. It is no Operation: a Worker that has failed
	// drops it, and the Pool, which has the copy, answers.
	assignment struct {
		op       messages.RunCode
		ctx      context.Context // the call's: it ends with its Timeout, too
		arrived  time.Time
		decision Decision
	}
	// answered is the one answer to a call.
	answered struct {
		from   messages.Ref
		id     messages.OperationID
		report messages.RunReport
		err    error
	}
	// learned is what a header command printed for a piece of code.
	learned struct {
		code   string
		output HeaderOutput
	}
)

// NewPool makes the Pool of one project and begins to start its workers.
func NewPool(cfg PoolConfig) func(*actors.Self) actors.Behaviour { return newPool(cfg, newWorker) }

func newPool(cfg PoolConfig, workers func(workerConfig) func(*actors.Self) actors.Behaviour) func(*actors.Self) actors.Behaviour {
	return func(self *actors.Self) actors.Behaviour {
		p := &Pool{cfg: cfg, self: self, workers: workers, slots: make([]poolSlot, cfg.Workers),
			queue: NewQueue[messages.OperationID](cfg.Workers, cfg.Resident), calls: make(map[messages.OperationID]*poolCall)}
		p.machine = actors.NewMachine(self, poolStarting, poolLegal, p.snapshot)
		p.machine.Publish()
		p.prepare()
		return p
	}
}

// prepare asks what is to be loaded, once for all workers: the same answer judges
// which headers are covered.
func (p *Pool) prepare() {
	warm := p.cfg.Warm
	actors.Go(p.self, p.self.Context(), func(context.Context) ([]string, error) {
		if warm == nil {
			return nil, nil
		}
		return warm(), nil
	}, func(modules []string, err error) any { return prepared{modules, err} }, nil)
}

// Receive dispatches by message.
func (p *Pool) Receive(msg any) {
	msg, current := p.machine.Unwrap(msg)
	if !current {
		return
	}
	switch msg := msg.(type) {
	case messages.RunCode:
		p.onRunCode(msg)
	case expired:
		p.onExpired(msg.id)
	case answered:
		p.onAnswered(msg)
	case messages.Settled:
		p.onSettled(msg)
	case learned:
		p.headers.Learn(msg.code, msg.output)
	case prepared, startDue, messages.Ready, messages.StartFailed, messages.Ending:
		p.onStarting(msg)
	case messages.Down, messages.TreesGone, messages.Closed:
		p.onGone(msg)
	case messages.Close, messages.Abort:
		p.onEnd(msg)
	case messages.Republish:
		p.machine.Publish()
	default:
		p.machine.Unexpected(msg)
	}
}

func (p *Pool) snapshot() messages.Snapshot {
	snapshot := messages.PoolSnapshot{ActorSnapshot: p.machine.Snapshot(), Key: p.cfg.Key, Mode: "fresh",
		Capacity: p.cfg.Workers, Warm: p.queue.Counts()[Warm], Waiting: p.queue.Waiting(),
		LastUsed: p.lastUsed, Restarts: p.restarts}
	if p.cfg.Resident {
		snapshot.Mode = "resident"
	}
	for _, slot := range p.slots {
		if slot.call != nil && !slot.call.done {
			snapshot.Active++
		}
	}
	if p.cause != nil {
		snapshot.Reason = p.cause.Error()
	}
	return snapshot
}
