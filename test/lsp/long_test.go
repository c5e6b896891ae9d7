package lsp_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/test/standins"
)

// longPython has n functions and an error in its last line.
func longPython(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "def f%d(x: int) -> int:\n    return x + %d\n\n", i, i)
	}
	b.WriteString("wrong: int = missing\n")
	return b.String()
}

// slowTypeScript takes TypeScript some seconds: it compares n types of one array with
// one another.
func slowTypeScript(n int) string {
	var b strings.Builder
	b.WriteString("const a = [\n")
	for i := range n {
		fmt.Fprintf(&b, "{ k%d: %d, s%d: 'x', t%d: [1, { z%d: %d }] },\n", i, i, i, i, i, i)
	}
	b.WriteString("];\nexport const wrong: number = 'text';\n")
	return b.String()
}

// A check that takes longer than any quiet time, after a first publication that is
// empty, or after what was published when the file was closed.
func TestLongFileIsNeverFalselyClean(t *testing.T) {
	for name, text := range map[string]string{
		"pylsp": longPython(3000), "pyright": longPython(3000), "typescript-language-server": slowTypeScript(900),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := reals[name]
			r := s.start(t)
			for turn := range 4 {
				if turn%2 == 0 {
					r.write(s.use, text)
				} else {
					r.write(s.use, "\n"+text)
				}
				began := time.Now()
				assert.NotEmpty(t, r.found(s.use), "turn %d", turn)
				t.Logf("turn %d: %v", turn, time.Since(began).Round(time.Millisecond))
			}
		})
	}
}

// What a server publishes when a document is closed, an empty list mostly, is nobody's
// answer, though it may come behind the next opening.
func TestFileThatIsClosedAfterEachCallIsNeverFalselyClean(t *testing.T) {
	for _, name := range []string{"pylsp", "pyright", "clangd"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := reals[name]
			text := s.bad
			if s.language == "python" {
				text = longPython(3000)
			}
			r := s.start(t, func(cfg *supervisor.Config, _ *config.Language) { cfg.LSP.OpenDocuments = 0 })
			r.write(s.use, text)
			for turn := range 4 {
				assert.NotEmpty(t, r.found(s.use), "turn %d", turn)
				assert.True(t, standins.Until(standins.Bound, func() bool { return r.session().Documents == 0 }))
			}
		})
	}
}
