package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

// fakeEngine answers every call alike and counts its starts and ends.
type fakeEngine struct {
	diagnostics supervisor.DiagnosticsReport
	hover       supervisor.HoverReport
	query       supervisor.QueryReport
	run         supervisor.RunReport
	err         error // of calls
	stopping    error // of Shutdown

	started, stopped int
	document         supervisor.Document
	at               supervisor.Position
	snippet          supervisor.Snippet
	method, params   string
	place            *supervisor.Position
}

func (f *fakeEngine) Diagnostics(context.Context, supervisor.Document) (supervisor.DiagnosticsReport, error) {
	return f.diagnostics, f.err
}

func (f *fakeEngine) Hover(_ context.Context, doc supervisor.Document, at supervisor.Position) (supervisor.HoverReport, error) {
	f.document, f.at = doc, at
	return f.hover, f.err
}

func (f *fakeEngine) Query(_ context.Context, doc supervisor.Document, method string, at *supervisor.Position, params json.RawMessage) (supervisor.QueryReport, error) {
	f.document, f.method, f.place, f.params = doc, method, at, string(params)
	f.query.Method = method
	return f.query, f.err
}

func (f *fakeEngine) RunCode(_ context.Context, snippet supervisor.Snippet) (supervisor.RunReport, error) {
	f.snippet = snippet
	return f.run, f.err
}

func (f *fakeEngine) Status(context.Context) (supervisor.Status, error) {
	return supervisor.Status{}, nil
}

func (f *fakeEngine) Shutdown(context.Context) error {
	f.stopped++
	return f.stopping
}

// outcome is what one run of the program left.
type outcome struct {
	code           int
	stdout, stderr string
}

// hearth runs the program on a fake engine, with an empty environment.
func hearth(t *testing.T, f *fakeEngine, stdin string, args ...string) outcome {
	t.Helper()
	return hearthIn(t.Context(), t, f, stdin, args...)
}

// hearthIn runs it until ctx interrupts it.
func hearthIn(ctx context.Context, t *testing.T, f *fakeEngine, stdin string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{
		stdin: strings.NewReader(stdin), stdout: &stdout, stderr: &stderr,
		environ: func(string) string { return "" },
		start: func(context.Context, config.Config, *slog.Logger) (engine, error) {
			f.started++
			return f, nil
		},
	}
	code := a.execute(ctx, args)
	assert.Equal(t, f.started, f.stopped, "an engine that was started is ended")
	return outcome{code, stdout.String(), stderr.String()}
}

// project writes files into a new directory and makes it the working directory.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	t.Chdir(dir)
	return dir
}

var goProject = map[string]string{"go.mod": "module m\n", "a.go": "package a\n", "sub/b.go": "package b\n", "c:1.go": "package c\n"}

func TestBadInputIsOneLineAndStartsNothing(t *testing.T) {
	project(t, map[string]string{"go.mod": "module m\n", "a.go": "package a\n", "x.unknown": "", "other/p.py": "", "two.toml": "idel = 1"})
	for _, args := range [][]string{
		{"chek"}, {"check"}, {"check", "--bogus", "a.go"}, {"check", "missing.go"}, {"check", "x.unknown"},
		{"check", "other/p.py"}, {"check", "a.go", "missing.go"}, {"check", "."}, {"check", "--project", "nowhere", "a.go"},
		{"check", "--project", "other", "a.go"}, {"check", "--idle", "soon", "a.go"}, {"check", "--config", "none.toml", "a.go"},
		{"check", "--config", "two.toml", "a.go"}, {"check", "--lsp.timeout", "700s", "a.go"},
		{"hover"}, {"hover", "a.go"}, {"hover", "a.go:1"}, {"hover", "a.go:x:1"}, {"hover", ":1:1"}, {"hover", "a.go:0:1"},
		{"hover", "a.go:1:0"}, {"hover", "a.go:9:1"}, {"hover", "a.go:1:1", "a.go:1:2"},
		{"lsp"}, {"lsp", "defintion", "a.go:1:1"}, {"lsp", "definition", "missing.go:1:1"}, {"lsp", "definition", "a.go:9:1"},
		{"lsp", "rename", "a.go:1:1", "--params", "new"}, {"lsp", "symbols", "a.go", "b.go"}, {"lsp", "symbols", "--language", "klingon"},
		{"run"}, {"run", "a.go"}, {"run", "--language", "go"}, {"run", "--language", "klingon"}, {"run", "--timeout", "soon", "-"},
		{"run", "a", "b"}, {"config", "x"}, {"version", "x"}, {"doctor", "x"}, {"demo", "x"}, {"wait"},
	} {
		f := &fakeEngine{}
		got := hearth(t, f, "", args...)
		assert.Equal(t, 2, got.code, "%v", args)
		assert.Zero(t, f.started, "%v", args)
		assert.Empty(t, got.stdout, "%v", args)
		assert.Regexp(t, `^hearth: [^\n]+\n$`, got.stderr, "%v", args)
	}
}

