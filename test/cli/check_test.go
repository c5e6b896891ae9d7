package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/servers"
	"github.com/seed-f6977891/hearth/test/standins"
)

const (
	goMod    = "module example.com/m\n\ngo 1.21\n"
	badGo    = "package m\n\nvar 𝕏, Y int = 1, \"x\"\n"
	goodGo   = "package m\n\n// Z is last.\nvar Z = 26\n"
	badC     = "int main(void) { return missing; }\n"
	goodC    = "int main(void) { return 0; }\n"
	fewFlags = "-Wall\n"
)

func TestCheckPrintsWhatGoplsFindsAndExitsWithOne(t *testing.T) {
	gopls := servers.Find(t, "gopls")
	dir := write(t, map[string]string{"go.mod": goMod, "bad.go": badGo, "good.go": goodGo})
	c := hearth(t, dir, inPath(gopls), "check", "bad.go", "good.go")
	assert.Equal(t, 1, c.run(t))
	assert.Regexp(t, `(?m)\Abad\.go:3:19: error: cannot use "x" .* as int value .*\[compiler\]$`, c.stdout.String())
	assert.NotContains(t, c.stdout.String(), "good.go")
	assert.Empty(t, c.stderr.String(), "no progress in a pipe")

	c = hearth(t, dir, inPath(gopls), "hover", "good.go:4:5")
	assert.Equal(t, 0, c.run(t), c.stderr.String())
	assert.Contains(t, c.stdout.String(), "var Z int")
}

func TestCheckOfACleanFileSaysNothing(t *testing.T) {
	gopls := servers.Find(t, "gopls")
	dir := write(t, map[string]string{"go.mod": goMod, "good.go": goodGo})
	c := hearth(t, dir, inPath(gopls), "check", "good.go")
	assert.Equal(t, 0, c.run(t))
	assert.Empty(t, c.stdout.String()+c.stderr.String())
}

func TestCheckPrintsWhatClangdFinds(t *testing.T) {
	clangd := servers.Find(t, "clangd")
	dir := write(t, map[string]string{"compile_flags.txt": fewFlags, "bad.c": badC, "good.c": goodC})
	c := hearth(t, dir, inPath(clangd), "check", "bad.c", "good.c")
	assert.Equal(t, 1, c.run(t), c.stderr.String())
	assert.Regexp(t, `(?m)\Abad\.c:1:25: error: .*undeclared.*\[clang\]$`, c.stdout.String())

	c = hearth(t, dir, inPath(clangd), "check", "--json", "good.c")
	assert.Equal(t, 0, c.run(t), c.stderr.String())
	var files []struct{ Diagnostics []any }
	require.NoError(t, json.Unmarshal(c.stdout.Bytes(), &files))
	require.Len(t, files, 1)
	assert.Equal(t, []any{}, files[0].Diagnostics)
}

func TestRunRunsCodeInTheProjectsREPL(t *testing.T) {
	python := servers.Find(t, "python3")
	dir := write(t, map[string]string{"pyproject.toml": ""})
	c := hearth(t, dir, inPath(python), "run")
	c.Stdin = strings.NewReader("import sys\nprint('hello', file=sys.stderr)\n6 * 7\n")
	assert.Equal(t, 0, c.run(t), c.stderr.String())
	assert.Equal(t, "Stderr:\nhello\nResult: 42\n", c.stdout.String())

	c = hearth(t, dir, inPath(python), "run", "-")
	c.Stdin = strings.NewReader("x = 1\n\nx / 0\n")
	assert.Equal(t, 1, c.run(t), c.stderr.String())
	assert.Regexp(t, `File "<run>", line 3, in <module>\n +x / 0\n(?s:.*)ZeroDivisionError`, c.stdout.String())
	assert.Empty(t, c.stderr.String())
}

// A write into its input is answered with SIGPIPE, as one to a standard output is that
// nobody reads: only that ends the command.
func TestAChildThatClosesItsInputEndsNothingElse(t *testing.T) {
	const closer = "#!/bin/sh\nread l\necho '{\"ok\":true}'\nhead -c 1 >/dev/null\nexec <&-\nexec sleep 600\n"
	dir := write(t, map[string]string{"x.mark": "", "repl": closer})
	require.NoError(t, os.Chmod(filepath.Join(dir, "repl"), 0o755))
	profile := "[languages.x]\nmarkers = [\"x.mark\"]\nextensions = [\".x\"]\nrepl.command = \"" + filepath.Join(dir, "repl") + "\"\nrepl.protocol = \"jsonl\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c.toml"), []byte(profile), 0o644))
	c := hearth(t, dir, nil, "--config", filepath.Join(dir, "c.toml"), "run", "--language", "x")
	c.Stdin = strings.NewReader(strings.Repeat("1", 1<<20)) // more than fits into a pipe
	assert.Equal(t, 3, c.run(t))
	assert.Regexp(t, `^hearth: execution outcome unknown; .* REPL process closed stdin while writing`, c.stderr.String())
}

