package buildwatch

import (
	"io"
	"strings"
	"unicode/utf8"
)

// chunk is how much output is handed on at a time, at most.
const chunk = 16 << 10

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
