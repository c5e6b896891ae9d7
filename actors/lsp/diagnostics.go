package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// quiet is how long nothing more must have been published before a server's last
// publication counts as all that it has to say. Only servers that neither take a pull
// nor name versions are waited for so.
const quiet = time.Second

// Findings are the diagnostics of one version of a document.
type Findings struct {
	Version     int32
	Diagnostics []Diagnostic
	raw         json.RawMessage // the list as the server wrote it
}

// errOtherWay says that the server showed, while it was waited for, that there is a
// better way to know the end.
var errOtherWay = errors.New("another way is open")

// Diagnostics waits until the server has said all about the text that it was last sent
// of an open document, and about what it was told before this call of other files. It
// takes the first way that applies, each time anew, since servers register late:
// Lean's own request; a pull; TypeScript's own; else what is published. A context that ends before gives
// an *UnfinishedError.
func (c *Client) Diagnostics(ctx context.Context, doc Source) (Findings, error) {
	c.mu.Lock()
	touched := c.touched
	c.mu.Unlock()
	q := &question{Client: c, doc: doc, touched: touched}
	for {
		found, err := q.ask(ctx)
		switch {
		case err == nil:
			return found, nil
		case errors.Is(err, errOtherWay):
			continue
		case ctx.Err() != nil:
			return Findings{}, q.unfinished(context.Cause(ctx))
		}
		return Findings{}, err
	}
}

// question is one call of Diagnostics.
type question struct {
	*Client
	doc     Source
	touched touch
	pause   time.Duration // before the next pull
}

func (q *question) ask(ctx context.Context) (Findings, error) {
	t, err := q.text()
	if err != nil {
		return Findings{}, err
	}
	switch q.way(q.status(t.uri)) {
	case wayLean:
		return q.waitLean(ctx, t)
	case wayPull:
		return q.pull(ctx, t)
	case wayTSServer:
		return q.askTSServer(ctx, t)
	}
	return q.waitPublished(ctx, false)
}

// text is what the server was last sent. Another call may have sent a newer one since
// this call began; then the question is about that.
func (q *question) text() (text, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t := q.texts[q.doc.Path]; t != nil {
		return *t, nil
	}
	return text{}, fmt.Errorf("%s is not open at %s", q.doc.Path, q.Server())
}

type way int

const (
	wayPublished way = iota
	wayPull
	wayLean
	wayTSServer
)

func (q *question) way(s status) way {
	q.mu.Lock()
	noLean, noCommand := q.refused[leanWait], q.refused[executeCommand]
	q.mu.Unlock()
	lean := s.speaksLean || strings.HasPrefix(q.caps.server, "Lean")
	switch {
	case q.profile.Complete == CompleteLean && lean && !noLean:
		return wayLean
	case q.pulls():
		return wayPull
	case !noCommand && q.caps.runsTSServer():
		return wayTSServer
	}
	return wayPublished
}

// leanWait is answered once everything up to a version is elaborated and published.
const leanWait = "textDocument/waitForDiagnostics"

// waitLean asks only servers that have shown that they are Lean's: another one may
// leave an unknown request unanswered.
func (q *question) waitLean(ctx context.Context, t text) (Findings, error) {
	_, err := q.try(ctx, leanWait, map[string]any{"uri": t.uri, "version": t.version})
	refused, answer := (*NotOfferedError)(nil), (*ResponseError)(nil)
	switch {
	case err == nil:
		return q.waitPublished(ctx, true)
	case errors.As(err, &refused):
		return Findings{}, errOtherWay
	case errors.As(err, &answer) && answer.Code == codeContentModified:
		if now, gone := q.text(); gone == nil && now.version != t.version {
			return Findings{}, errOtherWay
		}
	}
	return Findings{}, err
}

// waitPublished waits for the publication that is final. whole says that the server has
// already published all that it will.
func (q *question) waitPublished(ctx context.Context, whole bool) (Findings, error) {
	for {
		t, err := q.text()
		if err != nil {
			return Findings{}, err
		}
		s := q.status(t.uri)
		if s.down != nil {
			return Findings{}, s.down
		}
		if !whole && q.way(s) != wayPublished {
			return Findings{}, errOtherWay
		}
		p, versioned, some := s.current(t)
		var end <-chan time.Time
		if some {
			rest := time.Until(q.end(p, versioned))
			if whole || rest <= 0 {
				return q.findings(t, p)
			}
			end = time.After(rest)
		}
		select {
		case <-s.changed:
		case <-end:
		case <-ctx.Done():
			return Findings{}, ctx.Err()
		}
	}
}

// current picks the publication that belongs to t: sent after t was, and for its
// version where the server names versions.
func (s *status) current(t text) (p published, versioned, some bool) {
	if s.versioned.sequence > t.mark && s.versioned.version >= t.version {
		return s.versioned, true, true
	}
	return s.plain, false, s.plain.sequence > t.mark && !s.knowsVersions
}

// end is when p is final if nothing else comes: at once where the server's first
// publication of a version is complete, else after the quiet time. What was published
// before the server heard of other files' changes gets that time anew.
func (q *question) end(p published, versioned bool) time.Time {
	switch {
	case p.sequence <= q.touched.mark:
		return q.touched.at.Add(quiet)
	case versioned && q.profile.Complete == CompleteVersion:
		return p.at
	}
	return p.at.Add(quiet)
}

func (q *question) findings(t text, p published) (Findings, error) {
	list, err := q.parse("textDocument/publishDiagnostics", p.raw)
	return Findings{Version: t.version, Diagnostics: list, raw: p.raw}, err
}

func (q *question) parse(method string, raw json.RawMessage) ([]Diagnostic, error) {
	list, err := parseDiagnostics(method, raw)
	for i := range list {
		list[i].Range = rangeFromServer(q.doc.Text, list[i].Range, q.caps.encoding)
	}
	return list, err
}

// unfinished is the error of a question that got no complete answer.
func (q *question) unfinished(cause error) error {
	e := &UnfinishedError{Err: cause}
	t, err := q.text()
	if err != nil {
		return e
	}
	e.Progress = q.Progress(t.uri)
	s := q.status(t.uri)
	if p, _, some := s.current(t); some {
		found, err := q.findings(t, p)
		if err != nil {
			return err
		}
		e.Published, e.Partial = true, found.Diagnostics
	}
	return e
}
