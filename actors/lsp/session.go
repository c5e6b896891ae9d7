package lsp

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// SessionConfig is one language server's.
type SessionConfig struct {
	Key     messages.Key
	Spec    procscan.Spec  // without marks
	Start   messages.Start // Limit bounds the launch
	Profile Profile
	Startup time.Duration // bounds the handshake
	Exit    time.Duration // how long shutdown may take, and how long the exit after it
	// Parallel operations are in flight at most; OpenDocuments are kept open at most.
	Parallel      int
	OpenDocuments int
	// Silence is how long a server that somebody waits for may send no frame at all
	// before a cancel makes it suspect.
	Silence time.Duration
	// Connect makes the Wire of a launched server.
	Connect func(messages.Pipes, Answers) Wire
	// NewNotifier opens the file watching for a server that asks for it; Unwatched are
	// folders to leave out beside the usual ones.
	NewNotifier func() (Notifier, error)
	Unwatched   []string
}

const (
	// probeBound is how long a server under suspicion has to show that it is alive.
	probeBound = time.Second
	// documentIdle is how long a document that nobody uses stays open.
	documentIdle = 5 * time.Minute
	// exitWait is how long after the end of its output a server's exit status may take
	// to be known, and the other way round. On a slow machine it takes a while, and one
	// that closes its output and lives on is rare.
	exitWait = time.Second
	// workerGrace is how long after the end of an operation's time its own worker may
	// take to bring the better answer (with the partial result).
	workerGrace = 50 * time.Millisecond
	// publishDelay is how late a call that comes may be in status; an answer never is.
	publishDelay = 10 * time.Millisecond
	// flushBound is how long a call waits for the kernel to tell of files that changed
	// before it. It does within milliseconds, unless it has lost count.
	flushBound = time.Second
)

