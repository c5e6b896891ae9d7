package procscan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// fakeSource is a kernel of made-up processes.
type fakeSource struct {
	order    []int
	procs    map[int]*fakeProc
	pidsErr  error
	newests  []int // one after the other, the last for ever
	clock    uint64
	holdMax  int // how many may be held at a time; 0: all
	held     int
	lastHold *fakeHold
}

// fakeProc is one of them. Environments are given one after the other, the last
// for ever.
type fakeProc struct {
	stat    procStat
	environ []fakeEnviron
	statErr error
	holdErr error
	// signalErr answers signals through the hold, as after the number's reuse.
	signalErr error
}

type fakeEnviron struct {
	block string
	err   error
}

func block(entries ...string) fakeEnviron {
	return fakeEnviron{block: strings.Join(entries, "\x00") + "\x00"}
}

func newFakeSource(procs ...*fakeProc) *fakeSource {
	src := &fakeSource{procs: map[int]*fakeProc{}, clock: 1000}
	for _, p := range procs {
		src.order = append(src.order, p.stat.PID)
		src.procs[p.stat.PID] = p
	}
	return src
}

func fakeRunning(pid int, environ ...fakeEnviron) *fakeProc {
	return &fakeProc{environ: environ, stat: procStat{Info: Info{
		Identity: Identity{PID: pid, StartTicks: uint64(pid)}, PPID: 1, PGID: pid, SID: pid, State: 'S'}}}
}

func (s *fakeSource) newest() int {
	if len(s.newests) == 0 {
		return 0
	}
	newest := s.newests[0]
	if len(s.newests) > 1 {
		s.newests = s.newests[1:]
	}
	return newest
}

func (s *fakeSource) pids() ([]int, error) { return s.order, s.pidsErr }
func (s *fakeSource) now() uint64          { return s.clock }

func (s *fakeSource) environ(pid int, buf []byte) ([]byte, error) {
	p := s.procs[pid]
	e := p.environ[0]
	if len(p.environ) > 1 {
		p.environ = p.environ[1:]
	}
	return append(buf[:0], e.block...), e.err
}

func (s *fakeSource) stat(pid int) (procStat, error) {
	p := s.procs[pid]
	return p.stat, p.statErr
}

func (s *fakeSource) hold(pid int) (Process, error) {
	p := s.procs[pid]
	if p.holdErr != nil {
		return nil, p.holdErr
	}
	if s.holdMax > 0 && s.held == s.holdMax {
		return nil, os.NewSyscallError("pidfd_open", syscall.EMFILE)
	}
	s.held++
	s.lastHold = &fakeHold{id: p.stat.Identity, err: p.signalErr, src: s}
	return s.lastHold, nil
}

type fakeHold struct {
	id      Identity
	err     error
	src     *fakeSource
	signals []os.Signal
	closed  bool
}

func (h *fakeHold) Identity() Identity { return h.id }
func (h *fakeHold) Close() error       { h.closed = true; h.src.held--; return nil }
func (h *fakeHold) Signal(sig os.Signal) error {
	h.signals = append(h.signals, sig)
	return h.err
}

// scriptTable gives scans one after the other, the last for ever, and records
// what is done with them.
type scriptTable struct {
	scans []func() (Scan, error)
	log   []string
	open  int
}

func (t *scriptTable) Walk(context.Context) ([]Info, error) { return nil, errors.ErrUnsupported }

func (t *scriptTable) Scan(context.Context, Mark) (Scan, error) {
	next := t.scans[0]
	if len(t.scans) > 1 {
		t.scans = t.scans[1:]
	}
	t.log = append(t.log, "scan")
	scan, err := next()
	t.open += len(scan.Hits)
	return scan, err
}

// target is one process of a scriptTable.
type target struct {
	table *scriptTable
	id    Identity
	dies  syscall.Signal // of which signal; 0: it is immortal
	slow  time.Duration  // how long it takes to die
	deadAt,
	never time.Time
	err error
}

func (p *target) Identity() Identity { return p.id }
func (p *target) Close() error       { p.table.open--; return nil }
func (p *target) gone() bool         { return p.deadAt != p.never && !time.Now().Before(p.deadAt) }

func (p *target) Signal(sig os.Signal) error {
	if p.err != nil {
		return p.err
	}
	if p.gone() {
		return ErrGone
	}
	if sig == syscall.Signal(0) {
		return nil
	}
	p.table.log = append(p.table.log, fmt.Sprintf("%v %d", sig, p.id.PID))
	if sig == p.dies && p.deadAt == p.never {
		p.deadAt = time.Now().Add(p.slow)
	}
	return nil
}

// found is a scan that sees those of the processes which live, whatever the
// kernel would have seen.
func found(procs ...*target) func() (Scan, error) {
	return func() (Scan, error) {
		var scan Scan
		for _, p := range procs {
			if !p.gone() {
				scan.Hits = append(scan.Hits, p)
			}
		}
		return scan, nil
	}
}

func inExec(infos ...Info) func() (Scan, error) {
	return func() (Scan, error) { return Scan{Unknown: infos, Began: 100}, nil }
}
