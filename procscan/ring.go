package procscan

import (
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	ringSize    = 64 << 10
	tailLineMax = 512
)

// Ring keeps the last 64 KiB of what was written to it. It is an io.Writer that
// never fails, safe for concurrent use.
type Ring struct {
	mu    sync.Mutex
	buf   []byte // grows to ringSize, then wraps
	next  int    // where the next byte goes once buf is full
	total int64
}

// Write takes all of p, in place of the oldest bytes.
func (r *Ring) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(p)
	r.total += int64(n)
	if len(p) > ringSize {
		p = p[len(p)-ringSize:]
	}
	if room := ringSize - len(r.buf); room > 0 {
		k := min(room, len(p))
		r.buf = append(r.buf, p[:k]...)
		p = p[k:]
	}
	for len(p) > 0 {
		k := copy(r.buf[r.next:], p)
		r.next = (r.next + k) % ringSize
		p = p[k:]
	}
	return n, nil
}

// Total counts the bytes that were ever written.
func (r *Ring) Total() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

// Tail gives the last n lines that aren't blank, joined by newlines and without
// one at the end. Bytes that aren't UTF-8 become U+FFFD, and a line of more
// than 512 bytes keeps only its end, after "...".
func (r *Ring) Tail(n int) string {
	lines := strings.FieldsFunc(r.text(), func(c rune) bool { return c == '\n' || c == '\r' })
	kept := make([]string, 0, n)
	for i := len(lines) - 1; i >= 0 && len(kept) < n; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			kept = append(kept, cutLine(line))
		}
	}
	for i, j := 0, len(kept)-1; i < j; i, j = i+1, j-1 {
		kept[i], kept[j] = kept[j], kept[i]
	}
	return strings.Join(kept, "\n")
}

func (r *Ring) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	raw := string(r.buf[r.next:]) + string(r.buf[:r.next])
	return strings.ToValidUTF8(raw, "\uFFFD")
}

// cutLine keeps the end: messages put the reason last.
func cutLine(line string) string {
	if len(line) <= tailLineMax {
		return line
	}
	at := len(line) - tailLineMax
	for !utf8.RuneStart(line[at]) {
		at++
	}
	return "..." + line[at:]
}
