package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/test/standins"
)

// TestReportedFault47ChildrenGetWhatTheReadmeSays has a first client with secrets and a
// working directory of its own, whose world the others must not end up in.
func TestReportedFault47ChildrenGetWhatTheReadmeSays(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	require.Contains(t, strings.Join(strings.Fields(string(readme)), " "),
		"Servers and REPLs get the environment of whoever started the daemon, without `PYTHONPATH`")

	h := newHome(t, options{repl: slowly(0)})
	first := h.command("start")
	first.Dir = t.TempDir()
	first.Env = h.with("API_KEY=s3cr3t", "PYTHONPATH=/nowhere", "_HEARTH_SESSION_TOKEN=outer")
	require.Zero(t, h.run(first).code)
	second := h.command("run")
	second.Env, second.Stdin = h.with("API_KEY=another"), strings.NewReader("slow")
	require.Zero(t, h.run(second).code)
	require.Zero(t, h.hearth("check", h.file()).code)

	status := h.status()
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", status.PID))
	require.NoError(t, err)
	assert.Equal(t, "/", cwd)
	assert.Contains(t, environment(t, status.PID), "_HEARTH_SESSION_TOKEN=outer", "a mark that it inherited stays")
	require.NotEmpty(t, status.Processes)
	tokens := make(map[string]bool)
	for _, tree := range status.Processes {
		entries := environment(t, tree.Leader)
		assert.Contains(t, entries, "API_KEY=s3cr3t")
		for _, entry := range entries {
			name, value, _ := strings.Cut(entry, "=")
			assert.NotEqual(t, "PYTHONPATH", name)
			if name == "_HEARTH_SESSION_TOKEN" {
				tokens[value] = true
			}
		}
	}
	assert.Len(t, tokens, len(status.Processes), "each tree has a mark of its own")
	assert.NotContains(t, tokens, "outer")

	text := h.hearth("status", "--json").stdout + h.hearth("status").stdout + h.hearth("tree").stdout + h.logs()
	assert.NotContains(t, text, "s3cr3t")
}

func environment(t *testing.T, pid int) []string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	require.NoError(t, err)
	return strings.Split(string(text), "\x00")
}

func TestReportedFault47ARelativeCommandIsRefusedAndABareNameIsTheDaemons(t *testing.T) {
	h := newHome(t, options{})
	relative := h.command("start")
	relative.Env = h.with("HEARTH_LEAN_LSP_CMD=./server")
	got := h.run(relative)
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stderr, "HEARTH_LEAN_LSP_CMD")
	assert.Empty(t, h.daemons())

	// The same bare name in the PATH of two clients: it is what the daemon finds.
	bin := standins.Build(t)
	h = newHome(t, options{settings: `languages.named.lsp.command = "named-server"
languages.named.markers = ["fake.toml"]
languages.named.extensions = [".named"]`})
	dirs := [2]string{t.TempDir(), t.TempDir()}
	for _, dir := range dirs {
		require.NoError(t, os.Symlink(bin.LSP, filepath.Join(dir, "named-server")))
	}
	standins.WriteFile(t, filepath.Join(h.project, "a.named"), "word\n")
	path := func(dir string) string { return "PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH") }
	start, check := h.command("start"), h.command("check", "a.named")
	start.Env, check.Env = h.with(path(dirs[0])), h.with(path(dirs[1]))
	require.Zero(t, h.run(start).code)
	require.Zero(t, h.run(check).code)
	processes := h.status().Processes
	require.Len(t, processes, 1)
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", processes[0].Leader))
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(line), "named-server"), string(line))
	assert.Contains(t, environment(t, processes[0].Leader), path(dirs[0]))
}
