package repl

import (
	"bytes"
	"context"
	_ "embed" // for the driver
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
type JSONL struct{ warmup string }

// NewJSONL makes the protocol of one child, whose warm-up runs the code.
func NewJSONL(warmup string) *JSONL { return &JSONL{warmup: warmup} }

// Warmup runs the warm-up code; an empty one proves that the child answers.
func (j *JSONL) Warmup(ctx context.Context, c *Client) error {
	reply, err := j.ask(ctx, c, j.warmup)
	if err == nil && !*reply.OK {
		err = errors.New(lastLine(*reply.Error))
	}
	if err != nil {
		return fmt.Errorf("warm-up failed: %w", err)
	}
	return nil
}

// Run runs the code.
func (j *JSONL) Run(ctx context.Context, c *Client, req Request) (messages.RunReport, error) {
	began := time.Now()
	reply, err := j.ask(ctx, c, req.Code)
	if err != nil {
		return messages.RunReport{}, err
	}
	report := reply.report()
	report.Duration = time.Since(began).Seconds()
	return report, nil
}

func (j *JSONL) ask(ctx context.Context, c *Client, code string) (jsonlReply, error) {
	request, err := jsontext.AppendQuote([]byte(`{"code":`), code)
	if err != nil {
		return jsonlReply{}, &ExchangeError{Err: messages.Invalidf("the code is not valid UTF-8")}
	}
	raw, err := c.exchange(ctx, append(request, "}\n"...), jsonlFrame)
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