// Session owns one language server and lets operations run side by side on it.
//
//	Launching    | Launched                | connect; Go(initialize)                              | Initializing
//	Launching    | LaunchFailed            | StartFailed, Closed -> Entry                         | Sweeping, Closed
//	Launching    | LaunchLate              | StartFailed -> Entry                                 | Sweeping
//	Launching    | Close, Abort            | Sweep, which the Sweeper remembers                   | Sweeping
//	Initializing | initialized(ok)         | Ready -> Entry                                       | Ready
//	Initializing, Ready | down(its output ended), LeaderDown | note the cause; wait for the other | same
//	Initializing | initialized(err), down(else), the end is known | StartFailed with the reason; Sweep | Sweeping
//	Initializing | Close, Abort            | Sweep                                                | Sweeping
//	Ready        | Operation               | a slot and its document free: Go(flush, read), else queue | Ready
//	Ready        | Hover of what the server has open | as above, Go(read, and ask if it is unchanged) | Ready
//	Ready        | unchanged               | its document is free; next                           | Ready
//	Ready        | fileRead(ok)            | didClose of old texts; nothing, didOpen or didChange: Go(sync); then Go(ask) | Ready
//	Ready        | fileRead(ok), diagnostics of other bytes in flight, or an old text is being closed | back into the queue | Ready
//	Ready        | fileRead(err)           | reply, Settled Healthy; next                         | Ready
//	Ready        | opDone(ok, or the server's own error) | reply, Settled Healthy; next           | Ready
//	Ready        | opDone(stale imports, or refused for another text) | back into the queue | Ready
//	Ready        | opDone(out of time), overdue | reply; Settled at once, or once it is judged; next | Ready
//	Ready        | probed(alive)           | Settled Healthy for the suspects                     | Ready
//	Ready        | probed(silent), down(else), opDone(protocol), the end is known | Ending -> Entry; reply to all in flight; Settled Broken for them and the suspects, Returned for what was never sent; Sweep | Sweeping
//	Ready        | expired(queued)         | refuse                                               | Ready
//	Ready        | expireDocs, docsClosed  | Go(didClose)                                         | Ready
//	Ready        | Close                   | Go(shutdown, exit)                                   | ShuttingDown
//	Ready        | Abort                   | cancel; reply Aborted to all, Settled; Sweep         | Sweeping
//	ShuttingDown | shutdownDone            | wait for the exit                                    | ShuttingDown
//	ShuttingDown | LeaderDown, exit grace over, Abort | Sweep                                     | Sweeping
//	any before Sweeping | LeaderReaped     | as when the end is known (Launching: StartFailed), without Sweep; Go(wire.Close) | Sweeping
//	any but Ready | Operation              | Settled Returned                                     | same
//	ShuttingDown, Sweeping | a worker's answer | count it in                                      | same
//	Sweeping     | SweepFailed             | publish what remains                                 | Sweeping
//	Sweeping     | Launched                | the pipes are the Sweeper's to close                 | Sweeping
//	Sweeping     | LeaderReaped, LaunchFailed | Go(wire.Close), where there is one                | Sweeping
//	Sweeping     | last worker in and leader reaped | Closed -> Entry                             | Closed
//	ShuttingDown | Close                   | join                                                 | ShuttingDown
//	Sweeping, Closed | Close, Abort        | join                                                 | same
//
// A session whose server's output has ended (down; an opDone tells it, too), or whose
// leader has exited, begins nothing new. Its end is known when the other of the two is,
// and everybody has the answer that was in the pipe, or when exitWait is over: the exit
// status tells more than a closed pipe, and what the server had said before it exited
// reaches those who wait for it. What ended the connection from this side (down(else)) is
// known at once. Of a wrapper the other need not come: its output can end without any
// exit, and others may hold it open after that.
type Session struct {
	cfg      SessionConfig
	readFile func(path string) ([]byte, error)
	self     *actors.Self
	machine  *actors.Machine[state]

	tree     messages.TreeID
	identity procscan.Identity
	pipes    messages.Pipes
	client   *Client
	server   string // its name; empty before Ready
	docs     *Documents[messages.OperationID]

	calls    map[messages.OperationID]*call
	queue    []*call // arrived and not begun, oldest first
	turns    uint64  // calls that have arrived
	active   int     // calls that have a slot
	lastUsed time.Time
	expiring bool        // a documents' timer is set
	timer    *time.Timer // of all calls, for alarm
	alarm    time.Time   // when a call's time may end; zero: none is waited for

	publishing bool // publishDue is on its way

	owing   time.Time // when the server was first sent something after its last frame
	probing bool

	watcher   *Watcher
	changes   *atomic.Uint64     // how often changed files were told
	connected time.Time          // before that the server has read nothing
	unwatch   context.CancelFunc // not nil: watching was begun, which happens once

	shaken bool             // the handshake has come to an end
	exit   *procscan.Status // not nil: the leader has exited
	cause  error            // why it is ending, or about to
	step   string
	reaped bool
}

type state uint8

const (
	launching state = iota
	initializing
	ready
	shuttingDown
	sweeping
	closed
)

func (s state) String() string {
	return [...]string{"launching", "initializing", "ready", "shutting down", "sweeping", "closed"}[s]
}

var legal = actors.Legal[state]{
	launching:    {initializing, sweeping},
	initializing: {ready, sweeping},
	ready:        {shuttingDown, sweeping},
	shuttingDown: {sweeping},
	sweeping:     {closed},
}

type (
	initialized  struct{ err error }
	news         struct{}
	exitKnown    struct{} // what was not known of the end had its time to come
	shutdownDone struct{ err error }
	exitOver     struct{}
	wireClosed   struct{ err error }
	watching     struct{ watcher *Watcher }
	watchEnded   struct{ err error }
	probed       struct {
		alive bool
		err   error
	}
	publishDue struct{}
	expireDocs struct{}
	docsClosed struct {
		plan    Plan
		written int
		err     error
	}
)

// NewSession makes the Session of one language server and has it launched.
func NewSession(cfg SessionConfig) func(*actors.Self) actors.Behaviour {
	return newSession(cfg, readText)
}

