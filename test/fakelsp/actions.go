package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

func (s *server) doAll(actions []script.Action, trigger string, e event) {
	for _, a := range actions {
		if err := s.do(a, trigger, e); err != nil {
			s.process.Misused(fmt.Errorf("rule for %s, %s: %w", trigger, a.Do, err))
		}
	}
}

// do does one action. Only what the script says wrongly is an error: that the client reads no more is the client's
// business and perhaps what the test wants.
func (s *server) do(a script.Action, trigger string, e event) error {
	switch a.Do {
	case "default":
		s.byDefault(trigger, e)
	case "repeat":
		for range a.N {
			s.doAll(a.Actions, trigger, e)
		}
	case "reply", "error", "publish", "notify", "request", "await", "raw":
		return s.speak(a, e)
	case "stop_reading":
		s.deaf.Store(true)
	default:
		return script.Act(s.process, a)
	}
	return nil
}

// speak does the actions that write to the client or wait for it.
func (s *server) speak(a script.Action, e event) error {
	var placeholders map[string]any
	if bytes.Contains(a.Value, []byte("${")) { // they cost a hash of the document
		placeholders = s.placeholders(e)
	}
	value, err := script.Expand(a.Value, placeholders)
	if err != nil {
		return err
	}
	switch a.Do {
	case "reply":
		s.reply(e.message.ID, value)
	case "error":
		s.note(journal.Sent, "", e.message.ID)
		_ = s.out.ReplyError(e.message.ID, a.Code, a.Text)
	case "publish":
		s.publish(e.document, value)
	case "notify":
		s.notify(a.Method, value)
	case "request":
		s.note(journal.Sent, a.Method, a.ID)
		_ = s.out.Request(a.ID, a.Method, value)
		if a.Await {
			<-s.answer(a.ID)
		}
	case "await":
		<-s.answer(a.ID)
	case "raw":
		s.raw(a)
	}
	return nil
}

// raw writes bytes as they are, in pieces where the script cuts them. The pause makes it likely, not certain, that the
// reader sees the pieces apart: a test may not depend on it.
func (s *server) raw(a script.Action) {
	s.note(journal.Sent, "raw", nil)
	from := 0
	for _, cut := range append(a.Cuts, len(a.Raw)) {
		if from > 0 {
			time.Sleep(2 * time.Millisecond)
		}
		_ = s.out.Raw(a.Raw[from:cut])
		from = cut
	}
}

func (s *server) reply(id json.RawMessage, result any) {
	s.note(journal.Sent, "", id)
	_ = s.out.Reply(id, result)
}

func (s *server) notify(method string, params any) {
	s.note(journal.Sent, method, nil)
	_ = s.out.Notify(method, params)
}

func (s *server) publish(d document, diagnostics any) {
	params := map[string]any{"uri": d.uri, "diagnostics": diagnostics}
	if !s.script.NoVersion {
		params["version"] = d.version
	}
	s.notify("textDocument/publishDiagnostics", params)
}

func (s *server) note(event, detail string, id json.RawMessage) {
	if id == nil {
		s.process.Journal.Note(event, detail, nil)
		return
	}
	s.process.Journal.Note(event, detail, map[string]json.RawMessage{"id": id})
}