func TestAFailureIsOneJSONValueToo(t *testing.T) {
	project(t, goProject)
	failed := func(kind, message string) string {
		return fmt.Sprintf(`{"error":{"kind":%q,"message":%q}}`, kind, message)
	}
	const unknown = "unknown flag: --bogus"
	for _, c := range []struct {
		args []string
		err  error
		code int
		want string
	}{
		{[]string{"hover", "a.go", "--json"}, nil, 2, failed("invalid", `"a.go" is not a place; want FILE:LINE:COLUMN, such as main.go:12:5`)},
		{[]string{"hover", "--bogus", "--json"}, nil, 2, failed("invalid", unknown)},
		{[]string{"--json", "--bogus", "hover"}, nil, 2, failed("invalid", unknown)},
		{[]string{"hover", "a.go:1:1", "--json"}, &messages.TimeoutError{After: time.Second}, 4, failed("timeout", "timed out after 1s")},
		{[]string{"hover", "a.go:1:1", "--json"}, errors.New("a\nb"), 3, failed("internal", "a\nb")},
	} {
		got := hearth(t, &fakeEngine{err: c.err}, "", c.args...)
		assert.Equal(t, c.code, got.code, "%v", c.args)
		assert.JSONEq(t, c.want, got.stdout, "%v", c.args)
		assert.Regexp(t, `^hearth: [^\n]+\n$`, got.stderr, "%v", c.args)
	}
	got := hearth(t, &fakeEngine{}, "", "watch", "--bogus", "--", "make", "--json")
	assert.Empty(t, got.stdout, "that was make's")
}

func TestARefusedFileIsSaidToBeWhatItIs(t *testing.T) {
	dir := project(t, map[string]string{"go.mod": "module m\n", "x.unknown": "", "p.py": ""})
	for file, want := range map[string]string{
		".":         dir + " is a directory; name files in it",
		"missing":   "cannot read " + dir + "/missing: no such file or directory",
		"x.unknown": "no language has the extension of " + dir + "/x.unknown;",
		"p.py":      "make one of these files, or name a project with --project",
	} {
		assert.Contains(t, hearth(t, &fakeEngine{}, "", "check", file).stderr, want)
	}
}

func TestExitCodesFollowTheKindOfError(t *testing.T) {
	project(t, goProject)
	for want, errs := range map[int][]error{
		2: {messages.Invalidf("x")},
		3: {messages.Errorf(messages.KindProcess, "x"), messages.Errorf(messages.KindProtocol, "x"), messages.ErrClosed,
			messages.Errorf(messages.KindOutcomeUnknown, "x"), errors.New("x")},
		4: {&messages.BusyError{Reason: messages.Slot}, &messages.TimeoutError{After: time.Second}, context.Canceled},
	} {
		for _, err := range errs {
			for _, args := range [][]string{{"check", "a.go"}, {"hover", "a.go:1:1"}} {
				got := hearth(t, &fakeEngine{err: err}, "", args...)
				assert.Equal(t, want, got.code, "%v: %v", args, err)
				assert.Empty(t, got.stdout)
				assert.Regexp(t, `^hearth: [^\n]+\n$`, got.stderr)
			}
		}
	}
}