func TestAMissingServerIsNamedWithTheWayToGetIt(t *testing.T) {
	dir := write(t, map[string]string{"go.mod": goMod, "good.go": goodGo})
	c := hearth(t, dir, []string{"PATH=" + t.TempDir()}, "check", "good.go")
	assert.Equal(t, 3, c.run(t))
	assert.Empty(t, c.stdout.String())
	assert.Regexp(t, `^hearth: .*gopls.*go install golang\.org/x/tools/gopls@latest\n$`, c.stderr.String())
}

// stuck starts a check that gopls never finishes, since its build system is a child
// that waits and ignores SIGTERM, and gives that child.
func stuck(t *testing.T) (*command, procscan.Identity) {
	t.Helper()
	gopls := servers.Find(t, "gopls")
	dir := write(t, map[string]string{"go.mod": goMod, "good.go": goodGo})
	pidFile, driver := filepath.Join(dir, "pid"), filepath.Join(dir, "driver.sh")
	script := "#!/bin/sh\ntrap '' TERM\necho $$ >'" + pidFile + ".part' && mv '" + pidFile + ".part' '" + pidFile + "'\nsleep 600\n"
	require.NoError(t, os.WriteFile(driver, []byte(script), 0o755))
	started := hearth(t, dir, append(inPath(gopls), "GOPACKAGESDRIVER="+driver), "check", "good.go")
	require.NoError(t, started.Start())
	require.True(t, standins.Until(standins.Bound, func() bool { _, err := os.Stat(pidFile); return err == nil }), "gopls didn't start its driver")
	text, err := os.ReadFile(pidFile)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	child, err := procscan.Read(pid)
	require.NoError(t, err)
	return started, child
}

func TestASignalCancelsAndStillSweepsEverything(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			c, child := stuck(t)
			require.NoError(t, c.Process.Signal(sig))
			assert.Equal(t, 4, c.wait(t))
			assert.Empty(t, c.stdout.String())
			// A busy machine has yet to hear that the server is there, or does not say in time what became of the call.
			assert.Regexp(t, `^hearth: good\.go: (cancelled|the caller left|no answer in time)[^\n]*\n$`, c.stderr.String())
			_, err := procscan.Read(child.PID)
			assert.True(t, procscan.IsGone(err), "the server's child: %v", err)
		})
	}
}

func TestAnOutputThatNobodyReadsIsNoErrorAndStillSweepsEverything(t *testing.T) {
	gopls := servers.Find(t, "gopls")
	dir := write(t, map[string]string{"go.mod": goMod, "bad.go": badGo})
	for _, args := range [][]string{{"check", "bad.go"}, {"demo"}, {"config"}} {
		reader, writer, err := os.Pipe()
		require.NoError(t, err)
		require.NoError(t, reader.Close())
		c := hearth(t, dir, inPath(gopls), args...)
		c.Stdout = writer
		const diedOfSIGPIPE = 141
		assert.Equal(t, diedOfSIGPIPE, c.run(t), "%v", args)
		require.NoError(t, writer.Close())
		assert.Empty(t, c.stderr.String(), "%v", args)
	}
}

// A write to any pipe or socket whose reader has gone raises SIGPIPE: one to a server that
// has died took the whole command for interrupted.
func TestABrokenPipeOtherThanTheOutputIsNoInterrupt(t *testing.T) {
	dir := write(t, map[string]string{"pyproject.toml": ""})
	c := hearth(t, dir, inPath(servers.Find(t, "python3")), "run")
	c.Stdin = strings.NewReader(`
import os, time
open("begun", "w").close()
while not os.path.exists("go on"): time.sleep(0.001)
"went on"`)
	require.NoError(t, c.Start())
	require.True(t, standins.Until(standins.Bound, func() bool { _, err := os.Stat(filepath.Join(dir, "begun")); return err == nil }))
	require.NoError(t, c.Process.Signal(syscall.SIGPIPE))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go on"), nil, 0o600))
	assert.Equal(t, 0, c.wait(t), c.stderr.String())
	assert.Equal(t, "Result: 'went on'\n", c.stdout.String())
}
