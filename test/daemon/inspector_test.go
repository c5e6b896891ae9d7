package daemon_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/test/servers"
	"github.com/seed-f6977891/hearth/test/standins"
)

// inspect runs the protocol's own inspector on hearth mcp, in its command-line mode, and
// gives the result that it prints.
func (h *home) inspect(inspector, method string, args ...string) (result struct {
	Tools   []struct{ Name string }
	Content []struct{ Type, Text string }
	IsError bool
}) {
	h.t.Helper()
	c := h.command()
	c.Path, c.Args = inspector, append([]string{inspector, "--cli", h.program, "mcp", "--method", method}, args...)
	got := h.run(c)
	require.Zero(h.t, got.code, got.stderr)
	require.NoError(h.t, json.Unmarshal([]byte(got.stdout), &result), got.stdout)
	return result
}

// inspected is one call of a tool, and what its text has to match.
type inspected struct {
	arguments []string
	want      string
}

func TestTheInspectorListsAndCallsEveryTool(t *testing.T) {
	inspector, gopls := servers.Find(t, "mcp-inspector"), servers.Find(t, "gopls")
	servers.Find(t, "python3")
	h := newHome(t, options{})
	path := standins.Build(t).LeanDir() + string(os.PathListSeparator) + filepath.Dir(gopls)
	h.env = h.with("PATH="+path+string(os.PathListSeparator)+os.Getenv("PATH"), "FAKELEAN_JOURNAL="+standins.JournalPath(t))
	lean, golang, python := "project_dir="+standins.Project(t, "lean"), "project_dir="+standins.Project(t, "go"), t.TempDir()
	standins.WriteFile(t, filepath.Join(python, "pyproject.toml"), "")
	calls := map[string]inspected{
		"run_lean_code":            {[]string{lean, "code=#eval 1 + 1"}, `Compiles successfully`},
		"get_repl_status":          {[]string{lean}, `"state": "warm"`},
		"lean_diagnostic_messages": {[]string{lean, "file_path=Main.lean"}, `(?m)^3:0: info: `},
		"lean_hover":               {[]string{lean, "file_path=Main.lean", "line=0", "character=5"}, `answer`},
		"run_code":                 {[]string{"project_dir=" + python, "code=6 * 7", "timeout=30"}, `^Result: 42$`},
		"check_file":               {[]string{golang, "file_path=broken.go"}, `(?m)^Diagnostics: 1 error\(s\).*\n3:26: error: `},
		"hover":                    {[]string{golang, "file_path=main.go", "line=2", "character=23"}, `func answer\(\) int`},
		"lsp_query": {[]string{golang, "file_path=main.go", "method=definition", "line=2", "character=23"},
			`^main\.go:5:6`},
		"runtime_status": {nil, `"running": true`},
	}
	var names []string
	for _, tool := range h.inspect(inspector, "tools/list").Tools {
		names = append(names, tool.Name)
	}
	require.ElementsMatch(t, toolNames, names)
	require.ElementsMatch(t, names, slices.Collect(maps.Keys(calls)), "each is called")
	for _, name := range toolNames { // a REPL's state comes after its run
		args := []string{"--tool-name", name}
		for _, argument := range calls[name].arguments {
			args = append(args, "--tool-arg", argument)
		}
		result := h.inspect(inspector, "tools/call", args...)
		require.Len(t, result.Content, 1, name)
		assert.Equal(t, "text", result.Content[0].Type, name)
		assert.False(t, result.IsError, name)
		assert.Regexp(t, calls[name].want, result.Content[0].Text, name)
	}
}
