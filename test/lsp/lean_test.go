package lsp_test

import (
	"encoding/json"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
)

// lean is a rig over Lean's stand-in, with the journal of all its processes.
type lean struct {
	*rig
	journal string
}

func startLean(t testing.TB, files map[string]string, changes ...change) *lean {
	t.Helper()
	bin, notes := standins.Build(t), standins.JournalPath(t)
	standins.EndSurvivors(t, notes)
	t.Cleanup(func() { assert.Empty(t, standins.Survivors(t, notes)) }) // after the runtime's end
	own := func(_ *supervisor.Config, l *config.Language) {
		l.Server.Commands = []config.Command{{filepath.Join(bin.LeanDir(), "lake"), "serve"}}
	}
	root := standins.Project(t, "lean")
	standins.WriteKnobs(t, root, bin.LeanEnv(notes)...)
	return &lean{startAt(t, root, "lean", files, append([]change{own}, changes...)...), notes}
}

// workers counts the processes that elaborated a file so far.
func (l *lean) workers() int {
	l.t.Helper()
	return len(standins.Select(l.t, l.journal, standins.Is("worker", journal.Start, "")))
}

func (l *lean) texts(name string) []string {
	l.t.Helper()
	report, err := l.Diagnostics(l.bounded(), l.doc(name))
	require.NoError(l.t, err)
	found := []string{}
	for _, d := range report.Diagnostics {
		found = append(found, d.Message)
	}
	return found
}

func TestLeansShapesAreUnderstood(t *testing.T) {
	l := startLean(t, map[string]string{
		"Base.lean": "def base := 1\n",
		"A.lean":    "import Base\n\ndef 𝓤 : Nat := \"text\"\n\ntheorem t : base = base := by sorry\n\n#check base\n",
	})
	report, err := l.Diagnostics(l.bounded(), l.doc("A.lean"))
	require.NoError(t, err)
	assert.Equal(t, "Lean 4 Server", report.Server)
	require.Len(t, report.Diagnostics, 3, "of all three severities, behind the empty list that comes first: %v", report.Diagnostics)
	assert.Equal(t, messages.SeverityError, report.Diagnostics[0].Severity)
	assert.Equal(t, messages.SeverityWarning, report.Diagnostics[1].Severity)
	assert.Equal(t, messages.SeverityInformation, report.Diagnostics[2].Severity)
	assert.Equal(t, supervisor.Position{Line: 2, Character: 16}, report.Diagnostics[0].Range.Start, "in UTF-16: the letter takes two")
	hover, err := l.Hover(l.bounded(), l.doc("A.lean"), *l.at("A.lean", "base ="))
	require.NoError(t, err)
	assert.Contains(t, hover.Text, "```lean\nbase : Nat\n```")
	for _, ask := range []asked{
		{"definition", "base =", "", "Base.lean"}, {"references", "base =", "", "Base.lean"}, {"symbols", "-", "", `"t"`},
		{"workspace-symbols", "/", `{"query":"bas"}`, "Base.lean"}, {"completion", "base =", "", `"base"`},
		{"goal", "sorry", "", "⊢ base = base"}, {"term-goal", "sorry", "", `"goal":"⊢ base = base"`},
		{"rename", "base =", `{"newName":"new"}`, `"newText":"new"`}, {"actions", "-", "", "[]"},
		{"$/lean/plainGoal", "base =", "", "⊢"}, {"format", "-", "", notOffered}, {"supertypes", "base =", "", notOffered},
	} {
		doc, at := l.doc("A.lean"), (*supervisor.Position)(nil)
		switch ask.at {
		case "-":
		case "/":
			doc.File = ""
		default:
			at = l.at("A.lean", ask.at)
		}
		answer, err := l.Query(l.bounded(), doc, ask.name, at, json.RawMessage(ask.params))
		if ask.want == notOffered {
			assertNotOffered(t, ask.name, err)
		} else if assert.NoError(t, err, ask.name) {
			assert.Contains(t, string(answer.Result), ask.want, ask.name)
		}
	}
	assert.Equal(t, 1, l.workers(), "all from one elaboration")
}

