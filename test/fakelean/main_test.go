package main_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/lsptext"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// editor is a bare client of lake serve in a project of its own.
type editor struct {
	*standins.Client
	project, journal string
}

func edit(t *testing.T, knobs ...string) *editor {
	t.Helper()
	bin := standins.Build(t)
	e := &editor{project: standins.Project(t, "lean"), journal: standins.JournalPath(t)}
	standins.EndSurvivors(t, e.journal)
	env := bin.LeanEnv(e.journal, knobs...)
	e.Client = standins.Connect(t, e.project, env, filepath.Join(bin.LeanDir(), "lake"), "serve")
	return e
}

// uri returns the URI of a file in the project.
func (e *editor) uri(name string) string { return lsptext.URI(filepath.Join(e.project, name)) }

// open initializes the server if need be, writes text to the file and opens it.
func (e *editor) open(t *testing.T, name, text, mode string) {
	t.Helper()
	if received, _ := e.Received(); len(received) == 0 {
		e.Initialize(t, struct{}{})
	}
	standins.WriteFile(t, filepath.Join(e.project, name), text)
	p := map[string]any{"textDocument": map[string]any{
		"uri": e.uri(name), "languageId": "lean4", "version": 1, "text": text}}
	if mode != "" {
		p["dependencyBuildMode"] = mode
	}
	e.Notify(t, "textDocument/didOpen", p)
}

func (e *editor) change(t *testing.T, name string, version int, text string) {
	t.Helper()
	e.Notify(t, "textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": e.uri(name), "version": version},
		"contentChanges": []any{map[string]any{"text": text}},
	})
}

func (e *editor) at(name string, line, character int) map[string]any {
	return map[string]any{
		"textDocument": map[string]any{"uri": e.uri(name)},
		"position":     map[string]int{"line": line, "character": character},
	}
}

func (e *editor) waitForDiagnostics(t *testing.T, name string, version int) standins.Incoming {
	t.Helper()
	return e.Call(t, "textDocument/waitForDiagnostics", map[string]any{"uri": e.uri(name), "version": version})
}

// publication is what a textDocument/publishDiagnostics says.
type publication struct {
	URI         string
	Version     *int
	Diagnostics []struct {
		Range    lsptext.Range
		Severity int
		Source   string
		Message  string
	}
}

func (p publication) messages() []string {
	list := []string{}
	for _, d := range p.Diagnostics {
		list = append(list, d.Message)
	}
	return list
}

// publications returns all for the file so far.
func (e *editor) publications(t *testing.T, name string) []publication {
	t.Helper()
	var list []publication
	received, _ := e.Received()
	for _, m := range received {
		var p publication
		if m.Method != "textDocument/publishDiagnostics" {
			continue
		}
		require.NoError(t, json.Unmarshal(m.Params, &p))
		if p.URI == e.uri(name) {
			list = append(list, p)
		}
	}
	return list
}

// trace spells the order of what concerns the file: P for a progress, . for its end, X for a fatal one, and the number of
// diagnostics of each publication.
func (e *editor) trace(name string) string {
	trace := ""
	received, _ := e.Received()
	for _, m := range received {
		if !strings.Contains(m.Body, e.uri(name)) {
			continue
		}
		switch {
		case strings.Contains(m.Body, `"processing":[]`):
			trace += "."
		case strings.Contains(m.Body, `"kind":2`) && m.Method == "$/lean/fileProgress":
			trace += "X"
		case m.Method == "$/lean/fileProgress":
			trace += "P"
		case m.Method == "textDocument/publishDiagnostics":
			trace += string(rune('0' + strings.Count(m.Body, `"severity"`)))
		}
	}
	return trace
}

func (e *editor) await(t *testing.T, role, event, detail string) standins.Event {
	t.Helper()
	return standins.AwaitEvent(t, e.journal, standins.Is(role, event, detail), standins.Bound)
}
