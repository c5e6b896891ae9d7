package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/lsptext"
	"github.com/seed-f6977891/hearth/test/standins/lspwire"
	"github.com/seed-f6977891/hearth/test/standins/play"
)

// worker is lean --worker: it elaborates one file, each version anew, and answers requests about it.
type worker struct {
	process *play.Process
	out     *lspwire.Writer
	uri     string
	mode    string // dependencyBuildMode
	setUp   chan struct{}
	setup   setupResult // once setUp is closed

	mu       sync.Mutex
	changed  *sync.Cond // whenever one of the fields below changes
	text     string
	version  int
	emptied  bool // the empty list that follows setup-file was published
	done     int  // lines that are elaborated
	finished bool // all of it, and all is reported
	env      *environment
	steps    []step
	messages []message
	stop     context.CancelFunc            // ends the elaboration of the present version
	requests map[string]context.CancelFunc // by raw id
}

func work(args []string) {
	w := &worker{
		process: begin("worker"), out: lspwire.NewWriter(os.Stdout), setUp: make(chan struct{}), env: newEnvironment(),
		requests: map[string]context.CancelFunc{},
	}
	w.changed = sync.NewCond(&w.mu)
	r := lspwire.NewReader(os.Stdin)
	opened := w.await(r, "textDocument/didOpen")
	w.uri, w.mode = opened.TextDocument.URI, opened.DependencyBuildMode
	w.text, w.version = opened.TextDocument.Text, opened.TextDocument.Version
	w.takeHabits()

	go func() {
		w.setup = w.runSetup(w.text)
		close(w.setUp)
	}()
	w.mu.Lock()
	w.elaborateAnew()
	w.mu.Unlock()
	if _, blocked := w.process.Flag("block-in-setup"); blocked {
		<-w.setUp
	}
	w.loop(r)
}

// await reads messages until the notification of that method came, and returns its parameters.
func (w *worker) await(r *lspwire.Reader, method string) params {
	for {
		m, body, err := r.Read()
		if err != nil {
			w.ended(err)
		}
		w.process.Journal.Note(journal.Received, m.Method, json.RawMessage(body))
		if m.Method == method {
			var p params
			_ = json.Unmarshal(m.Params, &p)
			return p
		}
	}
}

// takeHabits does those directives of the text that say what the process is like: they hold from the beginning.
func (w *worker) takeHabits() {
	for line := range strings.Lines(w.text) {
		d, found := play.InLine(line)
		if found && (d.Name == "no-publish" || d.Name == "ignore-eof" || d.Name == "ignore-term") {
			_ = w.process.Do(context.Background(), d)
		}
	}
}

// loop is the worker's main loop.
func (w *worker) loop(r *lspwire.Reader) {
	for {
		m, body, err := r.Read()
		if err != nil {
			w.ended(err)
		}
		w.process.Journal.Note(journal.Received, m.Method, json.RawMessage(body))
		var p params
		_ = json.Unmarshal(m.Params, &p)
		switch {
		case m.Method == "exit":
			w.process.Exit(0)
		case m.Method == "textDocument/didChange":
			w.change(p)
		case m.Method == "$/lean/staleDependency":
			w.noteStale()
		case m.Method == "$/cancelRequest":
			w.cancel(p.ID)
		case m.IsRequest():
			w.begin(m)
		}
	}
}

// ended ends the process after its input did, unless it plays deaf.
func (w *worker) ended(err error) {
	w.process.Journal.Note(journal.EOF, err.Error(), nil)
	if _, stays := w.process.Flag("ignore-eof"); stays {
		select {}
	}
	if !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
	}
	w.process.Exit(1)
}

// change takes the new text. Another header needs another process: this one ends and the watchdog starts it.
func (w *worker) change(p params) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := headerText(w.text)
	w.text, w.version = lsptext.Apply(w.text, p.ContentChanges), p.TextDocument.Version
	if headerText(w.text) != before {
		time.Sleep(200 * time.Millisecond) // as the real one does, lest each key stroke in a header start a worker
		w.process.Exit(codeHeaderChanged)
	}
	w.elaborateAnew()
}

// headerText is the part of the text whose change needs a new process.
func headerText(text string) string {
	h := parseHeader(text)
	names := fmt.Sprint(h.module, h.prelude, h.imports, h.fault)
	for line := range strings.Lines(text) {
		if d, found := play.InLine(line); found && d.Name == "import-slow" {
			names += d.Args
		}
	}
	return names
}

// elaborateAnew starts the elaboration of the present version and ends that of the one before. The caller holds the lock.
func (w *worker) elaborateAnew() {
	if w.stop != nil {
		w.stop()
	}
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	w.done, w.finished, w.messages, w.env = 0, false, nil, environmentOf(parseHeader(w.text))
	w.steps = elaborate(w.text, w.env)
	w.changed.Broadcast()
	go w.elaborate(ctx, w.version, w.text, w.steps)
}

// elaborate runs the steps of one version and reports as it goes.
func (w *worker) elaborate(ctx context.Context, version int, text string, steps []step) {
	select {
	case <-w.setUp:
	case <-ctx.Done():
		return
	}
	if w.setup.fault != nil {
		w.finish(ctx, version, []message{*w.setup.fault})
		return
	}
	var messages []message
	w.publishEmptyOnce(ctx, version)
	if m, missing := parseHeader(text).missing(); missing {
		w.finish(ctx, version, []message{m})
		return
	}
	for _, s := range steps {
		if len(s.directives) > 0 || len(s.messages) > 0 {
			w.report(ctx, version, s.line-1)
		}
		for _, d := range s.directives {
			w.direct(ctx, d)
		}
		if ctx.Err() != nil {
			return
		}
		if len(s.messages) > 0 {
			messages = append(messages, s.messages...)
			w.publish(ctx, version, messages)
		}
		w.advance(ctx, s.line+strings.Count(s.code, "\n"))
	}
	w.finish(ctx, version, messages)
}

func (w *worker) direct(ctx context.Context, d play.Directive) {
	switch d.Name {
	case "garbage":
		_ = w.out.Notify(rawMethod, rawParams{Bytes: []byte(d.Args + "\n")})
	case "partial-frame":
		_ = w.out.Notify(rawMethod, rawParams{Bytes: []byte("Content-Length: 100\r\n\r\n{\"jsonrpc\":"), Last: true})
	default:
		_ = w.process.Do(ctx, d)
	}
}
