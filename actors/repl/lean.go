package repl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed-f6977891/hearth/messages"
)

// smokeTimeout is how long a Lean child may take for #check Nat once its imports
// are loaded. A child that misses it has loaded nothing that works.
const smokeTimeout = 10 * time.Second

var errSmokeLate = fmt.Errorf("no answer within %s", smokeTimeout)

// Lean speaks the protocol of leanprover-community/repl: a request is a JSON
// object and a blank line, and so is its reply.
type Lean struct {
	imports []string
	env     uint64 // of the warm-up: no request changes it, each makes one of its own
}

// NewLean makes the protocol of one child, whose warm-up loads the imports.
func NewLean(imports []string) *Lean { return &Lean{imports: imports} }

// Warmup loads the imports and runs a smoke test on what they gave.
func (l *Lean) Warmup(ctx context.Context, c *Client) error {
	var base *uint64
	if len(l.imports) > 0 {
		reply, err := l.ask(ctx, c, "import "+strings.Join(l.imports, "\nimport "), nil)
		if err != nil {
			return err
		}
		if fault := reply.fault(); fault != "" {
			return fmt.Errorf("warm-up failed: %s (imports: %s)", firstLine(fault), strings.Join(l.imports, ", "))
		}
		base = reply.Env
	}
	late, cancel := context.WithTimeoutCause(ctx, smokeTimeout, errSmokeLate)
	defer cancel()
	reply, err := l.ask(late, c, "#check Nat", base)
	if err == nil && reply.fault() != "" {
		err = errors.New(firstLine(reply.fault()))
	}
	if err != nil {
		return fmt.Errorf("smoke test failed: #check Nat: %w; LEAN_PATH may be misconfigured", err)
	}
	if base == nil {
		base = reply.Env // of a check alone, so as good as that of no command
	}
	l.env = *base
	return nil
}

// Run runs the code, in the warm environment where its header says so.
func (l *Lean) Run(ctx context.Context, c *Client, req Request) (messages.RunReport, error) {
	var env *uint64
	if req.Header.Warm {
		env = &l.env
	}
	began := time.Now()
	reply, err := l.ask(ctx, c, req.Code, env)
	if err != nil {
		return messages.RunReport{}, err
	}
	report := reply.report(req.Shift)
	report.Header = req.Header
	report.Duration = time.Since(began).Seconds()
	return report, nil
}

func (l *Lean) ask(ctx context.Context, c *Client, cmd string, env *uint64) (leanReply, error) {
	request, err := leanRequest(cmd, env)
	if err != nil {
		return leanReply{}, &ExchangeError{Err: err}
	}
	raw, err := c.exchange(ctx, request, leanFrame)
	if err != nil {
		return leanReply{}, err
	}
	reply, err := parseLean(raw)
	if err != nil {
		return leanReply{}, c.fail(true, err)
	}
	return reply, nil
}

// leanRequest escapes only what JSON requires: Lean's parser doesn't join the
// surrogate pairs that many JSON writers make of what lies beyond the BMP. The
// frame holds exactly one blank line, since a second is a request of its own that
// ends the child.
func leanRequest(cmd string, env *uint64) ([]byte, error) {
	request, err := jsontext.AppendQuote([]byte(`{"cmd":`), cmd)
	if err != nil {
		return nil, messages.Invalidf("the code is not valid UTF-8")
	}
	if env != nil {
		request = strconv.AppendUint(append(request, `,"env":`...), *env, 10)
	}
	return append(request, "}\n\n"...), nil
}

var blankLine = []byte("\n\n")

// leanFrame ends a reply at the first blank line.
func leanFrame(buf []byte, from int) (end, next int) {
	if bytes.HasPrefix(buf, blankLine[:1]) {
		return 0, 1
	}
	start := max(0, from-1)
	at := bytes.Index(buf[start:], blankLine)
	if at < 0 {
		return -1, 0
	}
	return start + at, start + at + len(blankLine)
}
