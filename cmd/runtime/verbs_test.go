package main

import (
	"encoding/json"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/cmd/runtime/internal/render"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
)

func finding(severity messages.Severity) supervisor.DiagnosticsReport {
	return supervisor.DiagnosticsReport{Diagnostics: []supervisor.Diagnostic{{Severity: severity, Message: "m", Source: "s"}}}
}

func TestCheckSaysByItsExitCodeWhetherThereAreErrors(t *testing.T) {
	project(t, goProject)
	got := hearth(t, &fakeEngine{diagnostics: finding(messages.SeverityError)}, "", "check", "a.go", "./sub/b.go")
	assert.Equal(t, outcome{1, "a.go:1:1: error: m [s]\n./sub/b.go:1:1: error: m [s]\n", ""}, got, "files as they were named, in order")
	got = hearth(t, &fakeEngine{diagnostics: finding(messages.SeverityWarning)}, "", "check", "a.go")
	assert.Equal(t, outcome{0, "a.go:1:1: warning: m [s]\n", ""}, got)
	assert.Equal(t, outcome{}, hearth(t, &fakeEngine{}, "", "check", "a.go"), "nothing found, nothing said")
}

func TestCheckAsJSONIsOneListWithAnEntryForEachFile(t *testing.T) {
	project(t, goProject)
	got := hearth(t, &fakeEngine{}, "", "check", "--json", "a.go", "sub/b.go")
	assert.JSONEq(t, `[{"file":"a.go","diagnostics":[]},{"file":"sub/b.go","diagnostics":[]}]`, got.stdout)
	got = hearth(t, &fakeEngine{err: &messages.TimeoutError{After: time.Second}}, "", "check", "--json", "a.go")
	assert.JSONEq(t, `[{"file":"a.go","diagnostics":null,"error":"timed out after 1s"}]`, got.stdout)
	assert.Equal(t, 4, got.code)
	assert.Equal(t, "hearth: a.go: timed out after 1s\n", got.stderr)
}

func TestHoverCountsFromOneInCharactersAndFindsTheProject(t *testing.T) {
	dir := project(t, map[string]string{"go.mod": "module m\n", "a:1.go": "package a\nvar 𝕏y int\n"})
	f := &fakeEngine{hover: supervisor.HoverReport{Text: "var y int"}}
	got := hearth(t, f, "", "hover", "a:1.go:2:6")
	assert.Equal(t, outcome{0, "var y int\n", ""}, got)
	assert.Equal(t, supervisor.Position{Line: 1, Character: 6}, f.at, "𝕏 is two units of UTF-16")
	assert.Equal(t, supervisor.Document{Project: dir, File: filepath.Join(dir, "a:1.go"), Language: "go"}, f.document)
	got = hearth(t, f, "", "hover", "--json", "a:1.go:2:6")
	assert.JSONEq(t, `{"contents":{"kind":"plaintext","value":"var y int"}}`, got.stdout)
}

func TestAHoverOfNothingIsNoError(t *testing.T) {
	project(t, goProject)
	got := hearth(t, &fakeEngine{}, "", "hover", "a.go:1:1")
	assert.Equal(t, outcome{0, "No hover information at this position.\n", ""}, got)
	assert.Equal(t, "null\n", hearth(t, &fakeEngine{}, "", "hover", "--json", "a.go:1:1").stdout)
}

func TestRunReadsAFileOrStandardInput(t *testing.T) {
	dir := project(t, map[string]string{"pyproject.toml": "", "sub/a.py": "1+1\n"})
	f := &fakeEngine{run: supervisor.RunReport{Protocol: messages.ReportJSONL, Result: "2"}}
	got := hearth(t, f, "", "run", "sub/a.py")
	assert.Equal(t, outcome{0, "Result: 2\n", ""}, got)
	assert.Equal(t, supervisor.Snippet{Project: dir, Code: "1+1\n", Language: "python"}, f.snippet)
	for _, args := range [][]string{{"run"}, {"run", "-"}} {
		hearth(t, f, "2+2", args...)
		assert.Equal(t, supervisor.Snippet{Project: dir, Code: "2+2"}, f.snippet, "%v", args)
	}
	hearth(t, f, "2+2", "run", "--language", "python", "--timeout", "90")
	assert.Equal(t, supervisor.Snippet{Project: dir, Code: "2+2", Language: "python", Timeout: 90 * time.Second}, f.snippet)
}

func TestCodeThatFailedExitsWithOne(t *testing.T) {
	project(t, map[string]string{"pyproject.toml": ""})
	for _, report := range []supervisor.RunReport{
		{Protocol: messages.ReportJSONL, Error: "NameError"},
		{Protocol: messages.ReportLean, Messages: []messages.Message{{Severity: "error", Data: "no"}}},
	} {
		got := hearth(t, &fakeEngine{run: report}, "x", "run")
		assert.Equal(t, 1, got.code)
		assert.NotEmpty(t, got.stdout)
		assert.Empty(t, got.stderr)
	}
}

func TestCodeWhoseTimeEndedShowsWhatItHadPrinted(t *testing.T) {
	project(t, map[string]string{"pyproject.toml": ""})
	soFar := supervisor.RunReport{Protocol: messages.ReportJSONL, Output: "begun\n", Error: "Traceback\nhere"}
	failed := &fakeEngine{err: &messages.RunError{Sent: true, Err: &messages.TimeoutError{After: time.Second, Partial: soFar}}}
	const why = "execution outcome unknown; request not retried: timed out after 1s"
	assert.Equal(t, outcome{4, "begun\nError:\nTraceback\nhere\n", "hearth: " + why + "\n"}, hearth(t, failed, "x", "run"))
	got := hearth(t, failed, "x", "run", "--json")
	assert.Equal(t, 4, got.code)
	var value struct {
		Error struct {
			Kind, Message string
			Partial       supervisor.RunReport
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &value))
	assert.Equal(t, "timeout", value.Error.Kind)
	assert.Equal(t, why, value.Error.Message)
	assert.Equal(t, soFar, value.Error.Partial)
}

func TestDoctorNamesWhatIsMissingAndHowToGetIt(t *testing.T) {
	got := hearth(t, &fakeEngine{}, "", "doctor", "--json") // with an empty PATH
	var sections []render.Section
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &sections))
	require.Len(t, sections, 4)
	for _, fact := range sections[0].Facts {
		assert.False(t, fact.OK, fact.Name)
		if fact.Name == "go server" {
			assert.Contains(t, fact.Text, "go install golang.org/x/tools/gopls@latest")
		}
	}
	got = hearth(t, &fakeEngine{}, "", "doctor")
	assert.Zero(t, got.code)
	assert.Regexp(t, `(?m)^Languages\n  --  bash server `, got.stdout)
}

func TestTheVersionIsTheBuilds(t *testing.T) {
	info := describeBuild(&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}})
	assert.Regexp(t, `^hearth v1\.2\.3 \(0123456789ab, modified\) go1\.\S+ \w+/\w+$`, info.String())
	assert.Regexp(t, `^hearth \(devel\) go1\.`, describeBuild(nil).String())
}
