package repl

import (
	"context"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
)

// What the machines' tests need of the inside: a Pool whose Workers are probes, a
// Worker alone, and what the two tell each other.

// NewPoolWith makes a Pool over other workers than its own.
func NewPoolWith(cfg PoolConfig, worker func() func(*actors.Self) actors.Behaviour) func(*actors.Self) actors.Behaviour {
	return newPool(cfg, func(workerConfig) func(*actors.Self) actors.Behaviour { return worker() })
}

// NewWorker makes a Worker alone.
func NewWorker(cfg PoolConfig) func(*actors.Self) actors.Behaviour {
	return newWorker(workerConfig{PoolConfig: cfg})
}

// Assignment is what gives a Worker a call.
type Assignment = assignment

// Assign makes an Assignment.
func Assign(ctx context.Context, op messages.RunCode, decision Decision) Assignment {
	return assignment{op: op, ctx: ctx, arrived: time.Now(), decision: decision}
}

// Parts gives what is in it.
func (a Assignment) Parts() (messages.RunCode, Decision) { return a.op, a.decision }

// Answered is a Worker's answer to a call.
type Answered = answered

// Answer makes an Answered.
func Answer(from messages.Ref, id messages.OperationID, report messages.RunReport, err error) Answered {
	return answered{from, id, report, err}
}

// Parts gives what is in it.
func (a Answered) Parts() (messages.OperationID, messages.RunReport, error) {
	return a.id, a.report, a.err
}

// Learned is what a Worker learned of a header.
type Learned = learned

// Learn makes a Learned.
func Learn(code string, output HeaderOutput) Learned { return learned{code, output} }

// Times that the tests count with.
const (
	ExitWait        = exitWait
	MeasureInterval = measureInterval
)
