package repl_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/supervisor/wire"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
)

// startLean starts a runtime over a Lean project whose tools are fakelean's, with the
// commands of the built-in profile but for the path of lake.
func startLean(t *testing.T, knob string, changes ...func(*config.Language)) *rig {
	t.Helper()
	bin := standins.Build(t)
	lake := filepath.Join(bin.LeanDir(), "lake")
	project := standins.Project(t, "lean")
	path := filepath.Join(t.TempDir(), "journal")
	standins.WriteKnobs(t, project, knob, "FAKELEAN_JOURNAL="+path)
	standins.EndSurvivors(t, path)
	r := start(t, project, func(cfg *supervisor.Config) {
		lean := cfg.Languages["lean"]
		lean.REPL.Command[0], lean.REPL.HeaderCommand[0] = lake, lake
		lean.REPL.AllowedImports = append(lean.REPL.AllowedImports, "Absent")
		for _, change := range changes {
			change(&lean)
		}
		cfg.Languages["lean"] = lean
	}, resident)
	r.Journal = path
	return r
}

func (r *rig) text(code string) string {
	r.t.Helper()
	report, err := r.run(code, plenty)
	require.NoError(r.t, err)
	return wire.RunText(report)
}

// checks counts the header commands that were started.
func (r *rig) checks() int {
	r.t.Helper()
	return len(r.Select(r.t, standins.Is("deps", journal.Start, "")))
}

func TestLeanCodeRunsWarmWhereItsHeaderIsCovered(t *testing.T) {
	r := startLean(t, "")
	assert.Equal(t, "Compiles successfully\n\nOutput (1)\n  - 1:0: info: Nat : Type", r.text("#check Nat"))
	assert.Equal(t, "Compiles successfully\n\nOutput (1)\n  - 3:0: info: Nat : Type", r.text("import Init\n\n#check Nat"),
		"lines are the code's own, header included")
	assert.Zero(t, r.checks(), "a lexer finds nothing to check")
	report, err := r.run("example : 1 = 1 := by sorry", plenty)
	require.NoError(t, err)
	assert.Len(t, report.Sorries, 1)
	assert.True(t, report.Header.Warm)
	assert.Len(t, r.replStarts(), 1)
}

func TestLeanHeaderIsCheckedOnceByLeansOwnParser(t *testing.T) {
	for _, schema := range []string{"", "result", "flat", "oldest"} {
		t.Run("schema "+schema, func(t *testing.T) {
			r := startLean(t, "FAKELEAN_AT_DEPS=schema "+schema)
			for range 2 {
				_, err := r.run("import Evil\n#check Nat", plenty)
				var refused *messages.ImportError
				require.ErrorAs(t, err, &refused)
				assert.Equal(t, []string{"Evil"}, refused.Disallowed)
				assert.Equal(t, messages.KindInvalid, messages.KindOf(err))
			}
			assert.Zero(t, r.checks(), "a lexer was enough to refuse it")
			for range 2 {
				assert.Contains(t, r.text("import Absent\n#check Nat"), "unknown module prefix 'Absent'")
			}
			assert.Equal(t, 1, r.checks())
			assert.Len(t, r.replStarts(), 1, "what is refused or wrong costs no child")
		})
	}
}

func TestLeanHeaderThatCannotBeReadIsRefused(t *testing.T) {
	r := startLean(t, standins.At("deps", "stderr-text toolchain is missing", "exit 1"))
	_, err := r.run("import Aesop\n#check Nat", plenty)
	assert.EqualError(t, err, "Rejected Lean header: toolchain is missing")
	var run *messages.RunError
	require.ErrorAs(t, err, &run)
	assert.False(t, run.Sent)
	assert.Equal(t, "REPL error: Rejected Lean header: toolchain is missing", wire.RunText(run.Report()))
	assert.Equal(t, "Compiles successfully\n\nOutput (1)\n  - 1:0: info: Nat : Type", r.text("#check Nat"))
}

func TestLeanHeaderCheckCountsAgainstTheCallsTime(t *testing.T) {
	r := startLean(t, standins.At("deps", "sleep 1h"))
	assert.NotEmpty(t, r.text("#check Nat"))
	began := time.Now()
	_, err := r.run("import Aesop\n#check Nat", time.Second)
	assert.Equal(t, messages.KindTimeout, messages.KindOf(err))
	assert.Less(t, time.Since(began), plenty/2)
	assert.NotEmpty(t, r.text("#check Nat"), "and costs nobody a worker")
	assert.Len(t, r.replStarts(), 1)
}

func TestLeanPoolThatCannotWarmUpTellsWhyAtOnce(t *testing.T) {
	absent := func(lean *config.Language) { lean.REPL.WarmUp = []string{"Absent"} }
	exits := func(*config.Language) {}
	for name, c := range map[string]struct {
		knob   string
		change func(*config.Language)
		text   string
	}{
		"a module is missing": {"", absent, "warm-up failed: unknown module prefix 'Absent'"},
		"it exits":            {standins.At("repl", "stderr-text E-17", "exit 3"), exits, "E-17"},
	} {
		t.Run(name, func(t *testing.T) {
			r := startLean(t, c.knob, c.change)
			began := time.Now()
			_, err := r.run("#check Nat", plenty)
			assert.Equal(t, messages.KindProcess, messages.KindOf(err))
			assert.ErrorContains(t, err, c.text)
			assert.Less(t, time.Since(began), plenty/2)
		})
	}
}

func TestLeanWarmsUpWhatTheManifestNames(t *testing.T) {
	r := startLean(t, "")
	standins.WriteFile(t, filepath.Join(r.project, "lake-manifest.json"),
		`{"version": "1.1.0", "packages": [{"name": "mathlib"}], "name": "example"}`)
	assert.Equal(t, "Compiles successfully\n\nOutput (1)\n  - 2:0: info: Nat : Type", r.text("import Mathlib\n#check Nat"))
	assert.Zero(t, r.checks())
	assert.Len(t, r.Select(t, func(e standins.Event) bool {
		return e.Event == journal.Received && strings.Contains(e.Detail, "import Mathlib")
	}), 1, "at the warm-up, and for no call")
}

func TestLeanThatIsNotInstalledIsNamedWithAWayToGetIt(t *testing.T) {
	r := start(t, standins.Project(t, "lean"), func(cfg *supervisor.Config) {
		lean := cfg.Languages["lean"]
		lean.REPL.Command = config.Command{"lake-that-nobody-has", "exe", "repl"}
		lean.Install = map[string]string{"lake-that-nobody-has": "install elan"}
		cfg.Languages["lean"] = lean
	})
	_, err := r.run("#check Nat", plenty)
	var launch *messages.LaunchError
	require.ErrorAs(t, err, &launch)
	assert.Contains(t, err.Error(), "install elan")
}
