package main

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed-f6977891/hearth/supervisor"
)

func TestLSPAsksAboutAPlaceAFileOrAProject(t *testing.T) {
	dir := project(t, map[string]string{"go.mod": "module m\n", "a:1.go": "package a\nvar 𝕏y int\n"})
	f := &fakeEngine{query: supervisor.QueryReport{Encoding: "utf-16", Result: json.RawMessage(
		`[{"uri":"file://` + dir + `/a:1.go","range":{"start":{"line":1,"character":6},"end":{"line":1,"character":7}}}]`)}}
	got := hearth(t, f, "", "lsp", "definition", "a:1.go:2:6", "--timeout", "90s")
	assert.Equal(t, outcome{0, "a:1.go:2:6: var 𝕏y int\n", ""}, got, "places go out and come back in characters")
	assert.Equal(t, "textDocument/definition", f.method)
	assert.Equal(t, &supervisor.Position{Line: 1, Character: 6}, f.place)
	doc := supervisor.Document{Project: dir, File: filepath.Join(dir, "a:1.go"), Language: "go", Timeout: 90 * time.Second}
	assert.Equal(t, doc, f.document)

	got = hearth(t, f, "", "lsp", "--json", "textDocument/foldingRange", "a:1.go", "--params", `{"x":1}`)
	assert.JSONEq(t, string(f.query.Result), got.stdout)
	assert.Nil(t, f.place)
	assert.JSONEq(t, `{"x":1}`, f.params)

	f.query.Result = nil
	got = hearth(t, f, "", "lsp", "workspace-symbols")
	assert.Equal(t, outcome{0, "nothing found\n", ""}, got)
	assert.Equal(t, supervisor.Document{Project: dir}, f.document)
}
