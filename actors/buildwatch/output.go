package buildwatch

import (
	"errors"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"
)

// chunk is how much output is handed on at a time, at most.
const chunk = 16 << 10

const (
	// restMost is what a pipe holds at most for an ordinary user.
	restMost = 1 << 20
	// restWait is far more than a read of what is there takes.
	restWait = 10 * time.Millisecond
)

// rest reads a command's output. When its time is over, what is in it by then is read all the
// same: the caller may have been slow to take what came before. Whoever goes on writing gets
// no more than that read.
type rest struct {
	file *os.File
	over bool
	left int // once it is over
}

func (r *rest) Read(p []byte) (n int, err error) {
	if r.over && r.left <= 0 {
		return 0, os.ErrDeadlineExceeded
	}
	if n, err = r.file.Read(p); errors.Is(err, os.ErrDeadlineExceeded) {
		r.over = true
		_ = r.file.SetReadDeadline(time.Now().Add(restWait)) // it has taken one before
		n, err = r.file.Read(p)
	}
	if r.over {
		r.left -= n
	}
	return n, err
}

// copyText hands on what comes from r, until it ends in whatever way. Pieces are cut
// between characters.
func copyText(hand func(string), r io.Reader) {
	buf := make([]byte, chunk)
	kept := 0
	for {
		n, err := r.Read(buf[kept:])
		n += kept
		whole := n - incomplete(buf[:n])
		if err != nil {
			whole = n
		}
		if whole > 0 {
			hand(string(buf[:whole]))
		}
		kept = copy(buf, buf[whole:n])
		if err != nil {
			return
		}
	}
}

// incomplete counts the bytes at the end that begin a character.
func incomplete(text []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if from := text[len(text)-back:]; utf8.RuneStart(from[0]) {
			if utf8.FullRune(from) {
				return 0
			}
			return back
		}
	}
	return 0
}

func commandLine(argv []string) string { return strings.Join(argv, " ") }
