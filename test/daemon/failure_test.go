package daemon_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/test/standins"
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

// TestAProgramThatTheDaemonDoesNotFindMayBeInTodaysPath has one that is installed after
// the daemon's start, in a directory that came into PATH with it.
func TestAProgramThatTheDaemonDoesNotFindMayBeInTodaysPath(t *testing.T) {
	h := newHome(t, options{settings: `
[languages.late]
markers = ["fake.toml"]
extensions = [".late"]
lsp.command = "late-server"
[languages.gone]
markers = ["fake.toml"]
extensions = [".gone"]
lsp.command = "/nowhere/server"`})
	for _, name := range []string{"a.late", "a.gone"} {
		standins.WriteFile(t, filepath.Join(h.project, name), "word\n")
	}
	h.start()
	dir := t.TempDir()
	require.NoError(t, os.Symlink(standins.Build(t).LSP, filepath.Join(dir, "late-server")))
	check := h.command("check", "a.late")
	check.Env = h.with("PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH"))
	got := h.run(check)
	assert.Equal(t, 3, got.code)
	assert.Regexp(t, `^hearth: a\.late: cannot start late-server [^\n]*the PATH of whoever started it: hearth stop lets [^\n]*\n$`, got.stderr)
	got = h.hearth("check", "a.gone")
	assert.Equal(t, 3, got.code)
	assert.NotContains(t, got.stderr, "PATH")
	got = h.hearth("--embedded", "check", "a.late")
	assert.Equal(t, 3, got.code)
	assert.NotContains(t, got.stderr, "hearth stop")

	require.Zero(t, h.hearth("stop").code)
	again := h.command("check", "a.late")
	again.Env = check.Env
	assert.Zero(t, h.run(again).code)
}
