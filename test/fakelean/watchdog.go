package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/lsptext"
	"github.com/seed-f6977891/hearth/test/standins/lspwire"
	"github.com/seed-f6977891/hearth/test/standins/play"
)

// Error codes of Lean's own.
const (
	rpcNeedsReconnect = -32900
	workerExited      = -32901
	workerCrashed     = -32902
)

// watchdog is lean --server: it keeps the texts and passes everything else between the client and the workers.
type watchdog struct {
	process *play.Process
	out     *lspwire.Writer

	mu    sync.Mutex
	init  json.RawMessage // the client's parameters of initialize; each worker gets them
	files map[string]*openFile
	down  bool // shutdown was asked for
}

// openFile is a document of the client's.
type openFile struct {
	uri     string
	text    string
	version int
	mode    string  // dependencyBuildMode of the next worker
	worker  *worked // nil after a crash, until the next change
}

// params are the parameters of all messages that the watchdog looks into.
type params struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
	URI                 string           `json:"uri"`
	DependencyBuildMode string           `json:"dependencyBuildMode"`
	ContentChanges      []lsptext.Change `json:"contentChanges"`
	ID                  json.RawMessage  `json:"id"`
	Query               string           `json:"query"`
	Changes             []struct {
		URI string `json:"uri"`
	} `json:"changes"`
}

func (p params) uri() string {
	if p.URI != "" {
		return p.URI
	}
	return p.TextDocument.URI
}

func serve([]string) {
	w := &watchdog{process: begin("server"), out: lspwire.NewWriter(os.Stdout), files: map[string]*openFile{}}
	r := lspwire.NewReader(os.Stdin)
	for {
		m, body, err := r.Read()
		if err != nil {
			w.ended(err)
		}
		w.process.Journal.Note(journal.Received, m.Method, json.RawMessage(body))
		var p params
		_ = json.Unmarshal(m.Params, &p)
		switch {
		case m.Method == "": // an answer to one of our own requests: nothing waits for it
		case m.IsRequest():
			w.request(m, p, body)
		default:
			w.notification(m, p, body)
		}
	}
}

// ended ends the watchdog after its input did.
func (w *watchdog) ended(err error) {
	w.process.Journal.Note(journal.EOF, err.Error(), nil)
	if _, stays := w.process.Flag("ignore-eof"); stays {
		select {}
	}
	w.mu.Lock()
	down := w.down
	w.mu.Unlock()
	if down {
		w.process.Exit(0)
	}
	w.endWorkers()
	why := err.Error()
	if errors.Is(err, io.EOF) {
		why = "Cannot read LSP message: Stream was closed"
	}
	fmt.Fprintln(os.Stderr, "Watchdog error:", why)
	w.process.Exit(1)
}

func (w *watchdog) request(m *lspwire.Message, p params, body []byte) {
	w.mu.Lock()
	down, ready := w.down, w.init != nil
	w.mu.Unlock()
	switch {
	case down:
		_ = w.out.ReplyError(m.ID, lspwire.InvalidRequest, "Request received after 'shutdown' request.")
	case m.Method == "initialize":
		w.mu.Lock()
		w.init = m.Params
		w.mu.Unlock()
		_ = w.out.Reply(m.ID, initializeResult)
	case !ready:
		fmt.Fprintln(os.Stderr, "Watchdog error: Expected method 'initialize', got method '"+m.Method+"'")
		w.process.Exit(1)
	case m.Method == "shutdown":
		w.shutDown(m.ID)
	case m.Method == "workspace/symbol":
		_ = w.out.Reply(m.ID, projectSymbols(p.Query))
	case p.uri() == "":
		_ = w.out.ReplyError(m.ID, lspwire.MethodNotFound, "No request handler found for '"+m.Method+"'")
	default:
		w.forward(m, p.uri(), body)
	}
}

func (w *watchdog) shutDown(id json.RawMessage) {
	w.mu.Lock()
	w.down = true
	w.mu.Unlock()
	if _, never := w.process.Flag("no-shutdown"); never {
		return
	}
	w.endWorkers()
	_ = w.out.Reply(id, nil)
}

