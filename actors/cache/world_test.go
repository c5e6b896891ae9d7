package cache_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/cache"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/actortest"
)

const hour = time.Hour

// world is a Cache with its own Entries over servers that exist in memory only. The
// durations are those of servers and calls that begin after they were set.
type world struct {
	*actortest.Harness
	t     *testing.T
	cache *actors.Handle

	startTakes, callTakes, closeTakes time.Duration
	startFails                        error

	mu      sync.Mutex
	journal []string // start /a, call /a, close /a, in their order
	alive   int
	peak    int
}

func sharedBubble(t *testing.T, name string, cfg cache.Config, test func(*testing.T, *world)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := &world{Harness: actortest.New(t), t: t}
			cfg := limited(cfg)
			if cfg.NewResource == nil {
				cfg.NewResource = w.newServer
			}
			w.cache = w.Spawn("cache", "lsp", cache.New(cfg))
			test(t, w)
			assert.LessOrEqual(t, int64(w.peak), cfg.Limit, "more servers at a time than there are slots")
		})
	})
}

func (w *world) call(root string, with ...func(*call)) *call {
	c := newCall(w.System, root, with...)
	w.cache.Send(c)
	return c
}

// settle lets everything happen that takes no more than a minute.
func (w *world) settle() {
	time.Sleep(time.Minute)
	synctest.Wait()
}

// note is called by the servers.
func (w *world) note(line string, born int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.journal = append(w.journal, line)
	w.alive += born
	w.peak = max(w.peak, w.alive)
}

// living is how many servers there are.
func (w *world) living() int {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.alive
}

// log is what the servers did.
func (w *world) log() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.journal)
}

// starts gives the roots whose servers were started.
func (w *world) starts() (roots []string) {
	for _, line := range w.log() {
		if root, ok := strings.CutPrefix(line, "start "); ok {
			roots = append(roots, root)
		}
	}
	return roots
}

// clearAway does for an actor that is down what the Supervisor does: it ends what
// is below, deepest first, and tells the parent when nothing is left.
func (w *world) clearAway(down messages.Ref) {
	w.t.Helper()
	roster := w.System.Roster()
	for _, below := range roster.Below(down) {
		below.Send(messages.Abort{})
	}
	synctest.Wait()
	for _, below := range roster.Below(down) {
		below.Stop()
		<-below.Done()
	}
	failed := roster.Lookup(down)
	failed.Stop()
	<-failed.Done()
	failed.Parent().Send(messages.TreesGone{From: down})
	synctest.Wait()
}

// served is an operation that a server can answer.
type served interface {
	messages.Operation
	succeed()
}

func (c *call) succeed() { c.Reply.Send(messages.HoverReport{}) }

// server is a resource that answers every call, and ends when it is told.
type server struct {
	w        *world
	self     *actors.Self
	root     string
	inFlight map[messages.OperationID]served
	ending   bool
}

type (
	started  struct{}
	answered struct{ id messages.OperationID }
	ended    struct{}
	crash    struct{ err error }
)

func (w *world) newServer(key messages.Key) func(*actors.Self) actors.Behaviour {
	return func(self *actors.Self) actors.Behaviour {
		w.note("start "+key.Root, 1)
		in(self, w.startTakes, started{})
		return &server{w: w, self: self, root: key.Root, inFlight: map[messages.OperationID]served{}}
	}
}

// in sends msg to the server itself once d has passed: before anything else that the
// bubble does where d is 0, for which a timer would take some time.
func in(self *actors.Self, d time.Duration, msg any) {
	if d == 0 {
		self.Tell(msg)
		return
	}
	self.After(d, msg)
}

func (s *server) Receive(msg any) {
	switch msg := msg.(type) {
	case started:
		s.started()
	case served:
		s.take(msg)
	case answered:
		if c, ok := s.inFlight[msg.id]; ok {
			delete(s.inFlight, msg.id)
			c.succeed()
			s.settled(msg.id, messages.Healthy, nil)
		}
	case messages.Close:
		s.end(s.w.closeTakes)
	case messages.Abort:
		s.refuse(messages.ErrAborted)
		s.end(0)
	case crash:
		s.self.TellParent(messages.Ending{From: s.self.Ref(), Err: msg.err})
		s.refuse(msg.err)
		s.end(s.w.closeTakes)
	case ended:
		s.w.note("close "+s.root, -1)
		s.self.TellParent(messages.Closed{From: s.self.Ref()})
	}
}

func (s *server) started() {
	switch {
	case s.ending:
	case s.w.startFails != nil:
		s.self.TellParent(messages.StartFailed{From: s.self.Ref(), Err: s.w.startFails})
		s.end(0)
	default:
		s.self.TellParent(messages.Ready{From: s.self.Ref()})
	}
}

func (s *server) take(op served) {
	id := op.Header().ID
	if s.ending {
		s.settled(id, messages.Returned, messages.ErrClosing)
		return
	}
	s.w.note("call "+s.root, 0)
	s.inFlight[id] = op
	in(s.self, s.w.callTakes, answered{id})
}

func (s *server) refuse(reason error) {
	for id, c := range s.inFlight {
		c.Refuse(reason)
		s.settled(id, messages.Broken, reason)
	}
	clear(s.inFlight)
}

func (s *server) settled(id messages.OperationID, verdict messages.Verdict, cause error) {
	s.self.TellParent(messages.Settled{From: s.self.Ref(), ID: id, Verdict: verdict, Cause: cause})
}

func (s *server) end(takes time.Duration) {
	if !s.ending {
		s.ending = true
		in(s.self, takes, ended{})
	}
}
