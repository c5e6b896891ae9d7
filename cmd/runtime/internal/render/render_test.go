package render

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

func finding(line, character int, severity messages.Severity, message, source string) supervisor.Diagnostic {
	start := supervisor.Position{Line: line, Character: character}
	return supervisor.Diagnostic{Range: messages.Range{Start: start, End: start}, Severity: severity, Message: message, Source: source}
}

// Servers publish in the order in which their checkers ran.
func TestFindingsReadAsACompilersDoInTheOrderOfTheText(t *testing.T) {
	source := []byte("package a\n\nvar 𝕏é int = \"\" // 𝕏\n")
	assert.Equal(t, `dir/a.go:1:1: warning: exported 𝕏
    has no comment
    at all
dir/a.go:2:1: hint: blank [style]
dir/a.go:3:7: info: unused
dir/a.go:3:14: error: cannot use "" as int value [compiler]
`, Diagnostics("dir/a.go", source, []supervisor.Diagnostic{
		finding(2, 14, messages.SeverityError, `cannot use "" as int value`, "compiler"),
		finding(0, 0, messages.SeverityWarning, "exported 𝕏\r\nhas no comment\nat all\n", ""),
		finding(2, 7, messages.SeverityInformation, "unused", ""),
		finding(1, 0, messages.SeverityHint, "blank", "style"),
	}))
	assert.Empty(t, Diagnostics("a.go", source, nil), "a clean file has nothing to say")
}

func TestAFindingInATextThatIsGoneKeepsTheServersColumn(t *testing.T) {
	assert.Equal(t, "a.go:9:5: error: gone\n", Diagnostics("a.go", nil, []supervisor.Diagnostic{
		finding(8, 4, messages.SeverityError, "gone", "")}))
}

func session(state, server, progress string, active int) messages.SessionSnapshot {
	return messages.SessionSnapshot{
		ActorSnapshot: messages.ActorSnapshot{State: state}, Server: server, Progress: progress, Active: active,
		Key: messages.Key{Kind: messages.LSP, Root: "/home/me/hello", Language: "go"},
	}
}

func pool(capacity, warm, active int) messages.PoolSnapshot {
	return messages.PoolSnapshot{Capacity: capacity, Warm: warm, Active: active,
		Key: messages.Key{Kind: messages.REPL, Root: "/home/me/proofs", Language: "lean"}}
}

func TestWhatIsAwaitedIsSaidInFewWords(t *testing.T) {
	for want, status := range map[string]supervisor.Status{
		"": {Sessions: []messages.SessionSnapshot{session("ready", "gopls v1", "", 0)}, Pools: []messages.PoolSnapshot{pool(1, 1, 0)}},
		"starting go in hello server": {Sessions: []messages.SessionSnapshot{
			session("initializing", "", "", 0), session("ready", "gopls v1", "", 1)}},
		"waiting for gopls v1 for hello":          {Sessions: []messages.SessionSnapshot{session("ready", "gopls v1", "", 1)}},
		"waiting for gopls v1 for hello: loading": {Sessions: []messages.SessionSnapshot{session("ready", "gopls v1", "loading", 2)}},
		"starting lean in proofs REPL":            {Pools: []messages.PoolSnapshot{pool(2, 0, 0)}},
		"waiting for lean in proofs REPL":         {Pools: []messages.PoolSnapshot{pool(2, 1, 1)}},
	} {
		assert.Equal(t, want, Awaited(status))
	}
}

func TestASummaryNamesEachTree(t *testing.T) {
	assert.Equal(t, "nothing runs", Summary(supervisor.Status{}))
	tree := messages.TreeStatus{TreeSnapshot: messages.TreeSnapshot{
		Role: messages.RoleLSP, Leader: procscan.Identity{PID: 42}, Key: messages.Key{Root: "/home/me/hello", Language: "go"}}}
	sampled := tree
	sampled.Members, sampled.RSS, sampled.Sampled = make([]procscan.Identity, 2), 90<<20, time.Unix(1, 0)
	assert.Equal(t, "1 process tree: lsp go in hello 42", Summary(supervisor.Status{Trees: []messages.TreeStatus{tree}}))
	assert.Equal(t, "2 process trees: lsp go in hello 42; lsp go in hello 42 (2 processes, 90 MiB)",
		Summary(supervisor.Status{Trees: []messages.TreeStatus{tree, sampled}}))
}

func TestTablesLineUp(t *testing.T) {
	assert.Equal(t, `SETTING       VALUE  FROM
idle          30m    default
max_projects  2      HEARTH_MAX_PROJECTS
`, Settings([]config.Row{{Key: "idle", Value: "30m", From: "default"}, {Key: "max_projects", Value: "2", From: "HEARTH_MAX_PROJECTS"}}))
	assert.Equal(t, `Languages
  ok  go server    /usr/bin/gopls
  --  lean server  not found in PATH

Limits
  ok  open files  1024
`, Doctor([]Section{
		{"Languages", []Fact{{"go server", true, "/usr/bin/gopls"}, {"lean server", false, "not found in PATH"}}},
		{"Limits", []Fact{{"open files", true, "1024"}}},
	}))
}
