package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

const (
	pullMethod   = "textDocument/diagnostic"
	firstPause   = 50 * time.Millisecond // before a pull is repeated; doubles
	longestPause = time.Second
)

// pulled is the last full answer for a document: what "unchanged" refers to.
type pulled struct {
	resultID string
	raw      json.RawMessage
}

// pulls tells whether the server gives its findings when it is asked for them.
func (c *Client) pulls() bool {
	c.mu.Lock()
	refused := c.refused[pullMethod]
	c.mu.Unlock()
	return !refused && (offered(c.caps.providers["diagnosticProvider"]) || len(c.Registrations(pullMethod)) > 0)
}

// pull asks for the diagnostics of t.
func (q *question) pull(ctx context.Context, t text) (Findings, error) {
	params := map[string]any{"textDocument": map[string]string{"uri": t.uri}}
	if identifier := q.pullIdentifier(); identifier != "" {
		params["identifier"] = identifier
	}
	if t.pulled.resultID != "" {
		params["previousResultId"] = t.pulled.resultID
	}
	result, err := q.try(ctx, pullMethod, params)
	refused, answer := (*NotOfferedError)(nil), (*ResponseError)(nil)
	switch {
	case err == nil:
		return q.pullFindings(t, result)
	case errors.As(err, &refused):
		return Findings{}, errOtherWay
	case errors.As(err, &answer) && (answer.Code == codeServerCancelled || answer.Code == codeContentModified):
		return Findings{}, q.again(ctx)
	}
	return Findings{}, err
}

// again pauses before the pull is repeated: a server that is still loading cancels
// every pull.
func (q *question) again(ctx context.Context) error {
	q.pause = min(max(2*q.pause, firstPause), longestPause)
	select {
	case <-time.After(q.pause):
		return errOtherWay
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pullFindings reads a report. The kind of a full one is empty in some servers.
func (q *question) pullFindings(t text, result json.RawMessage) (Findings, error) {
	const what = "result of " + pullMethod
	var report struct {
		Kind     string          `json:"kind"`
		ResultID string          `json:"resultId"`
		Items    json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(result, &report); err != nil {
		return Findings{}, &MalformedError{Method: what, Want: "a report"}
	}
	if report.Kind == "unchanged" {
		if t.pulled.resultID == "" {
			return Findings{}, &MalformedError{Method: what, Want: "a full report, as nothing was reported before"}
		}
		report.Items = t.pulled.raw // of another text, maybe, in which the same places count otherwise
		list, err := q.parse(what, report.Items)
		return Findings{Version: t.version, Diagnostics: list, raw: report.Items}, err
	}
	list, err := q.parse(what, report.Items)
	if err != nil {
		return Findings{}, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if now := q.texts[q.doc.Path]; now != nil {
		now.pulled = pulled{resultID: report.ResultID, raw: report.Items}
	}
	return Findings{Version: t.version, Diagnostics: list, raw: report.Items}, nil
}

// pullIdentifier is what the server calls its diagnostics, which a pull must repeat.
func (q *question) pullIdentifier() string {
	options := q.caps.providers["diagnosticProvider"]
	if regs := q.Registrations(pullMethod); len(regs) > 0 {
		options = regs[0].Options
	}
	var named struct {
		Identifier string `json:"identifier"`
	}
	_ = json.Unmarshal(options, &named) // options of another shape name none
	return named.Identifier
}
