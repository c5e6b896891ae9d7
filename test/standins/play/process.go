package play

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/test/standins/journal"
)

// Misuse is the exit code of a stand-in whose script or directive makes no sense: a test must not pass because its
// knob was misspelt.
const Misuse = 70

// Process is this process as an actor in a play. Its methods are safe for concurrent use.
type Process struct {
	Journal     *journal.Writer
	journalPath string

	mu         sync.Mutex
	ignoreTerm bool
	slowTerm   time.Duration
	ballast    [][]byte
	known      map[string]bool
	flags      map[string]string
}

// Begin makes this process known: it opens the journal (none for an empty path), notes the start and from now on every
// signal. flags are the names of directives that the caller itself gives a meaning to.
func Begin(role, journalPath string, flags ...string) *Process {
	return begin(role, journalPath, false, flags...)
}

// begin makes the process deaf, if it is to be, before its start is noted: whoever has seen that may ask it to end.
func begin(role, journalPath string, ignoreTerm bool, flags ...string) *Process {
	w, err := journal.Open(journalPath, role)
	p := &Process{Journal: w, journalPath: journalPath, ignoreTerm: ignoreTerm, known: map[string]bool{}, flags: map[string]string{}}
	if err != nil {
		p.Misused(err)
	}
	for _, f := range flags {
		p.known[f] = true
	}
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGCONT, unix.SIGUSR1, unix.SIGUSR2)
	go p.noteSignals(signals)
	w.Note(journal.Start, "", os.Args)
	return p
}

func (p *Process) noteSignals(signals <-chan os.Signal) {
	for s := range signals {
		sig := s.(unix.Signal)
		p.Journal.Note(journal.Signal, unix.SignalName(sig), nil)
		switch sig {
		case unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT:
			p.obey(sig)
		}
	}
}

// obey ends the process as the signal's default action would, unless it plays deaf or slow.
func (p *Process) obey(sig unix.Signal) {
	p.mu.Lock()
	ignore, slow := p.ignoreTerm, p.slowTerm
	p.mu.Unlock()
	if ignore {
		return
	}
	time.Sleep(slow)
	p.Die(sig)
}

// IgnoreTerm makes the process deaf to all signals that ask it to end.
func (p *Process) IgnoreTerm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ignoreTerm = true
}

// SlowTerm makes the process take d to obey such a signal.
func (p *Process) SlowTerm(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slowTerm = d
}

// Exit notes the code and ends the process with it.
func (p *Process) Exit(code int) {
	p.Journal.Note(journal.Exit, strconv.Itoa(code), nil)
	os.Exit(code)
}

// Die ends the process by sig, so that whoever waits for it sees "killed", not an exit code.
func (p *Process) Die(sig unix.Signal) {
	p.Journal.Note(journal.Exit, unix.SignalName(sig), nil)
	signal.Reset(sig)
	_ = unix.Kill(os.Getpid(), sig)
	select {} // the signal is on its way
}

// Misused reports a script or directive that makes no sense and ends the process with Misuse.
func (p *Process) Misused(err error) {
	fmt.Fprintln(os.Stderr, "stand-in misused:", err)
	p.Exit(Misuse)
}

// Grow takes n bytes of memory, touches every page and keeps them.
func (p *Process) Grow(n int) {
	block := make([]byte, n)
	for i := 0; i < n; i += 4096 {
		block[i] = 1
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ballast = append(p.ballast, block)
}

// Forms of what Flood writes.
const (
	Lines   = ""        // lines of 80 bytes
	OneLine = "line"    // no newline at all
	Invalid = "invalid" // lines that are not UTF-8
)

// Flood writes n bytes to stderr in that form.
func Flood(n int, form string) error {
	line := []byte("stand-in speaks to its stderr, eighty bytes a line, until all that it has to say is\n")
	switch form {
	case Lines:
	case OneLine:
		line[len(line)-1] = ' '
	case Invalid:
		line[0], line[1] = 0xff, 0xc3
	default:
		return fmt.Errorf("stderr has no form %q", form)
	}
	for n > 0 {
		k := min(n, len(line))
		if _, err := os.Stderr.Write(line[len(line)-k:]); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// StopSelf sends SIGSTOP to this process and returns when it was continued.
func (p *Process) StopSelf() {
	p.Journal.Note("stopping", "", nil)
	_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
}
