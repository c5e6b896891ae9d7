package watch_test

import (
	"bytes"
	"crypto/rand"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExitCodeIsTheCommandsOwn(t *testing.T) {
	for script, code := range map[string]int{"exit 0": 0, "exit 7": 7, "exit 255": 255, "kill -SEGV $$": 139, "kill -INT $$": 130} {
		w := watching(t, t.TempDir(), "--", "sh", "-c", script)
		assert.Equal(t, code, w.run(t), script)
		assert.Empty(t, w.stdout.String(), script)
		assert.Empty(t, w.stderr.String(), "%s: who has nothing to say says nothing", script)
		assert.Equal(t, code, w.read(t).ExitCode, script)
	}
}

func TestCommandThatCanNotRunGivesTheCodesOfShells(t *testing.T) {
	dir := t.TempDir()
	write(t, 0o644, "no program", dir, "plain")
	write(t, 0o755, "neither", dir, "odd")
	for law, tt := range map[string]struct {
		args []string
		code int
		says string
	}{
		"not in PATH":     {[]string{"--", "no-such-program"}, 127, "no-such-program"},
		"no such file":    {[]string{"--", "./none"}, 127, "none"},
		"not executable":  {[]string{"--", "./plain"}, 126, "plain"},
		"no program":      {[]string{"--", "./odd"}, 126, "odd"},
		"nothing to run":  {[]string{"--"}, 2, "usage"},
		"a bad flag":      {[]string{"--per-file", "soon", "--", "true"}, 2, "soon"},
		"a bad regexp":    {[]string{"--match", "(", "--", "true"}, 2, "match"},
		"no group":        {[]string{"--match", "cc", "--per-file", "-1s", "--", "true"}, 2, "negative"},
		"an unknown flag": {[]string{"--fast", "--", "true"}, 2, "fast"},
	} {
		w := watching(t, dir, tt.args...)
		assert.Equal(t, tt.code, w.run(t), law)
		assert.Contains(t, w.stderr.String(), tt.says, law)
		assert.Equal(t, 1, strings.Count(w.stderr.String(), "\n"), "%s: one line: %s", law, w.stderr.String())
	}
}

func TestStreamsAreUntouched(t *testing.T) {
	input := make([]byte, 1<<20)
	_, err := rand.Read(input)
	require.NoError(t, err)
	w := watching(t, t.TempDir(), "--", "sh", "-c", "cat; echo told >&2")
	w.Stdin = bytes.NewReader(input)
	assert.Zero(t, w.run(t))
	assert.True(t, bytes.Equal(input, w.stdout.Bytes()))
	assert.Equal(t, "told\n", w.stderr.String())
}

func TestCommandsOwnFlagsAreItsOwn(t *testing.T) {
	w := watching(t, t.TempDir(), "sh", "-c", `echo "$@"`, "x", "--json", "--limit", "1")
	assert.Zero(t, w.run(t), w.stderr.String())
	assert.Equal(t, "--json --limit 1\n", w.stdout.String())
}

func TestEnvironmentIsTheCallersWithTheMarks(t *testing.T) {
	w := watching(t, t.TempDir(), "--", "sh", "-c", `echo "$PYTHONPATH $HERE"; env | grep -c _TOKEN=`)
	w.Env = append(w.Env, "PYTHONPATH=/lib/mine", "HERE=x")
	assert.Zero(t, w.run(t))
	assert.Equal(t, "/lib/mine x\n2\n", w.stdout.String())
}

func TestReportThatCanNotBeWrittenFailsABuildThatWentWell(t *testing.T) {
	for script, code := range map[string]int{"exit 0": 125, "exit 3": 3} {
		w := watching(t, t.TempDir(), "--report", "none/report.json", "--", "sh", "-c", script)
		assert.Equal(t, code, w.run(t))
		assert.Contains(t, w.stderr.String(), "cannot write the report")
	}
}

func TestReportOnStandardOutputForPrograms(t *testing.T) {
	w := watching(t, t.TempDir(), "--json", "--", "true")
	assert.Zero(t, w.run(t))
	text, err := os.ReadFile(w.report)
	require.NoError(t, err)
	assert.Equal(t, string(text), w.stdout.String())
	assert.Contains(t, w.stdout.String(), `"slowest": []`)
}

func TestExpressionThatFitsNothingIsSaid(t *testing.T) {
	w := watching(t, t.TempDir(), "--match", `^rustc .* (\S+\.rs)`, "--", "true")
	assert.Zero(t, w.run(t))
	assert.Contains(t, w.stderr.String(), "no process was seen that --match")
}