func TestStaleImportsAreBuiltByOneRestartOfTheFilesWorker(t *testing.T) {
	l := startLean(t, map[string]string{"Base.lean": "def base := 1\n", "A.lean": "import Base\n#print base\n", "C.lean": "#check Nat\n"})
	before := l.texts("A.lean")
	assert.Empty(t, l.found("C.lean"))
	require.Equal(t, 2, l.workers())
	l.write("Base.lean", "def base : Nat := \"text\"\n")
	after := l.texts("A.lean")
	assert.NotEqual(t, before, after)
	assert.Contains(t, after[0], "Type mismatch", "the change was built, and its fault found")
	assert.Equal(t, 3, l.workers(), "that file's worker alone was started anew")
	l.write("Base.lean", "def base := 2\n")
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			report, err := l.Diagnostics(l.bounded(), l.doc("A.lean"))
			assert.NoError(t, err)
			for _, d := range report.Diagnostics {
				assert.NotContains(t, d.Message, "out of date")
			}
		})
	}
	calls.Wait()
	assert.Equal(t, 4, l.workers(), "once for all who ask")
	// A new header starts a worker that may build nothing any more: "once" is over.
	l.write("Other.lean", "def other := 1\n")
	l.write("A.lean", "import Base\nimport Other\n#check other\n")
	assert.Equal(t, []string{"other : Nat"}, l.texts("A.lean"))
}

func TestTimeoutNamesLeansProgressAndCarriesWhatWasFound(t *testing.T) {
	l := startLean(t, map[string]string{"Slow.lean": "def x : Nat := \"a\"\n\ndef y := 1 -- fake: sleep 10m\n", "B.lean": "#check Nat\n"})
	assert.Equal(t, []string{"Nat : Type"}, l.texts("B.lean"), "it is warm")
	doc := l.doc("Slow.lean")
	doc.Timeout = 3 * time.Second
	slow := make(chan error, 1)
	go func() {
		_, err := l.Diagnostics(l.bounded(), doc)
		slow <- err
	}()
	standins.AwaitEvent(t, l.journal, standins.Is("worker", "directive", "sleep"), standins.Bound)
	l.write("B.lean", "#check Nat\n#check Nat\n")
	assert.Len(t, l.texts("B.lean"), 2, "a slow file costs the others nothing")
	var timeout *messages.TimeoutError
	require.ErrorAs(t, <-slow, &timeout)
	assert.Contains(t, timeout.Error(), "from line 3 of 4")
	partial, ok := timeout.Partial.(messages.DiagnosticsReport)
	require.True(t, ok, "%T", timeout.Partial)
	require.Len(t, grave(partial), 1)
	assert.Contains(t, grave(partial)[0], "Type mismatch")
	assert.Len(t, standins.Select(t, l.journal, standins.Is("server", journal.Start, "")), 1, "and the server stays")
}

func TestFileWhoseWorkerWasKilledGetsAnotherForTheNextCall(t *testing.T) {
	l := startLean(t, map[string]string{"A.lean": "#check Nat\n"})
	before := l.texts("A.lean")
	worker := standins.Select(t, l.journal, standins.Is("worker", journal.Start, ""))[0]
	standins.Kill(t, worker, unix.SIGKILL)
	standins.AwaitGone(t, worker.PID, worker.StartTicks)
	var after []string
	assert.True(t, standins.Until(standins.Bound, func() bool {
		report, err := l.Diagnostics(l.bounded(), l.doc("A.lean"))
		if err != nil {
			return false // the first is told of the loss
		}
		for _, d := range report.Diagnostics {
			after = append(after, d.Message)
		}
		return true
	}))
	assert.Equal(t, before, after, "though the text is as it was")
	assert.Equal(t, 2, l.workers())
	assert.Len(t, standins.Select(t, l.journal, standins.Is("server", journal.Start, "")), 1)
}

func TestCrashOfLeansWorkerIsThatFilesAlone(t *testing.T) {
	l := startLean(t, map[string]string{"Bad.lean": "-- fake: crash\ndef x := 1\n", "B.lean": "#check Nat\n"})
	_, err := l.Diagnostics(l.bounded(), l.doc("Bad.lean"))
	assert.Equal(t, messages.KindProtocol, messages.KindOf(err), "%v", err)
	assert.ErrorContains(t, err, "crashed")
	assert.Equal(t, []string{"Nat : Type"}, l.texts("B.lean"))
	l.write("Bad.lean", "#check Nat\n")
	assert.Equal(t, []string{"Nat : Type"}, l.texts("Bad.lean"))
	assert.Len(t, standins.Select(t, l.journal, standins.Is("server", journal.Start, "")), 1)
}