// forward passes a request to the file's worker.
func (w *watchdog) forward(m *lspwire.Message, uri string, body []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.files[uri]
	switch {
	case f == nil:
		_ = w.out.ReplyError(m.ID, lspwire.ContentModified, "Cannot process request to closed file '"+uri+"'")
	case f.worker == nil:
		_ = w.out.ReplyError(m.ID, workerCrashed, crashText(uri, 134))
	default:
		f.worker.pending[string(m.ID)] = m.ID
		_ = f.worker.in.Raw(lspwire.Frame(body))
	}
}

func (w *watchdog) notification(m *lspwire.Message, p params, body []byte) {
	switch m.Method {
	case "initialized":
		w.ask()
	case "exit":
		w.mu.Lock()
		down := w.down
		w.mu.Unlock()
		if down {
			w.process.Exit(0)
		}
		w.endWorkers()
		w.process.Exit(1)
	case "textDocument/didOpen":
		w.open(p)
	case "textDocument/didChange":
		w.change(p, body)
		w.tellDependents(p.TextDocument.URI)
	case "textDocument/didSave":
		w.tellDependents(p.TextDocument.URI)
	case "workspace/didChangeWatchedFiles":
		for _, c := range p.Changes {
			w.tellDependents(c.URI)
		}
	case "textDocument/didClose":
		w.closeFile(p.TextDocument.URI)
	case "$/cancelRequest":
		w.cancel(p.ID, body)
	}
}

// ask sends the requests of the server's own; no answer to them is awaited.
func (w *watchdog) ask() {
	_ = w.out.Request("register_lean_watcher", "client/registerCapability", watcherRegistration)
	if _, refresh := w.process.Flag("refresh"); refresh {
		_ = w.out.Request("refresh_tokens", "workspace/semanticTokens/refresh", nil)
		_ = w.out.Request(1, "workspace/inlayHint/refresh", nil)
	}
}

func (w *watchdog) open(p params) {
	w.mu.Lock()
	defer w.mu.Unlock()
	uri := p.TextDocument.URI
	if old := w.files[uri]; old != nil {
		w.process.Journal.Note("opened twice", uri, nil)
		w.dismiss(old)
	}
	f := &openFile{uri: uri, text: p.TextDocument.Text, version: p.TextDocument.Version, mode: p.DependencyBuildMode}
	w.files[uri] = f
	w.startWorker(f)
}

func (w *watchdog) change(p params, body []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.files[p.TextDocument.URI]
	if f == nil {
		return
	}
	f.text, f.version = lsptext.Apply(f.text, p.ContentChanges), p.TextDocument.Version
	if f.worker == nil {
		w.startWorker(f)
		return
	}
	_ = f.worker.in.Raw(lspwire.Frame(body))
}

func (w *watchdog) closeFile(uri string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.files[uri]
	if f == nil {
		return
	}
	delete(w.files, uri)
	w.dismiss(f)
	_ = w.out.Notify("textDocument/publishDiagnostics", map[string]any{"uri": uri, "diagnostics": []any{}})
}

func (w *watchdog) cancel(id json.RawMessage, body []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.files {
		if f.worker != nil && f.worker.pending[string(id)] != nil {
			_ = f.worker.in.Raw(lspwire.Frame(body))
		}
	}
}

// tellDependents tells the workers of open files that import the changed one.
func (w *watchdog) tellDependents(uri string) {
	module := moduleOf(workDir(), lsptext.Path(uri))
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.files {
		if f.worker == nil || f.uri == uri {
			continue
		}
		for _, i := range parseHeader(f.text).imports {
			if i.Module == module {
				_ = f.worker.in.Notify("$/lean/staleDependency", map[string]string{"staleDependency": uri})
			}
		}
	}
}

// projectSymbols lists the declarations of the project's files whose name contains the query.
func projectSymbols(query string) []any {
	found := []any{}
	files, _ := filepath.Glob("*.lean")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		uri := lsptext.URI(filepath.Join(workDir(), file))
		for _, s := range symbols(string(text)) {
			if strings.Contains(s.Name, query) {
				location := map[string]any{"uri": uri, "range": s.SelectionRange}
				found = append(found, map[string]any{"name": s.Name, "kind": s.Kind, "location": location})
			}
		}
	}
	return found
}
