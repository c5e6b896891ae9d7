package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxFrame is the longest message of either protocol in either direction, in
// bytes, with its newline.
const MaxFrame = 16 << 20

// What a Reader finds wrong with a line. The connection is good for another
// message after each of them but ErrUnterminated.
var (
	ErrEmpty        = &RequestError{CodeInvalidRequest, "the message is empty, want one line of JSON"}
	ErrUnterminated = &RequestError{CodeParse, "the message has no newline at its end"}
	ErrTooLarge     = &RequestError{CodeInvalidRequest, fmt.Sprintf("the message exceeds the limit of %d bytes (16 MiB)", MaxFrame)}
)

// Reader takes messages off a connection. It keeps no more of a line than MaxFrame.
type Reader struct {
	buffered *bufio.Reader
	skipping bool // the rest of a line that was too large
}

// NewReader reads from r.
func NewReader(r io.Reader) *Reader { return &Reader{buffered: bufio.NewReaderSize(r, 8<<10)} }

// Reset makes the reader, and what it has allocated, good for another connection.
func (r *Reader) Reset(from io.Reader) {
	r.buffered.Reset(from)
	r.skipping = false
}

// Next gives the next message, without its newline; the slice is the caller's. At
// the end of the connection it is io.EOF.
//
// ErrTooLarge comes as soon as the limit is passed, not when the line ends: its
// sender may be waiting for an answer by then. The call after it skips the rest of
// the line, which a server should also do before it closes the connection: a peer
// that still writes would otherwise see the end and never read the answer.
func (r *Reader) Next() ([]byte, error) {
	if err := r.skip(); err != nil {
		return nil, err
	}
	var line []byte
	for {
		part, err := r.buffered.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > MaxFrame:
			r.skipping = err != nil
			return nil, ErrTooLarge
		case err == nil:
			if line = bytes.TrimSpace(line); len(line) == 0 {
				return nil, ErrEmpty
			}
			return line, nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, ErrUnterminated
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// Begun tells whether a part of the next message is here already.
func (r *Reader) Begun() bool { return r.skipping || r.buffered.Buffered() > 0 }

func (r *Reader) skip() error {
	for r.skipping {
		_, err := r.buffered.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		r.skipping = err != nil
	}
	return nil
}

// encode gives v as one line with its newline. Characters stay as they are, so
// that a text of 16 MiB isn't refused for its angle brackets.
func encode(v any) ([]byte, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	if line.Len() > MaxFrame {
		return nil, ErrTooLarge
	}
	return line.Bytes(), nil
}
