package lsp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

const (
	maxHeader = 16 << 10 // of one frame, and the longest line that is kept
	maxBody   = 16 << 20
	maxParams = maxBody - 1<<10 // the envelope takes the rest
	maxNoise  = 1 << 20         // between two frames
	noiseText = 200             // bytes of a noisy line that are reported
)

// readHeader reads one frame's header block and returns the length of its body. What
// stands before the block is noise, which servers' libraries and helpers print: it is
// skipped line by line, whether it holds a colon or not, and told to noise. Inside
// the block nothing is forgiven: there it can only mean that the stream is out of step.
func readHeader(in *bufio.Reader, noise func(string)) (length int, err error) {
	line, err := skipNoise(in, noise)
	if err != nil {
		return 0, err
	}
	length, total := -1, 0
	for {
		total += len(line)
		if total > maxHeader {
			return 0, errHeaderSize
		}
		field := bytes.TrimRight(line, "\r\n")
		if len(field) == 0 {
			break
		}
		if length, err = parseField(field, length); err != nil {
			return 0, err
		}
		if line, err = in.ReadSlice('\n'); err != nil {
			return 0, headerEnd(err)
		}
	}
	if length < 0 {
		return 0, &StreamError{Reason: "a frame header without Content-Length"}
	}
	return length, nil
}

var errHeaderSize = &StreamError{Reason: fmt.Sprintf("a frame header is longer than %d bytes", maxHeader)}

// headerEnd names what ended a header that had begun.
func headerEnd(err error) error {
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return errHeaderSize
	case errors.Is(err, io.EOF):
		return &StreamError{Reason: "the output ended inside a frame header", Err: io.ErrUnexpectedEOF}
	}
	return &StreamError{Reason: "reading a frame header", Err: err}
}

// skipNoise returns the first line of a header block. A block begins with one of the
// two fields that LSP defines; a Content-Length behind text without a newline counts.
func skipNoise(in *bufio.Reader, noise func(string)) ([]byte, error) {
	skipped, inLine := 0, false // inLine: the piece continues a line that was too long
	for {
		line, err := in.ReadSlice('\n')
		if err == nil && !inLine {
			if start := fieldStart(line); start >= 0 {
				if start > 0 {
					noise(clip(line[:start]))
				}
				return line[start:], nil
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, noiseEnd(line, err, noise)
		}
		if !inLine && len(bytes.TrimSpace(line)) > 0 {
			noise(clip(line))
		}
		inLine = err != nil
		if skipped += len(line); skipped > maxNoise {
			return nil, &StreamError{Reason: fmt.Sprintf("more than %d bytes of output without a frame", maxNoise)}
		}
	}
}

// noiseEnd tells an end between frames from one inside a header. Unfinished text that
// is no beginning of a header is the server's last words.
func noiseEnd(line []byte, err error, noise func(string)) error {
	if !errors.Is(err, io.EOF) {
		return &StreamError{Reason: "reading", Err: err}
	}
	if fieldStart(line) == 0 {
		return headerEnd(err)
	}
	if len(bytes.TrimSpace(line)) > 0 {
		noise(clip(line))
	}
	return &StreamError{Reason: "the language server closed its output", Err: io.EOF}
}

var (
	contentLength = []byte("content-length")
	contentType   = []byte("content-type")
)

// fieldStart is where a header field begins in line, or -1.
func fieldStart(line []byte) int {
	if name, _, found := bytes.Cut(line, []byte(":")); found &&
		(bytes.EqualFold(name, contentLength) || bytes.EqualFold(name, contentType)) {
		return 0
	}
	colon := bytes.LastIndexByte(line, ':')
	start := colon - len(contentLength)
	if start < 0 || !bytes.EqualFold(line[start:colon], contentLength) {
		return -1
	}
	if _, err := strconv.ParseUint(string(bytes.TrimSpace(line[colon+1:])), 10, 63); err != nil {
		return -1
	}
	return start
}

// parseField returns the length known after field; -1: none yet.
func parseField(field []byte, length int) (int, error) {
	for _, c := range field {
		if c >= 0x80 {
			return 0, &StreamError{Reason: "a frame header that isn't ASCII"}
		}
	}
	name, value, found := bytes.Cut(field, []byte(":"))
	if !found {
		return 0, &StreamError{Reason: fmt.Sprintf("a frame header line without a colon: %q", clip(field))}
	}
	if !bytes.EqualFold(name, contentLength) {
		return length, nil
	}
	if length >= 0 {
		return 0, &StreamError{Reason: "a frame header with more than one Content-Length"}
	}
	return parseLength(string(bytes.TrimSpace(value)))
}

func parseLength(value string) (int, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) && n > 0, err == nil && n > maxBody:
		return 0, &StreamError{Reason: fmt.Sprintf("a frame of %s bytes, the limit is %d", clip([]byte(value)), maxBody)}
	case err != nil && n == 0:
		return 0, &StreamError{Reason: fmt.Sprintf("a Content-Length that isn't a number: %q", clip([]byte(value)))}
	case n < 0:
		return 0, &StreamError{Reason: "a negative Content-Length: " + clip([]byte(value))}
	case n == 0:
		return 0, &StreamError{Reason: "an empty frame"}
	}
	return int(n), nil
}

func clip(line []byte) string {
	line = bytes.TrimRight(line, "\r\n")
	return string(line[:min(len(line), noiseText)])
}
