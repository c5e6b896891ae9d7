package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

var (
	// ErrExited says that a child's standard output ended. Its owner knows the
	// exit status and the last lines of its standard error.
	ErrExited = errors.New("REPL process exited")
	// ErrClosedStdin says that a child closed its standard input, mostly by exiting.
	ErrClosedStdin = errors.New("REPL process closed stdin while writing")
	// ErrBroken refuses the use of a child of which an exchange failed.
	ErrBroken = errors.New("REPL process is not used again after a failed exchange")
	// ErrProtocol is what every breach of the protocol by a child matches.
	ErrProtocol = errors.New("REPL protocol error")
)

// ExchangeError says that an exchange with a child failed. Sent tells whether any
// byte of the request was attempted: from then on its outcome is unknown, and
// without it another child may take the request. Err matches ErrExited,
// ErrClosedStdin, ErrProtocol, or the cause of the context that ended.
type ExchangeError struct {
	Sent bool
	Err  error
}

func (e *ExchangeError) Error() string { return e.Err.Error() }
func (e *ExchangeError) Unwrap() error { return e.Err }

// protocolError is a breach with its own text.
type protocolError struct{ text string }

func (e *protocolError) Error() string        { return e.text }
func (e *protocolError) Is(target error) bool { return target == ErrProtocol }

func protocolErrorf(format string, args ...any) error {
	return &protocolError{text: fmt.Sprintf(format, args...)}
}

// tailLength is how many bytes of a faulty reply its error shows.
const tailLength = 200

// tail quotes the end of what was read, on one line.
func tail(read []byte) string {
	if len(read) > tailLength {
		read = read[len(read)-tailLength:]
		for len(read) > 0 && !utf8.RuneStart(read[0]) {
			read = read[1:]
		}
	}
	return fmt.Sprintf("%q", read)
}

func writeFailure(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("REPL request was cut off while writing: %w", context.Cause(ctx))
	}
	return fmt.Errorf("%w (%s)", ErrClosedStdin, err)
}

func readFailure(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("REPL gave no reply: %w", context.Cause(ctx))
	}
	return exited(err)
}

// exited names the end of standard output, however it shows: a pipe that we closed
// ourselves belongs to a child that is being ended.
func exited(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return ErrExited
	}
	return fmt.Errorf("%w (%s)", ErrExited, err)
}

// firstLine and lastLine cut what a program said down to one line of a bearable
// length: compilers say first what is wrong, tracebacks last.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return shortLine(line)
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return shortLine(text[strings.LastIndexByte(text, '\n')+1:])
}

func shortLine(line string) string {
	const longest = 400
	line = strings.ToValidUTF8(strings.TrimSpace(line), "\ufffd")
	if len(line) > longest {
		cut := longest
		for !utf8.RuneStart(line[cut]) {
			cut--
		}
		line = line[:cut] + "..."
	}
	return line
}
