package main

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed-f6977891/hearth/messages"
)

// exitUnread is the exit code of a command whose reader has left, as a shell gives it
// for a program that died of SIGPIPE. Nothing is said of it: head had its lines.
const exitUnread = 128 + int(syscall.SIGPIPE)

// output is standard output.
type output struct {
	to     io.Writer
	used   bool   // something was written
	unread bool   // nobody reads it any more
	left   func() // is called then: the rest of the command is for nobody
}

func (o *output) Write(p []byte) (int, error) {
	o.used = true
	n, err := o.to.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		o.unread = true
		o.left()
	}
	return n, err
}

// speaksProtocol annotates a command whose standard output is a protocol's: no result is
// printed there.
const speaksProtocol = "protocol"

// failure is what a program reads of a command that has no result.
type failure struct {
	Error failureDetail `json:"error"`
}

type failureDetail struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Partial any    `json:"partial,omitempty"` // what there was when the time ended
}

func failureOf(err error) failure {
	detail := failureDetail{Kind: messages.KindOf(err).String(), Message: err.Error()}
	if timeout := (*messages.TimeoutError)(nil); errors.As(err, &timeout) {
		detail.Partial = timeout.Partial
	}
	return failure{detail}
}

// asksJSON looks at the arguments themselves: those that were refused were not read to
// their end. Behind -- they are another program's.
func asksJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		value, given := strings.CutPrefix(arg, "--json=")
		asked, err := strconv.ParseBool(value)
		return arg == "--json" || given && err == nil && asked
	})
}

// print writes a command's result. A result that could not be written is a failure
// of the command: whoever reads it has only a part.
func (a *app) print(text string) error {
	if _, err := io.WriteString(a.stdout, text); err != nil {
		return messages.Errorf(messages.KindInternal, "cannot write the result: %w", err)
	}
	return nil
}

// printJSON writes a command's result for programs.
func (a *app) printJSON(value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return messages.Errorf(messages.KindInternal, "cannot write the result: %w", err)
	}
	return a.print(string(text) + "\n")
}
