package cli_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/test/servers"
)

// demoSteps is what each line of the demo has to say, on a machine with python3.
var demoSteps = []string{
	`^project  /.*hello: `,
	`^server   /.*gopls \(`,
	`^check    hello\.go:11:23: error: cannot use 42 .*\[compiler\] `,
	`^hover    hello\.go:11:14: func greeting\(name string\) string `,
	`^run      python: sum\(n \* n for n in range\(10\)\) gives 285 `,
	`^child    a second server \(\d+\) asked its build system: \d+, `,
	// The second is said on a machine that was too busy to look for half a second.
	`^kill     \d+ died of SIGKILL; (its child \d+ is still there|\d+ was swept before it could be looked at)$`,
	`^sweep    \d+ is gone, .* was told: process \d+ ended \(signal: killed\)`,
	`^status   \d process trees?: lsp go in hello \d+`,
	`^stop     done in `,
	`^proof    no process on this machine carries _HEARTH_RUNTIME_TOKEN=[0-9a-f]{32}$`,
}

func demo(t *testing.T, env, steps []string) {
	t.Helper()
	temporary := t.TempDir()
	c := hearth(t, t.TempDir(), append(env, "TMPDIR="+temporary), "demo")
	require.Equal(t, 0, c.run(t), "%s%s", c.stdout.String(), c.stderr.String())
	lines := strings.Split(strings.TrimSpace(c.stdout.String()), "\n")
	require.Len(t, lines, len(steps), c.stdout.String())
	for i, step := range steps {
		assert.Regexp(t, step, lines[i])
	}
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	assert.Empty(t, left, "the demo's projects")
}

func TestTheDemoShowsAnOrphanSweptAndNothingLeft(t *testing.T) {
	servers.Find(t, "python3")
	demo(t, inPath(servers.Find(t, "gopls")), demoSteps)
}

// On a machine with only Go gopls is installed through it, once, and there is no REPL.
func TestTheDemoGetsGoplsThroughGo(t *testing.T) {
	servers.Network(t)
	goTool, err := exec.LookPath("go")
	require.NoError(t, err)
	path := t.TempDir()
	require.NoError(t, os.Symlink(goTool, filepath.Join(path, "go")))
	env := []string{"PATH=" + path, "XDG_CACHE_HOME=" + t.TempDir()}
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} { // what Go itself keeps stays where it is
		value, err := exec.Command(goTool, "env", name).Output()
		require.NoError(t, err)
		env = append(env, name+"="+strings.TrimSpace(string(value)))
	}
	steps := slices.DeleteFunc(slices.Clone(demoSteps), func(step string) bool { return strings.HasPrefix(step, "^run") })
	demo(t, env, steps)
	demo(t, env, steps)
}

func TestTheDemoAsJSONIsOneValue(t *testing.T) {
	servers.Find(t, "python3")
	c := hearth(t, t.TempDir(), inPath(servers.Find(t, "gopls")), "demo", "--json")
	require.Equal(t, 0, c.run(t), c.stderr.String())
	var steps []struct{ Step, Text string }
	require.NoError(t, json.Unmarshal(c.stdout.Bytes(), &steps))
	require.Len(t, steps, len(demoSteps))
	assert.Equal(t, "proof", steps[len(steps)-1].Step)
}

func TestTheDemoLeavesNothingWhenItIsInterrupted(t *testing.T) {
	temporary, bin := t.TempDir(), t.TempDir()
	// A REPL that says nothing: the demo is not over before the signal comes.
	require.NoError(t, os.WriteFile(filepath.Join(bin, "python3"), []byte("#!/bin/sh\nexec sleep 600\n"), 0o755))
	path := bin + string(os.PathListSeparator) + filepath.Dir(servers.Find(t, "gopls")) + string(os.PathListSeparator) + os.Getenv("PATH")
	c := hearth(t, t.TempDir(), []string{"PATH=" + path, "TMPDIR=" + temporary}, "demo")
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	defer reader.Close()
	c.Stdout = writer
	require.NoError(t, c.Start())
	require.NoError(t, writer.Close())
	for lines := bufio.NewScanner(reader); lines.Scan() && !strings.HasPrefix(lines.Text(), "check "); {
	}
	require.NoError(t, c.Process.Signal(os.Interrupt))
	assert.Equal(t, 4, c.wait(t), c.stderr.String())
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	assert.Empty(t, left)
}