func newSession(cfg SessionConfig, read func(string) ([]byte, error)) func(*actors.Self) actors.Behaviour {
	return func(self *actors.Self) actors.Behaviour {
		s := &Session{cfg: cfg, readFile: read, changes: new(atomic.Uint64), self: self, tree: messages.TreeID(self.System().NextID()),
			docs: NewDocuments[messages.OperationID](cfg.OpenDocuments, documentIdle), calls: make(map[messages.OperationID]*call)}
		s.machine = actors.NewMachine(self, launching, legal, s.snapshot)
		s.machine.Publish()
		self.TellSupervisor(messages.Adopt{Owner: self.Ref(), Tree: s.tree, Role: messages.RoleLSP, Key: cfg.Key,
			Spec: cfg.Spec, Start: cfg.Start})
		return s
	}
}

// Receive dispatches by message. Whatever came may have been the last that the end of
// the session waited for.
func (s *Session) Receive(msg any) {
	msg, current := s.machine.Unwrap(msg)
	if !current {
		return
	}
	switch msg := msg.(type) {
	case messages.Operation:
		s.onOperation(msg)
	case fileRead, unchanged, synced, opDone, alarm, expired, overdue:
		s.onCall(msg)
	case docsClosed, expireDocs:
		s.onDocuments(msg)
	case news, probed, exitKnown, watching, filesChanged, watchEnded:
		s.onNews(msg)
	case messages.Launched, initialized:
		s.onStarting(msg)
	case messages.LaunchFailed, messages.LaunchLate, messages.LeaderDown, messages.SweepFailed, messages.LeaderReaped:
		s.onTree(msg)
	case messages.Close, messages.Abort, shutdownDone, exitOver, wireClosed:
		s.onEnd(msg)
	case messages.Republish:
		s.publish()
	case publishDue:
		s.onPublishDue()
	default:
		s.machine.Unexpected(msg)
	}
	s.conclude()
	s.finish()
}

// onStarting brings the server to Ready. The handshake derives from the session's own
// context: the callers who wait for it come and go.
func (s *Session) onStarting(msg any) {
	switch msg := msg.(type) {
	case messages.Launched:
		if s.machine.In(launching) {
			s.connect(msg)
		}
	case initialized:
		s.onInitialized(msg.err)
	}
}

func (s *Session) connect(launched messages.Launched) {
	s.identity, s.pipes, s.connected = launched.Identity, launched.Pipes, time.Now()
	wire := s.cfg.Connect(launched.Pipes, AnswersFor(s.cfg.Profile, s.cfg.Key.Root))
	s.client = NewClient(wire, s.cfg.Profile, s.cfg.Key.Root, func() { s.self.Tell(news{}) })
	s.machine.Become(initializing)
	client, bound := s.client, s.cfg.Startup
	actors.Go(s.self, s.self.Context(), func(ctx context.Context) (struct{}, error) {
		ctx, stop := context.WithTimeout(ctx, bound)
		defer stop()
		return struct{}{}, client.Initialize(ctx)
	}, func(_ struct{}, err error) any { return initialized{err} }, nil)
}

func (s *Session) onInitialized(err error) {
	s.shaken = true
	switch {
	case !s.machine.In(initializing):
	case err != nil:
		s.breakdown(err)
	case s.cause != nil: // it answered, and has ended since: it only waits for the rest to be known
	default:
		s.server = s.client.Server()
		if !s.client.TakesChanges() {
			s.docs.Reopens()
		}
		s.machine.Become(ready)
		s.self.Event(messages.EventReady, s.cfg.Key, s.server)
		s.self.TellParent(messages.Ready{From: s.self.Ref()})
		s.updateWatch()
	}
}

// publish hands out the snapshot, but for one of a session that was retracted.
func (s *Session) publish() {
	if !s.machine.In(closed) {
		s.machine.Publish()
	}
}

func (s *Session) snapshot() messages.Snapshot {
	snapshot := messages.SessionSnapshot{ActorSnapshot: s.machine.Snapshot(), Key: s.cfg.Key, Server: s.server, Tree: s.tree,
		Active: s.active, Waiting: len(s.queue), LastUsed: s.lastUsed, Documents: len(s.docs.Open()), Step: s.step}
	if s.client != nil {
		snapshot.Progress = s.client.Progress("")
	}
	if s.cause != nil {
		snapshot.Reason = s.cause.Error()
	}
	return snapshot
}
