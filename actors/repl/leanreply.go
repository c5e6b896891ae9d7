package repl

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed-f6977891/hearth/messages"
)

// leanReply is what the Lean REPL answers to a command. Pointers tell what is
// missing from what is zero; further fields (tactics, infotree) are not ours.
type leanReply struct {
	Message  *string       `json:"message"`
	Env      *uint64       `json:"env"`
	Messages []leanMessage `json:"messages"`
	Sorries  []leanSorry   `json:"sorries"`
}

type leanMessage struct {
	Severity string     `json:"severity"`
	Pos      *leanPlace `json:"pos"`
	EndPos   *leanPlace `json:"endPos"`
	Data     *string    `json:"data"`
}

type leanSorry struct {
	ProofState jsontext.Value `json:"proofState"`
	Pos        *leanPlace     `json:"pos"`
	EndPos     *leanPlace     `json:"endPos"`
	Goal       *string        `json:"goal"`
}

type leanPlace struct {
	Line   *uint32 `json:"line"`
	Column *uint32 `json:"column"`
}

// parseLean reads a reply and checks its shape. The JSON library refuses repeated
// names, numbers such as NaN, invalid UTF-8, lone surrogates and whatever follows
// the object, which encoding/json lets pass.
func parseLean(raw []byte) (leanReply, error) {
	var reply leanReply
	if err := json.Unmarshal(raw, &reply); err != nil {
		return leanReply{}, protocolErrorf("REPL reply is not what a command gives: %s. Tail: %s", firstLine(err.Error()), tail(raw))
	}
	if fault := reply.shape(); fault != "" {
		return leanReply{}, protocolErrorf("REPL reply is not what a command gives: %s. Tail: %s", fault, tail(raw))
	}
	return reply, nil
}

// shape says what is wrong with a reply, or nothing.
func (r leanReply) shape() string {
	if r.Message != nil {
		if r.Env != nil || r.Messages != nil || r.Sorries != nil {
			return "message beside a result"
		}
		if *r.Message == "" {
			return "empty message"
		}
		return ""
	}
	if r.Env == nil {
		return "no env"
	}
	for _, m := range r.Messages {
		switch {
		case !knownSeverity[m.Severity]:
			return "severity is none of trace, info, warning, error"
		case m.Data == nil:
			return "message without data"
		case m.Pos == nil || !m.Pos.whole() || !m.EndPos.whole():
			return "message without line and column"
		}
	}
	for _, s := range r.Sorries {
		switch {
		case s.Goal == nil:
			return "sorry without goal"
		case s.ProofState == nil:
			return "sorry without proofState"
		case !s.Pos.whole() || !s.EndPos.whole():
			return "sorry without line and column"
		}
	}
	return ""
}

const leanError = "error"

var knownSeverity = map[string]bool{"trace": true, "info": true, "warning": true, leanError: true}

// whole tells whether a place that is there has both its parts.
func (p *leanPlace) whole() bool { return p == nil || p.Line != nil && p.Column != nil }

// place moves a place down by what was cut off above it.
func (p *leanPlace) place(shift int) *messages.Place {
	if p == nil {
		return nil
	}
	return &messages.Place{Line: int(*p.Line) + shift, Column: int(*p.Column)}
}

// fault is why a reply to the warm-up is no success, or nothing.
func (r leanReply) fault() string {
	if r.Message != nil {
		return *r.Message
	}
	for _, m := range r.Messages {
		if m.Severity == leanError {
			return *m.Data
		}
	}
	return ""
}

// report keeps what is public: numbers of environments and proof states mean
// nothing outside the child.
func (r leanReply) report(shift int) messages.RunReport {
	report := messages.RunReport{Protocol: messages.ReportLean}
	if r.Message != nil {
		report.Error = *r.Message
	}
	for _, m := range r.Messages {
		report.Messages = append(report.Messages, messages.Message{
			Severity: m.Severity, Pos: m.Pos.place(shift), EndPos: m.EndPos.place(shift), Data: *m.Data,
		})
	}
	for _, s := range r.Sorries {
		report.Sorries = append(report.Sorries, messages.Sorry{
			Pos: s.Pos.place(shift), EndPos: s.EndPos.place(shift), Goal: *s.Goal,
		})
	}
	return report
}
