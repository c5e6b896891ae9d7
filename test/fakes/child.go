package fakes

import (
	"context"
	"net"
	"os"
	"sync"

	"github.com/seed-f6977891/hearth/procscan"
)

// Child is a launched process of a Machine. Stdin and Stdout are the runtime's
// ends; ProgramIn and ProgramOut are the program's.
type Child struct {
	*Process
	Spec       procscan.Spec
	ProgramIn  net.Conn
	ProgramOut net.Conn

	stdin, stdout net.Conn
	stderr        procscan.Ring

	mu       sync.Mutex
	stage    procscan.Stage
	group    []*Process // members of the leader's group beside the leader
	exitErrs []error
	reapErrs []error
	reapGate chan struct{}
	groupErr []error
}

func newChild(leader *Process, spec procscan.Spec) *Child {
	c := &Child{Process: leader, Spec: spec}
	c.stdin, c.ProgramIn = net.Pipe()
	c.stdout, c.ProgramOut = net.Pipe()
	leader.onEnd = func() {
		_ = c.ProgramIn.Close()
		_ = c.ProgramOut.Close()
	}
	return c
}

// Ended is closed when the leader has ended.
func (c *Child) Ended() <-chan struct{} { return c.ended }

// Member adds a process to the leader's group, with the leader's marks.
func (c *Child) Member() *Process {
	c.machine.mu.Lock()
	defer c.machine.mu.Unlock()
	p := c.machine.add(c.PID, c.Marks)
	c.group = append(c.group, p)
	return p
}

// Escapee adds a process with the leader's marks in a group of its own.
func (c *Child) Escapee() *Process { return c.machine.Add(c.Marks...) }

// FailExits makes the next waits for the leader's end fail with these errors, in turn.
func (c *Child) FailExits(errs ...error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exitErrs = append(c.exitErrs, errs...)
}

// FailReaps makes the next reaps fail with these errors, in turn.
func (c *Child) FailReaps(errs ...error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reapErrs = append(c.reapErrs, errs...)
}

// HoldReap makes reaps wait; the returned function lets them go on.
func (c *Child) HoldReap() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reapGate = make(chan struct{})
	return sync.OnceFunc(func() { close(c.reapGate) })
}

// FailGroup makes the next looks at the group fail with these errors, in turn.
func (c *Child) FailGroup(errs ...error) {
	c.machine.set(func() { c.groupErr = append(c.groupErr, errs...) })
}

// next takes the first of errs; nil: there is none.
func next(errs *[]error) (err error) {
	if len(*errs) > 0 {
		err, *errs = (*errs)[0], (*errs)[1:]
	}
	return err
}

// Identity is the leader's.
func (c *Child) Identity() procscan.Identity { return c.identity() }

// Stdin is the runtime's end.
func (c *Child) Stdin() procscan.Pipe { return c.stdin }

// Stdout is the runtime's end.
func (c *Child) Stdout() procscan.Pipe { return c.stdout }

// Stderr is what the program wrote with WriteStderr.
func (c *Child) Stderr() *procscan.Ring { return &c.stderr }

// WriteStderr writes as the program.
func (c *Child) WriteStderr(text string) { _, _ = c.stderr.Write([]byte(text)) }

// CloseStdin closes the runtime's end.
func (c *Child) CloseStdin() error { return c.stdin.Close() }

// Exited waits for the leader's end.
func (c *Child) Exited(ctx context.Context) (procscan.Status, error) {
	c.mu.Lock()
	err := next(&c.exitErrs)
	c.mu.Unlock()
	if err != nil {
		return procscan.Status{}, err
	}
	select {
	case <-c.ended:
		return c.status, nil
	case <-ctx.Done():
		return procscan.Status{}, context.Cause(ctx)
	}
}

// SignalGroup signals the leader and the members of its group.
func (c *Child) SignalGroup(sig os.Signal) error {
	c.mu.Lock()
	stage := c.stage
	c.mu.Unlock()
	c.machine.mu.Lock()
	defer c.machine.mu.Unlock()
	switch stage {
	case procscan.Retired:
		c.machine.note("refused group %v", sig)
		return procscan.ErrRetired
	case procscan.Reaping:
		c.machine.note("refused group %v", sig)
		return procscan.ErrReaped
	}
	c.machine.note("group %v", sig)
	for _, p := range append([]*Process{c.Process}, c.group...) {
		_ = p.signal(sig) // one that has ended takes no signal
	}
	return nil
}

// GroupAlive reports whether anything in the leader's group lives.
func (c *Child) GroupAlive(context.Context) (bool, error) {
	c.machine.mu.Lock()
	defer c.machine.mu.Unlock()
	if err := next(&c.groupErr); err != nil {
		return false, err
	}
	for _, p := range append([]*Process{c.Process}, c.group...) {
		if !p.hasEnded() {
			return true, nil
		}
	}
	return false, nil
}

// Retire records that the group has ended.
func (c *Child) Retire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stage = max(c.stage, procscan.Retired)
}

// Stage says how far the end has come.
func (c *Child) Stage() procscan.Stage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stage
}

// Cage is none.
func (c *Child) Cage() procscan.Cage { return nil }

// Reap takes the leader's status.
func (c *Child) Reap(ctx context.Context) (procscan.Status, error) {
	c.mu.Lock()
	c.stage = procscan.Reaping
	err := next(&c.reapErrs)
	gate := c.reapGate
	c.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return procscan.Status{}, context.Cause(ctx)
		}
	}
	if err != nil {
		return procscan.Status{}, err
	}
	status, err := c.Exited(ctx)
	if err == nil {
		c.machine.set(func() { c.machine.note("reap") })
		_ = c.stdin.Close()
		_ = c.stdout.Close()
	}
	return status, err
}

// Diagnose describes the child.
func (c *Child) Diagnose() string { return c.Spec.Argv[0] + ": " + c.stderr.Tail(1) }

var _ procscan.Child = (*Child)(nil)
