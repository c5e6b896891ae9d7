//go:build linux

package soak_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// caller is one end of a connection to the daemon.
type caller interface {
	Call(ctx context.Context, method string, params, result any) error
}

// Kinds of calls, as the table of latencies names them.
const (
	check  = "check"
	hover  = "hover"
	query  = "query"
	run    = "run"
	status = "status"
)

// deed is what an agent does to its own call.
type deed int

const (
	plain     deed = iota
	limited        // its own time limit is shorter than the work may take
	hurried        // the caller's deadline is
	cancelled      // the caller leaves
)

// patience is the limit of plain calls: on the slowest machine something hangs that
// takes longer.
const patience = 120 * time.Second

// call is one call as it was drawn.
type call struct {
	kind    string
	deed    deed
	soon    time.Duration // until the deed
	slow    bool          // the work takes three seconds
	project *project
	file    *file
	label   string // of a run
}

// draw draws a call. Agents like two projects better than others.
func draw(rng *rand.Rand, w *world, agent, number int) call {
	c := call{soon: time.Duration(1+rng.IntN(400)) * time.Millisecond, label: fmt.Sprintf("soak-%d-%d", agent+1, number)}
	c.project = w.projects[(agent+rng.IntN(2))%len(w.projects)]
	if rng.IntN(3) == 0 {
		c.project = w.projects[rng.IntN(len(w.projects))]
	}
	switch n := rng.IntN(100); {
	case n < 35:
		c.kind = check
	case n < 55:
		c.kind = hover
	case n < 65:
		c.kind = query
	case n < 90:
		c.kind = run
	default:
		c.kind = status
	}
	switch n := rng.IntN(100); {
	case n < 80:
	case n < 86:
		c.deed = limited
	case n < 92:
		c.deed = hurried
	default:
		c.deed = cancelled
	}
	c.slow = c.deed != plain && rng.IntN(2) == 0
	c.file = c.project.files[rng.IntN(len(c.project.files))]
	if c.slow && c.kind == check && c.project.language == lean {
		c.file = c.project.slow
	}
	return c
}

// context is the caller's own, with its deed in it.
func (c call) context(ctx context.Context) (context.Context, context.CancelFunc) {
	switch c.deed {
	case hurried:
		return context.WithTimeout(ctx, c.soon)
	case cancelled:
		ctx, cancel := context.WithCancel(ctx)
		timer := time.AfterFunc(c.soon, cancel)
		return ctx, func() { timer.Stop(); cancel() }
	}
	return context.WithTimeout(ctx, 2*patience)
}

func (c call) limit() time.Duration {
	if c.deed == limited {
		return c.soon
	}
	return patience
}

// do makes the call. The sign is what its answer says of the text or the code, empty
// where it says nothing.
func (c call) do(ctx context.Context, by caller) (sign string, err error) {
	document := messages.Document{Project: c.project.dir, File: c.file.path, Timeout: c.limit()}
	switch c.kind {
	case check:
		var report messages.DiagnosticsReport
		err = by.Call(ctx, wire.MethodDiagnostics, wire.DiagnosticsParams{Document: document, Format: wire.FormatReport}, &report)
		if err != nil {
			return "", err
		}
		if len(report.Diagnostics) != 1 {
			return fmt.Sprintf("%d findings", len(report.Diagnostics)), nil
		}
		return c.project.sign(report.Diagnostics[0].Message), nil
	case hover:
		var report messages.HoverReport
		err = by.Call(ctx, wire.MethodHover, wire.HoverParams{Document: document, Position: messages.Position{Character: 1},
			Format: wire.FormatReport}, &report)
		if err != nil || c.project.language == lean { // which says the same of every version
			return "", err
		}
		return c.project.sign(report.Text), nil
	case query:
		var report messages.QueryReport
		params := wire.QueryParams{Document: document, Method: "textDocument/documentSymbol", Format: wire.FormatReport}
		if c.slow {
			params.Method, params.Position = slowMethod, &messages.Position{Character: 1}
		}
		return "", by.Call(ctx, wire.MethodQuery, params, &report)
	case run:
		var report messages.RunReport
		snippet := messages.Snippet{Project: c.project.dir, Code: c.code(), Timeout: c.limit()}
		err = by.Call(ctx, wire.MethodRun, wire.RunParams{Snippet: snippet, Format: wire.FormatReport}, &report)
		return c.project.output(report), err
	}
	var report messages.Status
	err = by.Call(ctx, wire.MethodStatus, wire.StatusParams{Format: wire.FormatReport}, &report)
	for _, cache := range report.Caches {
		if cache.Occupied > cache.Limit {
			sign = fmt.Sprintf("%s holds %d of %d", cache.Actor, cache.Occupied, cache.Limit)
		}
	}
	return sign, err
}

// slowMethod is the request that the script of the stand-in takes three seconds for.
const slowMethod = "textDocument/definition"

// code is what a run sends. Its label comes first: journals keep the beginning.
func (c call) code() string {
	deed := ""
	if c.slow {
		deed = " fake: sleep 3s"
	}
	if c.project.language == lean {
		return fmt.Sprintf("-- %s\n--%s\n#eval %s\n", c.label, deed, c.number())
	}
	return fmt.Sprintf("# %s\n#%s\n", c.label, deed)
}

// number is the label as Lean's stand-in can compute it: a text would be none.
func (c call) number() string {
	return strings.ReplaceAll(strings.TrimPrefix(c.label, "soak-"), "-", "000")
}

// sign finds in an answer what tells versions apart.
func (p *project) sign(text string) string {
	if p.language == lean {
		return text
	}
	_, text, _ = strings.Cut(text, "sha256 ")
	text, _, _ = strings.Cut(text, " ")
	return text
}

func (p *project) output(report messages.RunReport) string {
	switch {
	case report.Error != "":
		return report.Error
	case p.language == fake:
		return p.sign(report.Result)
	}
	var all []string
	for _, m := range report.Messages {
		all = append(all, m.Data)
	}
	return strings.Join(all, "|")
}

// expected tells whether the answer of a call that began then is its own.
func (c call) expected(sign string, begun, ended time.Time) bool {
	switch {
	case c.kind == check, c.kind == hover && c.project.language == fake:
		return c.file.wasThere(sign, begun, ended)
	case c.kind == run && c.project.language == fake:
		return sign == digest(c.code())
	case c.kind == run:
		return sign == c.number()
	}
	return sign == ""
}

func (c call) String() string {
	text, _ := json.Marshal(map[string]any{"kind": c.kind, "deed": c.deed, "soon": c.soon.String(), "slow": c.slow,
		"project": c.project.dir, "sheltered": c.project.sheltered, "file": c.file.path, "label": c.label})
	return string(text)
}
