package fakes

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/seed-f6977891/hearth/procscan"
)

// Machine is a process table in memory, with a Launcher and a Table. Its journal
// keeps what was done to its processes, in order.
type Machine struct {
	mu        sync.Mutex
	nextPID   int
	processes map[int]*Process
	children  []*Child
	journal   []string

	launchErr  func(procscan.Spec) error
	launchGate chan struct{}
	scanErrs   []error
	onLaunch   func(*Child)
	served     func(*Child) // plays the program of a launched child
}

// NewMachine makes an empty machine.
func NewMachine() *Machine {
	return &Machine{nextPID: 100, processes: make(map[int]*Process)}
}

// Process is one process of a Machine.
type Process struct {
	PID, Group int
	Marks      []procscan.Mark

	machine     *Machine
	ignoresTERM bool
	unkillable  bool
	ended       chan struct{}
	status      procscan.Status
	onEnd       func() // what the kernel does at its end; the machine is locked
}

// IgnoreTERM makes SIGTERM do nothing to the process.
func (p *Process) IgnoreTERM() { p.machine.set(func() { p.ignoresTERM = true }) }

// SetUnkillable puts the process into an uninterruptible wait, or ends that.
func (p *Process) SetUnkillable(unkillable bool) { p.machine.set(func() { p.unkillable = unkillable }) }

// FailLaunch makes every launch fail with what check says, nil for none.
func (m *Machine) FailLaunch(check func(procscan.Spec) error) { m.set(func() { m.launchErr = check }) }

// HoldLaunches makes launches wait; the returned function lets them go on.
func (m *Machine) HoldLaunches() (release func()) {
	gate := make(chan struct{})
	m.set(func() { m.launchGate = gate })
	return sync.OnceFunc(func() { m.set(func() { m.launchGate = nil }); close(gate) })
}

// FailScans makes the next scans of the table fail with these errors, in turn.
func (m *Machine) FailScans(errs ...error) {
	m.set(func() { m.scanErrs = append(m.scanErrs, errs...) })
}

// OnLaunch is called with each child before its launch returns.
func (m *Machine) OnLaunch(f func(*Child)) { m.set(func() { m.onLaunch = f }) }

// Serve makes play run as the program of every child launched from now on; it ends
// when the child's leader does (Child.Ended).
func (m *Machine) Serve(play func(*Child)) { m.set(func() { m.served = play }) }

func (m *Machine) set(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

// Children gives every child launched so far, in order.
func (m *Machine) Children() []*Child {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.children)
}

// Alive gives the PIDs of all processes that have not ended.
func (m *Machine) Alive() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	var pids []int
	for pid, p := range m.processes {
		if !p.hasEnded() {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// Journal gives what was done so far, and forgets it.
func (m *Machine) Journal() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	journal := m.journal
	m.journal = nil
	return journal
}

func (m *Machine) note(format string, args ...any) {
	m.journal = append(m.journal, fmt.Sprintf(format, args...))
}

// Add puts a process with these marks into the table, in a group of its own.
func (m *Machine) Add(marks ...procscan.Mark) *Process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.add(0, marks)
}

func (m *Machine) add(group int, marks []procscan.Mark) *Process {
	m.nextPID++
	p := &Process{PID: m.nextPID, Group: group, Marks: marks, machine: m, ended: make(chan struct{})}
	if p.Group == 0 {
		p.Group = p.PID
	}
	m.processes[p.PID] = p
	return p
}

func (p *Process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Exit ends the process by itself.
func (p *Process) Exit(status procscan.Status) {
	p.machine.mu.Lock()
	defer p.machine.mu.Unlock()
	p.end(status)
}

func (p *Process) end(status procscan.Status) {
	if p.hasEnded() {
		return
	}
	p.status = status
	close(p.ended)
	if p.onEnd != nil {
		p.onEnd()
	}
}

// signal does what a kernel would; the machine's lock is held.
func (p *Process) signal(sig os.Signal) error {
	switch {
	case p.hasEnded():
		return procscan.ErrGone
	case sig == syscall.SIGKILL && !p.unkillable, sig == syscall.SIGTERM && !p.ignoresTERM && !p.unkillable:
		p.end(procscan.Status{Code: -1, Signal: sig})
	}
	return nil
}

func (p *Process) identity() procscan.Identity {
	return procscan.Identity{PID: p.PID, StartTicks: uint64(p.PID)}
}

// Launcher starts processes of this machine.
func (m *Machine) Launcher() procscan.Launcher { return launcher{m} }

type launcher struct{ machine *Machine }

func (l launcher) Launch(ctx context.Context, spec procscan.Spec) (procscan.Child, error) {
	m := l.machine
	m.mu.Lock()
	gate, refuse := m.launchGate, m.launchErr
	m.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if refuse != nil {
		if err := refuse(spec); err != nil {
			return nil, err
		}
	}
	m.mu.Lock()
	child := newChild(m.add(0, spec.Marks), spec)
	m.children = append(m.children, child)
	m.note("launch %s", spec.Argv[0])
	hook, play := m.onLaunch, m.served
	m.mu.Unlock()
	if hook != nil {
		hook(child)
	}
	if play != nil {
		go play(child)
	}
	return child, nil
}

// Table is this machine's process table.
func (m *Machine) Table() procscan.Table { return table{m} }

type table struct{ machine *Machine }

func (t table) Scan(_ context.Context, mark procscan.Mark) (procscan.Scan, error) {
	m := t.machine
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := next(&m.scanErrs); err != nil {
		m.note("scan failed")
		return procscan.Scan{}, err
	}
	scan := procscan.Scan{Began: uint64(m.nextPID) + 1}
	for _, p := range m.processes {
		if !p.hasEnded() && slices.Contains(p.Marks, mark) {
			scan.Hits = append(scan.Hits, held{p})
		}
	}
	m.note("scan %d", len(scan.Hits))
	return scan, nil
}

func (t table) Walk(context.Context) ([]procscan.Info, error) {
	m := t.machine
	m.mu.Lock()
	defer m.mu.Unlock()
	var infos []procscan.Info
	for _, p := range m.processes {
		if !p.hasEnded() {
			infos = append(infos, procscan.Info{Identity: p.identity(), PPID: 1, PGID: p.Group, SID: p.Group, State: 'S'})
		}
	}
	return infos, nil
}

type held struct{ process *Process }

func (h held) Identity() procscan.Identity { return h.process.identity() }
func (h held) Close() error                { return nil }

func (h held) Signal(sig os.Signal) error {
	m := h.process.machine
	m.mu.Lock()
	defer m.mu.Unlock()
	if sig != syscall.Signal(0) {
		m.note("%v %d", sig, h.process.PID)
	}
	return h.process.signal(sig)
}

// Sample is the machine's memory: one megabyte for each living process.
func (m *Machine) Sample(context.Context) (map[string]procscan.TreeSample, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	samples := make(map[string]procscan.TreeSample)
	for _, p := range m.processes {
		if p.hasEnded() {
			continue
		}
		for _, mark := range p.Marks {
			if mark.Var == procscan.SessionVar {
				sample := samples[mark.Value]
				sample.Members = append(sample.Members, p.identity())
				sample.RSS += 1 << 20
				samples[mark.Value] = sample
			}
		}
	}
	return samples, nil
}

// Grace is a grace with whole numbers, for tests that count bubble time.
var Grace = procscan.Grace{Term: 500 * time.Millisecond, Kill: time.Second, Pause: 10 * time.Millisecond}
