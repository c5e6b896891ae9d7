package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/actortest"
	"github.com/seed-f6977891/hearth/test/actortest/explore"
)

// sessionWorld is one Session between its Entry, its tree's Sweeper and its server,
// which the search plays. It reads no disk.
type sessionWorld struct {
	*actortest.Harness
	explore.Held
	explore.Desk
	wire      *worldWire
	hovers    []*worldHover
	past      sessionPast
	state     string // that was published last
	adopted   messages.TreeID
	forgotten bool // a call was not settled when nothing was left to wait for
}

// sessionPast is what Entry, Sweeper and clock remember.
type sessionPast struct {
	Close, Abort             bool // were told
	OutOfTime, SweepFailed   bool
	Tree                     treeStage
	Swept                    bool // the tree's end has begun
	LeaderDown               bool
	Sweeps                   int
	Ready, NotStarted, Ended int // Ready, StartFailed, Ending
	Closed                   int
}

type treeStage uint8

const (
	treeStarts treeStage = iota
	treeRuns
	treeGone
)

// worldHover is one call with what became of it.
type worldHover struct {
	messages.Hover
	cancel context.CancelFunc
	hoverFate
}

type hoverFate struct {
	Sent, Left       bool
	Asked            int // the server was
	Answers, Settled int
}

// worldWire is the connection to a server whose every answer is a choice.
type worldWire struct {
	*sessionWorld
	tell  func(lsp.Event)
	down  context.Context
	close context.CancelCauseFunc
}

func newSessionWorld(t testing.TB) explore.World {
	w := &sessionWorld{Harness: actortest.New(t)}
	w.wire = &worldWire{sessionWorld: w}
	w.wire.down, w.wire.close = context.WithCancelCause(context.Background())
	t.Cleanup(w.Abandon)
	for id := range 2 {
		h := &worldHover{Hover: messages.Hover{Target: messages.Target{Path: "/p/a.go", LanguageID: "go"},
			Position: messages.Position{Line: id + 1}, Reply: messages.NewReplyTo[messages.HoverReport]()}}
		h.Head = messages.Head{ID: messages.OperationID(id + 1), Timeout: timeout}
		h.Ctx, h.cancel = context.WithCancel(context.Background())
		t.Cleanup(h.cancel)
		w.hovers = append(w.hovers, h)
	}
	cfg := lsp.SessionConfig{
		Key: messages.Key{Kind: messages.LSP, Root: "/p", Language: "go"}, Spec: procscan.Spec{Argv: []string{"server"}},
		Profile: lsp.Profile{Name: "server", Complete: lsp.CompleteVersion},
		Startup: startup, Exit: exit, Parallel: 2, OpenDocuments: 4, Silence: silence,
		Connect: func(messages.Pipes, lsp.Answers) lsp.Wire { return w.wire },
	}
	w.Spawn("session", "a", w.Wrap(lsp.NewSessionReading(cfg, w.read)))
	return w
}

func (w *sessionWorld) read(string) ([]byte, error) {
	outcome, _ := w.Await(context.Background(), "the file", "is read", "can't be read")
	if outcome == "can't be read" {
		return nil, errors.New(outcome)
	}
	return []byte("\n\n\n"), nil
}

// Start lets the server's events go to tell.
func (w *worldWire) Start(tell func(lsp.Event)) { w.tell = tell }

// Close ends the connection from this side.
func (w *worldWire) Close(context.Context) error {
	w.hangup(&lsp.StreamError{Reason: "closed"})
	return nil
}

// Err is why the connection has ended.
func (w *worldWire) Err() error { return context.Cause(w.down) }

func (w *worldWire) hangup(reason error) {
	if w.down.Err() == nil {
		w.close(reason)
		w.tell(lsp.Down{Err: reason})
	}
}

// Notify is a notification, which the server takes as long as it is connected. It is
// quicker than any end of ctx: which of the two came first would be nobody's choice.
func (w *worldWire) Notify(context.Context, string, any) error { return context.Cause(w.down) }

// Call is a request. It waits for the choice of its answer.
func (w *worldWire) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	if w.down.Err() != nil {
		return nil, context.Cause(w.down)
	}
	ctx, cut := context.WithCancelCause(ctx)
	defer context.AfterFunc(w.down, func() { cut(context.Cause(w.down)) })()
	outcome, err := w.Await(ctx, w.name(method, params), "is answered", "is refused")
	if err != nil {
		return nil, err
	}
	w.tell(lsp.Frame{})
	switch {
	case outcome == "is refused":
		return nil, &lsp.ResponseError{Method: method, Code: -32603, Message: "no"}
	case method == "initialize":
		return json.RawMessage(`{"capabilities":{"textDocumentSync":1,"hoverProvider":true}}`), nil
	}
	return json.RawMessage("null"), nil
}

// name tells the two hovers apart by the lines that they ask for, and counts them.
func (w *worldWire) name(method string, params any) string {
	var place struct{ Position struct{ Line int } }
	raw, _ := json.Marshal(params)
	if json.Unmarshal(raw, &place) == nil && place.Position.Line > 0 {
		w.hovers[place.Position.Line-1].Asked++
		return fmt.Sprint("hover ", place.Position.Line)
	}
	return method
}

func (w *sessionWorld) Choices() []explore.Choice {
	menu := explore.Menu(w.Desk.Choices())
	w.launching(&menu)
	w.running(&menu)
	for i, h := range w.hovers {
		menu.May(w.past.Ready > 0 && !h.Sent && (i == 0 || w.hovers[i-1].Sent), fmt.Sprint("a hover ", h.ID, " comes"), func() {
			h.Sent = true
			w.Tell(h.Hover)
		})
	}
	first := w.hovers[0]
	menu.May(first.Sent && !first.Left && first.Answers == 0, "the caller of 1 leaves", func() {
		first.Left = true
		first.cancel()
	})
	w.passing(&menu)
	open := !w.past.Close && !w.past.Abort
	quiet := menu.Quiet()
	menu.May(!w.past.Abort, "Abort", func() {
		w.past.Abort = true
		w.Tell(messages.Abort{})
	})
	end := func() {
		w.forgotten = quiet && slices.ContainsFunc(w.hovers, func(h *worldHover) bool { return h.Sent && h.Settled == 0 })
		w.past.Close = true
		w.Tell(messages.Close{})
	}
	menu.May(open && w.past.Closed > 0, "Close", end)
	menu.Must(open && w.past.Closed == 0, "Close", end)
	return menu
}

// launching is how the tree comes to be, or doesn't. A late launch is ended by its
// Sweeper, whether it comes to anything or not.
func (w *sessionWorld) launching(menu *explore.Menu) {
	starts, tree := w.past.Tree == treeStarts, w.adopted
	menu.Must(starts, "the launch succeeds", func() {
		w.past.Tree = treeRuns
		w.Tell(messages.Launched{Tree: tree, Identity: leader, Pipes: messages.Pipes{}})
	})
	late := starts && w.state == "sweeping" && w.past.NotStarted > 0
	menu.May(starts && !late, "the launch fails", func() { w.gone(messages.LaunchFailed{Tree: tree, Err: errTree}) })
	menu.May(late, "the late launch fails", func() { w.gone(messages.LeaderReaped{Tree: tree}) })
	menu.May(starts && !late, "the launch is late", func() {
		w.past.Swept = true
		w.Tell(messages.LaunchLate{Tree: tree})
	})
}

var errTree = errors.New("the tree's reason")

func (w *sessionWorld) gone(msg any) {
	w.past.Tree = treeGone
	w.Tell(msg)
}

// running is what happens to a tree that runs.
func (w *sessionWorld) running(menu *explore.Menu) {
	runs, tree := w.past.Tree == treeRuns, w.adopted
	menu.May(runs && !w.past.LeaderDown && !w.past.Swept, "the leader exits", func() {
		w.past.LeaderDown = true
		w.Tell(messages.LeaderDown{Tree: tree, Status: procscan.Status{Code: 3}})
	})
	connected := runs && w.state != "launching" && w.wire.tell != nil && w.wire.down.Err() == nil
	menu.May(connected, "the server closes its output", func() {
		w.wire.hangup(&lsp.StreamError{Reason: "the server closed its output", Err: io.EOF})
	})
	menu.May(runs && w.past.Swept && !w.past.SweepFailed, "a sweep fails", func() {
		w.past.SweepFailed = true
		w.Tell(messages.SweepFailed{Tree: tree, Cause: &messages.SweepError{Attempt: 1, Err: errTree}})
	})
	reap := func() { w.gone(messages.LeaderReaped{Tree: tree}) }
	menu.Must(runs && w.past.Swept, "the tree is reaped", reap)
	menu.May(runs && !w.past.Swept, "the tree is ended by somebody else", reap)
}

// passing is the time until the next clock that is waited for.
func (w *sessionWorld) passing(menu *explore.Menu) {
	pass := func(d time.Duration) func() { return func() { explore.Pass(d) } }
	owed := w.Owed()
	serves := w.state == "ready" || w.state == "initializing"
	switch {
	case serves && (w.past.LeaderDown || w.wire.down != nil && w.wire.down.Err() != nil):
		menu.Must(true, "no exit status comes, or no end of the output", pass(lsp.ExitWait))
	case slices.Contains(owed, "$/hearth/barrier"):
		menu.May(true, "no sign of life comes", pass(time.Second))
	case w.state == "shutting down":
		menu.Must(true, "the exit takes too long", pass(exit))
	case slices.Contains(owed, "initialize"):
		menu.May(true, "the handshake takes too long", pass(startup))
	case w.state == "ready" && !w.past.OutOfTime && slices.ContainsFunc(w.hovers, func(h *worldHover) bool { return h.Sent && h.Answers == 0 }):
		menu.May(true, "the calls are out of time", func() {
			w.past.OutOfTime = true
			explore.Pass(timeout + lsp.WorkerGrace)
		})
	}
}
