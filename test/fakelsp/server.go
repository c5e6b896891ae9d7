package main

import (
	"encoding/json"
	"io"
	"sync"
	"sync/atomic"

	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/lsptext"
	"github.com/seed-f6977891/hearth/test/standins/lspwire"
	"github.com/seed-f6977891/hearth/test/standins/play"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

type server struct {
	process    *play.Process
	out        *lspwire.Writer
	script     script.LSP
	generation int
	deaf       atomic.Bool // reads nothing any more

	mu        sync.Mutex
	fired     map[string]int // trigger: how often
	documents map[string]document
	answers   map[string]chan struct{} // id of a request of ours: closed once it is answered
	shutdown  bool
}

// document is an open file.
type document struct {
	uri     string
	version int
	text    string
}

// event is what a rule was fired by.
type event struct {
	message  *lspwire.Message
	document document
	position lsptext.Position
}

func newServer(p *play.Process, out io.Writer) *server {
	return &server{
		process: p, out: lspwire.NewWriter(out), generation: 1,
		fired: map[string]int{}, documents: map[string]document{}, answers: map[string]chan struct{}{},
	}
}

// serve reads messages until standard input ends, and then stays if the script says so.
func (s *server) serve(in io.Reader) {
	s.fire(script.OnStart, event{message: &lspwire.Message{}})
	r := lspwire.NewReader(in)
	for !s.deaf.Load() {
		m, body, err := r.Read()
		if err != nil {
			s.process.Journal.Note(journal.EOF, err.Error(), nil)
			s.fire(script.OnEOF, event{message: &lspwire.Message{}})
			break
		}
		s.process.Journal.Note(journal.Received, m.Method, json.RawMessage(body))
		if m.Method == "" {
			s.answered(m.ID)
			continue
		}
		s.fire(m.Method, s.observe(m))
	}
	select {}
}

// answer returns the channel that is closed by the answer to our request with that id.
func (s *server) answer(id json.RawMessage) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.answers[string(id)]
	if c == nil {
		c = make(chan struct{})
		s.answers[string(id)] = c
	}
	return c
}

// answered wakes who waits for the answer; a second answer to the same request is only noted.
func (s *server) answered(id json.RawMessage) {
	c := s.answer(id)
	select {
	case <-c:
		s.process.Journal.Note("answered twice", string(id), nil)
	default:
		close(c)
	}
}

// observe keeps the documents up to date and says what m speaks of.
func (s *server) observe(m *lspwire.Message) event {
	var params struct {
		TextDocument struct {
			URI     string `json:"uri"`
			Version int    `json:"version"`
			Text    string `json:"text"`
		} `json:"textDocument"`
		Position       lsptext.Position `json:"position"`
		ContentChanges []lsptext.Change `json:"contentChanges"`
	}
	_ = json.Unmarshal(m.Params, &params)
	uri := params.TextDocument.URI

	s.mu.Lock()
	defer s.mu.Unlock()
	doc, open := s.documents[uri]
	switch m.Method {
	case "textDocument/didOpen":
		if open {
			s.process.Journal.Note("opened twice", uri, nil)
		}
		doc = document{uri: uri, version: params.TextDocument.Version, text: params.TextDocument.Text}
		s.documents[uri] = doc
	case "textDocument/didChange":
		doc.version = params.TextDocument.Version
		doc.text = lsptext.Apply(doc.text, params.ContentChanges)
		s.documents[uri] = doc
	case "textDocument/didClose":
		delete(s.documents, uri)
	}
	return event{message: m, document: doc, position: params.Position}
}

// fire does what the first fitting rule says, or the default.
func (s *server) fire(trigger string, e event) {
	rule := s.rule(trigger)
	switch {
	case rule == nil:
		s.byDefault(trigger, e)
	case rule.Inline || trigger == script.OnStart:
		s.doAll(rule.Do, trigger, e)
	default:
		go s.doAll(rule.Do, trigger, e)
	}
}

func (s *server) rule(trigger string) *script.Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fired[trigger]++
	for i, r := range s.script.Rules {
		fits := r.When == trigger && (r.Nth == 0 || r.Nth == s.fired[trigger])
		if fits && (r.Generation == 0 || r.Generation == s.generation) {
			return &s.script.Rules[i]
		}
	}
	return nil
}
