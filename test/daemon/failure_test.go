package daemon_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/test/standins/script"
)

// TestAChildThatDiesIsExitCode3WithItsLastWords has a server and a REPL that end as they
// start, and ones that end over the call.
func TestAChildThatDiesIsExitCode3WithItsLastWords(t *testing.T) {
	dies := []script.Action{script.StderrText("reading\nE-17: no licence\n"), script.Exit(9)}
	const lastWords = `process \d+ ended \(exit status 9\).*reading \| E-17: no licence\n$`
	for when, o := range map[string]options{
		"at its start": {lsp: script.LSP{Rules: []script.Rule{script.When(script.OnStart, dies...)}},
			repl: script.REPL{Rules: []script.Rule{script.When(script.OnStart, dies...)}}},
		"at the call": {lsp: script.LSP{Rules: []script.Rule{script.When("textDocument/hover", dies...)}},
			repl: script.REPL{Rules: []script.Rule{script.Match("x", dies...)}}},
	} {
		for _, command := range [][]string{{"hover", "a.fake:1:1"}, {"run", writeCode(t, "x")}} {
			for _, where := range [][]string{nil, {"--embedded"}} {
				h := newHome(t, o)
				got := h.hearth(append(where, command...)...)
				assert.Equal(t, 3, got.code, "%s: %v %v", when, where, command)
				assert.Empty(t, got.stdout)
				assert.Regexp(t, `^hearth: [^\n]*`+lastWords, got.stderr, "%s: %v %v", when, where, command)
			}
		}
	}
}
