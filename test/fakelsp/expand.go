package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"github.com/seed-f6977891/hearth/test/standins/lsptext"
)

// placeholders maps each placeholder to its value for e.
func (s *server) placeholders(e event) map[string]any {
	path := lsptext.Path(e.document.uri)
	return map[string]any{
		"${uri}":           e.document.uri,
		"${uri:percent}":   "file://" + encode(path, "%%%02X", func(b byte) bool { return !isPlain(b) }),
		"${uri:lower}":     "file://" + encode(path, "%%%02x", func(b byte) bool { return !isPlain(b) }),
		"${uri:minimal}":   "file://" + encode(path, "%%%02X", func(b byte) bool { return strings.IndexByte(" %#?", b) >= 0 }),
		"${uri:localhost}": strings.Replace(e.document.uri, "file://", "file://localhost", 1),
		"${version}":       e.document.version,
		"${text}":          e.document.text,
		"${sha256}":        digest(e.document.text),
		"${word}":          word(e),
		"${id}":            e.message.ID,
		"${pid}":           os.Getpid(),
		"${generation}":    s.generation,
	}
}

func isPlain(b byte) bool {
	return b == '/' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func encode(path, format string, must func(byte) bool) string {
	var b strings.Builder
	for i := range len(path) {
		if must(path[i]) {
			fmt.Fprintf(&b, format, path[i])
			continue
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func word(e event) string {
	start, end := lsptext.WordAt(e.document.text, lsptext.Offset(e.document.text, e.position))
	return e.document.text[start:end]
}
