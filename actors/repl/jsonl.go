package repl

import (
	"bytes"
	"context"
	_ "embed" // for the driver
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/seed-f6977891/hearth/messages"
)

// pythonDriver makes a Python interpreter speak jsonl.
//
//go:embed driver.py
var pythonDriver string

// PythonCommand is the command that makes an interpreter, python3 for instance, a
// jsonl child. The driver goes on the command line: a file of it could be
// changed or swept away under a runtime that lives for weeks, and standard input
// is the protocol's.
func PythonCommand(interpreter []string) []string {
	return append(append([]string(nil), interpreter...), "-I", "-u", "-c", pythonDriver)
}

// JSONL speaks the generic protocol: one JSON object a line, {"code":…} to the
// child and {"ok":…,"stdout":…,"stderr":…,"result":…,"error":…} back.
//
// hearth's own driver is told a run's time in seconds, too, as "limit". When that is
// over it replies with "timed_out": true, what was printed so far, and where the code
// was as its error.
type JSONL struct {
	warmup string
	driven bool // by hearth's own driver
}

// lastWords is how long after its end a run may still say what it had printed.
const lastWords = 500 * time.Millisecond

// NewJSONL makes the protocol of one child, whose warm-up runs the code.
func NewJSONL(warmup string) *JSONL { return &JSONL{warmup: warmup} }

// NewPython is NewJSONL for a child of PythonCommand.
func NewPython(warmup string) *JSONL { return &JSONL{warmup: warmup, driven: true} }

// Warmup runs the warm-up code; an empty one proves that the child answers.
func (j *JSONL) Warmup(ctx context.Context, c *Client) error {
	reply, err := ask(ctx, c, jsonlRequest{Code: j.warmup})
	if err == nil && !*reply.OK {
		err = errors.New(lastLine(*reply.Error))
	}
	if err != nil {
		return fmt.Errorf("warm-up failed: %w", err)
	}
	return nil
}

// Run runs the code. Where its time ended and the child said so, the error's reason is
// a *messages.TimeoutError with the report so far.
func (j *JSONL) Run(ctx context.Context, c *Client, req Request) (messages.RunReport, error) {
	began, request := time.Now(), jsonlRequest{Code: req.Code}
	if deadline, ok := ctx.Deadline(); ok && j.driven && ctx.Err() == nil {
		limit := max(0.001, time.Until(deadline).Seconds()) // 0 would be none
		request.Limit = &limit
		var cancel func()
		ctx, cancel = outliving(ctx, lastWords)
		defer cancel()
	}
	reply, err := ask(ctx, c, request)
	if err != nil {
		return messages.RunReport{}, err
	}
	report := reply.report()
	report.Duration = time.Since(began).Seconds()
	if reply.TimedOut && j.driven {
		return messages.RunReport{}, c.fail(true, &messages.TimeoutError{After: time.Since(began), Partial: report})
	}
	return report, nil
}

// outliving gives a context that ends as ctx does, and later by so much where ctx ends
// by its deadline.
func outliving(ctx context.Context, by time.Duration) (context.Context, func()) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			select {
			case <-time.After(by):
			case <-longer.Done():
			}
		}
		cancel(context.Cause(ctx))
	})
	return longer, func() {
		stop()
		cancel(nil)
	}
}

// jsonlRequest is what a jsonl child is asked.
type jsonlRequest struct {
	Code  string   `json:"code"`
	Limit *float64 `json:"limit,omitempty"` // seconds; for hearth's own driver
}

func ask(ctx context.Context, c *Client, request jsonlRequest) (jsonlReply, error) {
	line, err := json.Marshal(request)
	if err != nil {
		return jsonlReply{}, &ExchangeError{Err: messages.Invalidf("the code is not valid UTF-8")}
	}
	raw, err := c.exchange(ctx, append(line, '\n'), jsonlFrame)
	if err != nil {
		return jsonlReply{}, err
	}
	reply, err := parseJSONL(raw)
	if err != nil {
		return jsonlReply{}, c.fail(true, err)
	}
	return reply, nil
}

// jsonlFrame ends a reply at the end of its line.
func jsonlFrame(buf []byte, from int) (end, next int) {
	at := bytes.IndexByte(buf[from:], '\n')
	if at < 0 {
		return -1, 0
	}
	return from + at, from + at + 1
}

// jsonlReply is what a jsonl child answers. Only ok is required of every reply,
// and error of one that is not ok.
type jsonlReply struct {
	OK     *bool   `json:"ok"`
	Stdout string  `json:"stdout"`
	Stderr string  `json:"stderr"`
	Result *string `json:"result"`
	Error  *string `json:"error"`

	TimedOut bool `json:"timed_out"`
}

func parseJSONL(raw []byte) (jsonlReply, error) {
	var reply jsonlReply
	if err := json.Unmarshal(raw, &reply); err != nil {
		return jsonlReply{}, protocolErrorf("REPL reply is not a jsonl reply: %s. Tail: %s", firstLine(err.Error()), tail(raw))
	}
	failed := reply.Error != nil && *reply.Error != ""
	switch {
	case reply.OK == nil:
		return jsonlReply{}, protocolErrorf("REPL reply is not a jsonl reply: no ok. Tail: %s", tail(raw))
	case *reply.OK == failed:
		return jsonlReply{}, protocolErrorf("REPL reply is not a jsonl reply: ok is %t, and error says otherwise. Tail: %s", *reply.OK, tail(raw))
	}
	return reply, nil
}

func (r jsonlReply) report() messages.RunReport {
	report := messages.RunReport{Protocol: messages.ReportJSONL, Output: r.Stdout, Stderr: r.Stderr}
	if r.Result != nil {
		report.Result = *r.Result
	}
	if !*r.OK {
		report.Error = *r.Error
	}
	return report
}