func TestAnInterruptIsOneAlthoughTheCallsOutcomeIsUnknown(t *testing.T) {
	project(t, goProject)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := &fakeEngine{err: messages.Errorf(messages.KindOutcomeUnknown, "no answer in time, it may have run: %w", context.Canceled)}
	got := hearthIn(ctx, t, f, "", "check", "a.go")
	assert.Equal(t, outcome{4, "", "hearth: a.go: no answer in time, it may have run: context canceled\n"}, got)
}

func TestAnErrorOfManyLinesIsPrintedAsOne(t *testing.T) {
	project(t, goProject)
	got := hearth(t, &fakeEngine{err: errors.New("first\nsecond\r\n")}, "", "hover", "a.go:1:1")
	assert.Equal(t, "hearth: first | second\n", got.stderr)
}

func TestAFailedStopIsTheErrorOnlyWhereTheCallHadNone(t *testing.T) {
	project(t, goProject)
	left := &messages.UnreapedError{Stuck: []string{"session/1"}}
	got := hearth(t, &fakeEngine{stopping: left}, "", "check", "a.go")
	assert.Equal(t, 3, got.code)
	got = hearth(t, &fakeEngine{stopping: left, err: &messages.TimeoutError{After: time.Second}}, "", "check", "a.go")
	assert.Equal(t, 4, got.code)
	assert.Contains(t, got.stderr, left.Error())
}

func TestHelpAndVersionNeedNothing(t *testing.T) {
	f := &fakeEngine{}
	for _, args := range [][]string{{}, {"--help"}, {"help", "check"}, {"version"}, {"completion", "bash"}} {
		got := hearth(t, f, "", args...)
		assert.Zero(t, got.code, "%v", args)
		assert.NotEmpty(t, got.stdout, "%v", args)
		assert.Empty(t, got.stderr, "%v", args)
	}
	assert.NotContains(t, hearth(t, f, "", "--help").stdout, "--lsp.timeout", "settings have a list of their own")
	assert.NotContains(t, hearth(t, f, "", "--help").stdout, "wait ", "the demo's child is nobody's command")
	assert.Zero(t, f.started)
}

func TestEverySettingIsAFlag(t *testing.T) {
	got := hearth(t, &fakeEngine{}, "", "config", "--json", "--idle", "5m", "--repl.mode=resident")
	var rows []config.Row
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &rows))
	for _, row := range rows {
		switch row.Key {
		case "idle":
			assert.Equal(t, [2]string{"5m", "--idle"}, [2]string{row.Value, row.From})
		case "repl.mode":
			assert.Equal(t, [2]string{"resident", "--repl.mode"}, [2]string{row.Value, row.From})
		default:
			assert.Equal(t, "default", row.From, row.Key)
			same := hearth(t, &fakeEngine{}, "", "config", "--"+row.Key, row.Value)
			assert.Zero(t, same.code, "%s is a flag and takes its own value: %s", row.Key, same.stderr)
		}
	}
}

func TestAResultThatCannotBeWrittenIsAFailure(t *testing.T) {
	project(t, goProject)
	f := &fakeEngine{}
	var stderr bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: fullDisk{}, stderr: &stderr, environ: func(string) string { return "" },
		start: func(context.Context, config.Config, *slog.Logger) (engine, error) { return f, nil }}
	assert.Equal(t, 3, a.execute(t.Context(), []string{"hover", "a.go:1:1"}))
	assert.Equal(t, "hearth: cannot write the result: no space left\n", stderr.String())
	assert.Equal(t, 1, f.stopped)
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }
