package lsp_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/test/fakes"
)

// notifier is a kernel that tells what a test makes it tell. Its channels are made when
// it is opened, in the bubble.
type notifier struct {
	events chan fsnotify.Event
	errors chan error
	closed chan struct{}
}

func newNotifier() *notifier { return &notifier{} }

func (n *notifier) open() (lsp.Notifier, error) {
	n.events, n.errors, n.closed = make(chan fsnotify.Event), make(chan error), make(chan struct{})
	return n, nil
}

func (n *notifier) Add(string) error              { return nil }
func (n *notifier) Remove(string) error           { return nil }
func (n *notifier) Events() <-chan fsnotify.Event { return n.events }
func (n *notifier) Errors() <-chan error          { return n.errors }

func (n *notifier) Close() error {
	close(n.closed)
	return nil
}

func watched(n *notifier) func(*lsp.SessionConfig) {
	return func(cfg *lsp.SessionConfig) { cfg.NewNotifier = n.open }
}

// changed are the names that the server was told of since the last time.
func (b *bench) changed() (names []string) {
	b.t.Helper()
	time.Sleep(time.Second)
	for _, sent := range b.wire.Take() {
		if sent.Method != "workspace/didChangeWatchedFiles" {
			continue
		}
		var params struct{ Changes []struct{ URI string } }
		require.NoError(b.t, json.Unmarshal([]byte(sent.JSON()), &params))
		for _, change := range params.Changes {
			names = append(names, filepath.Base(change.URI))
		}
	}
	return names
}

func TestServerThatAsksForItIsToldOfChangedFiles(t *testing.T) {
	n := newNotifier()
	bubble(t, "told", func(t *testing.T, b *bench) {
		b.ready()
		assert.Nil(t, n.events, "nothing is watched before it is wanted")
		b.wire.Watch("**/*.mod")
		synctest.Wait()
		require.NotNil(t, n.events)
		change := func(name string) fsnotify.Event {
			return fsnotify.Event{Name: filepath.Join(b.cfg.Key.Root, name), Op: fsnotify.Write}
		}
		n.events <- change("go.mod")
		n.events <- change("b.go")
		assert.Equal(t, []string{"go.mod"}, b.changed())
		b.wire.Watch("**/*.mod", "**/*.go")
		synctest.Wait()
		n.events <- change("b.go")
		assert.Equal(t, []string{"b.go"}, b.changed())
		b.session.Send(messages.Abort{})
		<-n.closed
		b.expectSweep()
		b.reaped()
	}, watched(n))
}

// readyAndWatching brings the Session to Ready, with a server that asked to hear of files.
func (b *bench) readyAndWatching() {
	b.ready()
	b.wire.Watch("**/*.go")
	synctest.Wait()
}

// askedForFindings makes the server one that is asked for its findings, and has none.
func (b *bench) askedForFindings() {
	b.wire.On("initialize", fakes.Answer{Result: json.RawMessage(`{"capabilities":{"textDocumentSync":1,"hoverProvider":true,"workspaceSymbolProvider":true,"diagnosticProvider":{}}}`)})
	b.wire.On("textDocument/diagnostic", fakes.Answer{Result: json.RawMessage(`{"kind":"full","items":[]}`)})
}

func TestAskedServerHearsOfAnOpenFilesMakingBeforeItIsAskedAboutAnother(t *testing.T) {
	for method, ask := range map[string]func(b *bench, path string){
		"textDocument/hover":      func(b *bench, path string) { b.hover(path) },
		"textDocument/diagnostic": func(b *bench, path string) { b.diagnose(path) },
		"workspace/symbol":        func(b *bench, _ string) { b.query(messages.Query{Method: "workspace/symbol"}) },
	} {
		n := newNotifier()
		bubble(t, method, func(t *testing.T, b *bench) {
			b.askedForFindings()
			b.readyAndWatching()
			made := b.write("a.go", "x")
			opened := b.hover(made)
			time.Sleep(time.Second) // the kernel tells of no flush
			opened.ok(t)
			n.events <- fsnotify.Event{Name: made, Op: fsnotify.Create}
			assert.Empty(t, b.changed(), "it is open")
			b.hover(made).ok(t)
			b.methods()
			ask(b, b.write("b.go", "x"))
			time.Sleep(time.Second)
			sent := b.methods()
			told := slices.Index(sent, "workspace/didChangeWatchedFiles")
			assert.GreaterOrEqual(t, told, 0, "%v", sent)
			assert.Less(t, told, slices.Index(sent, method), "%v", sent)
		}, watched(n))
	}
}

func TestServerHearsOfAFilesMakingBeforeThatIsOpened(t *testing.T) {
	n := newNotifier()
	bubble(t, "hover", func(t *testing.T, b *bench) {
		b.readyAndWatching()
		path := b.write("a.go", "x")
		b.wire.Take()
		hover := b.hover(path)
		n.events <- fsnotify.Event{Name: path, Op: fsnotify.Create}
		time.Sleep(time.Second)
		hover.ok(t)
		assert.Equal(t, []string{"workspace/didChangeWatchedFiles", "textDocument/didOpen", "textDocument/hover"}, b.methods())
		b.write("a.go", "y")
		b.hover(path).ok(t)
		assert.Equal(t, []string{"textDocument/didChange", "textDocument/hover"}, b.methods(), "it waits for nothing")
	}, watched(n))
}

func TestChangeThatIsToldWhileTheFileIsReadIsNotTakenForPartOfTheText(t *testing.T) {
	asks := map[string]func(b *bench, path string){
		"diagnostics": func(b *bench, path string) { b.diagnose(path) },
		"hover":       func(b *bench, path string) { b.hover(path) },
	}
	for name, ask := range asks {
		n := newNotifier()
		bubble(t, name, func(t *testing.T, b *bench) {
			b.readyAndWatching()
			path := b.write("a.go", "old")
			first := b.diagnose(path)
			time.Sleep(time.Second) // the kernel tells of no flush
			first.ok(t)
			release := b.holdAfterRead(path)
			ask(b, path)
			time.Sleep(time.Second)
			synctest.Wait()
			b.write("a.go", "new")
			n.events <- fsnotify.Event{Name: path, Op: fsnotify.Write}
			assert.Equal(t, []string{"a.go"}, b.changed())
			release()
			b.diagnose(b.write("b.go", "x"))
			time.Sleep(time.Second)
			sent := b.methods()
			closed := slices.Index(sent, "textDocument/didClose")
			assert.GreaterOrEqual(t, closed, 0, "%v: the server has the old text of a.go", sent)
			assert.Less(t, closed, slices.Index(sent, "textDocument/didOpen"), "%v", sent)
		}, watched(n))
	}
}

// TestNobodyIsAnsweredByTheOldTextOfAnotherFile: one that is open and has changed is
// closed before any question, also by whom another call's closing holds up.
func TestNobodyIsAnsweredByTheOldTextOfAnotherFile(t *testing.T) {
	edited := func(t *testing.T, b *bench, n *notifier) (names []string) {
		b.readyAndWatching()
		for _, name := range []string{"a.go", "b.go", "c.go"} {
			names = append(names, b.write(name, "x"))
			call := b.diagnose(names[len(names)-1])
			time.Sleep(time.Second) // the kernel tells of no flush
			call.ok(t)
		}
		b.write("a.go", "y")
		n.events <- fsnotify.Event{Name: names[0], Op: fsnotify.Write}
		assert.Equal(t, []string{"a.go"}, b.changed())
		return names
	}
	n := newNotifier()
	bubble(t, "while it is being closed", func(t *testing.T, b *bench) {
		names := edited(t, b, n)
		gate := make(chan struct{})
		b.wire.Heard("textDocument/didClose", func() { <-gate })
		closing := b.diagnose(names[1])
		other := b.diagnose(names[2])
		time.Sleep(time.Second)
		closing.pending(t)
		other.pending(t)
		b.hover(names[2]).pending(t)
		close(gate)
		time.Sleep(time.Second)
		closing.ok(t)
		other.ok(t)
	}, watched(n), func(cfg *lsp.SessionConfig) { cfg.Parallel = 3 })
	bubble(t, "by a call about no file", func(t *testing.T, b *bench) {
		edited(t, b, n)
		b.wire.On("workspace/symbol", fakes.Answer{})
		call := b.query(messages.Query{Method: "workspace/symbol"})
		time.Sleep(time.Second)
		call.ok(t)
		assert.Equal(t, []string{"textDocument/didChange", "textDocument/didClose", "workspace/symbol"}, b.methods())
	}, watched(n))
}

func TestOpeningTheWatchHoldsUpNobody(t *testing.T) {
	gate := make(chan struct{})
	blocked := func(cfg *lsp.SessionConfig) {
		cfg.NewNotifier = func() (lsp.Notifier, error) {
			gate = make(chan struct{})
			<-gate
			return nil, errors.New("too many open files")
		}
	}
	bubble(t, "blocked", func(t *testing.T, b *bench) {
		b.ready()
		b.wire.Watch("**/*.go")
		assert.Equal(t, "here", b.hover(b.write("a.go", "x")).ok(t).Text)
		close(gate)
		b.wire.Watch("**/*.mod")
		b.diagnose(b.write("a.go", "x")).ok(t)
		b.session.Send(messages.Abort{})
		b.Parent.Take()
		b.expectSweep()
		b.reaped()
	}, blocked)
}

func TestKernelThatTellsNothingHoldsAnAnswerUpForASecondAtMost(t *testing.T) {
	bubble(t, "flush", func(t *testing.T, b *bench) {
		b.readyAndWatching()
		began := time.Now()
		call := b.diagnose(b.write("a.go", "x"))
		call.pending(t)
		time.Sleep(time.Second)
		call.ok(t)
		assert.Equal(t, time.Second, time.Since(began))
	}, watched(newNotifier()))
}
