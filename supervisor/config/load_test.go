package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// contract is the public table: key, variables in order, default on a machine with
// 64 GiB.
var contract = []struct{ key, env, value string }{
	{"max_projects", "HEARTH_MAX_PROJECTS AUTOFORM_MAX_LEAN_PROJECTS", "4"},
	{"idle", "HEARTH_IDLE AUTOFORM_LEAN_IDLE_SECONDS", "30m"},
	{"repl.total_workers", "HEARTH_REPL_TOTAL_WORKERS AUTOFORM_REPL_TOTAL_WORKERS", "2"},
	{"repl.workers_per_project", "HEARTH_REPL_WORKERS_PER_PROJECT AUTOFORM_REPL_WORKERS_PER_PROJECT LEAN_NUM_REPLS", "1"},
	{"repl.mode", "HEARTH_REPL_MODE", "fresh"},
	{"repl.timeout", "HEARTH_REPL_TIMEOUT AUTOFORM_REPL_REQUEST_TIMEOUT", "30s"},
	{"repl.max_timeout", "HEARTH_REPL_MAX_TIMEOUT AUTOFORM_MAX_REPL_REQUEST_SECONDS", "4m"},
	{"repl.startup_timeout", "HEARTH_REPL_STARTUP_TIMEOUT", "3m"},
	{"repl.memory_limit", "HEARTH_REPL_MEMORY_LIMIT", "16GiB"},
	{"repl.memory_ratio", "HEARTH_REPL_MEMORY_RATIO", "0.9"},
	{"repl.max_uses", "HEARTH_REPL_MAX_USES", "0"},
	{"lsp.timeout", "HEARTH_LSP_TIMEOUT LEAN_LSP_TIMEOUT", "1m"},
	{"lsp.max_timeout", "HEARTH_LSP_MAX_TIMEOUT AUTOFORM_MAX_LSP_REQUEST_SECONDS", "10m"},
	{"lsp.startup_timeout", "HEARTH_LSP_STARTUP_TIMEOUT", "1m"},
	{"lsp.open_documents", "HEARTH_LSP_OPEN_DOCUMENTS", "8"},
	{"lsp.parallel", "HEARTH_LSP_PARALLEL", "8"},
	{"response_timeout", "HEARTH_RESPONSE_TIMEOUT AUTOFORM_RUNTIME_RESPONSE_TIMEOUT", "15m"},
	{"stop_timeout", "HEARTH_STOP_TIMEOUT", "15m"},
	{"abort_grace", "HEARTH_ABORT_GRACE", "5s"},
	{"max_operations", "HEARTH_MAX_OPERATIONS", "4096"},
	{"read_timeout", "HEARTH_READ_TIMEOUT AUTOFORM_RUNTIME_READ_TIMEOUT", "10s"},
	{"max_connections", "HEARTH_MAX_CONNECTIONS AUTOFORM_RUNTIME_MAX_CONNECTIONS", "1024"},
	{"runtime_dir", "HEARTH_RUNTIME_DIR AUTOFORM_RUNTIME_DIR", "/run/user/7/hearth"},
	{"log_level", "HEARTH_LOG_LEVEL AUTOFORM_LOG_LEVEL", "info"},
	{"languages.lean.lsp.command", "HEARTH_LEAN_LSP_CMD LEAN_LSP_CMD", "lake serve"},
	{"languages.lean.repl.command", "HEARTH_LEAN_REPL_CMD LEAN_REPL_CMD", "lake exe @repl/repl"},
	{"languages.lean.repl.header_command", "HEARTH_LEAN_HEADER_CMD LEAN_REPL_HEADER_CMD",
		`lake env sh -c 'exec "$LEAN_SYSROOT/bin/lean" --deps-json /dev/stdin'`},
}

func TestTheTableIsTheContracts(t *testing.T) {
	c, from, err := Load(Sources{RAM: 64 * GiB, Environ: environ(map[string]string{"XDG_RUNTIME_DIR": "/run/user/7"})})
	require.NoError(t, err)
	rows := c.Table(from)
	require.Len(t, rows, len(contract))
	for i, want := range contract {
		row := rows[i]
		assert.Equal(t, want.key, row.Key)
		assert.Equal(t, strings.Fields(want.env), row.Env, want.key)
		assert.Equal(t, want.value, row.Value, want.key)
		assert.Equal(t, "default", row.From, want.key)
		assert.NotEmpty(t, row.Help, want.key)
		assert.NotEmpty(t, row.Want, want.key)
	}
}

// samples holds, for each key, texts that it takes (as it prints them again) and
// texts that it refuses.
var samples = map[string]struct{ good, printed, bad string }{
	"max_projects":                       {"7", "7", "0 -1 x 1.5 true"},
	"idle":                               {"0", "0s", "-1 x 1d inf nan"},
	"repl.total_workers":                 {"3", "3", "0 x"},
	"repl.workers_per_project":           {"2", "2", "0 3 x"},
	"repl.mode":                          {"resident", "resident", "warm Fresh"},
	"repl.timeout":                       {"45", "45s", "0 -1 x 5m"},
	"repl.max_timeout":                   {"60", "1m", "0 x 1s"},
	"repl.startup_timeout":               {"20s", "20s", "0 x"},
	"repl.memory_limit":                  {"0", "0", "-1 x 16gigs"},
	"repl.memory_ratio":                  {"0.5", "0.5", "-0.1 1.1 nan x"},
	"repl.max_uses":                      {"100", "100", "-1 x"},
	"lsp.timeout":                        {"90", "1m30s", "0 x 11m"},
	"lsp.max_timeout":                    {"120", "2m", "0 x 59"},
	"lsp.startup_timeout":                {"10s", "10s", "0 x"},
	"lsp.open_documents":                 {"0", "0", "-1 x"},
	"lsp.parallel":                       {"1", "1", "0 x"},
	"response_timeout":                   {"1000", "16m40s", "0 x 100"},
	"stop_timeout":                       {"1s", "1s", "0 x"},
	"abort_grace":                        {"0", "0s", "-1 x"},
	"max_operations":                     {"1", "1", "0 x"},
	"read_timeout":                       {"1s", "1s", "0 x"},
	"max_connections":                    {"1", "1", "0 x"},
	"runtime_dir":                        {"/r", "/r", "r ./r"},
	"log_level":                          {"DEBUG", "debug", "loud"},
	"languages.lean.lsp.command":         {"/l serve", "/l serve", "./l $l"},
	"languages.lean.repl.command":        {"r", "r", "./r a;b"},
	"languages.lean.repl.header_command": {"'h h'", "'h h'", "./h `h`"},
}

// load loads for a machine with 64 GiB, whose default is two Lean workers.
func load(t *testing.T, env, flags map[string]string, file string) (Config, Origins, error) {
	t.Helper()
	src := Sources{RAM: 64 * GiB, Environ: environ(env), Flags: flags}
	if file != "" {
		src.ConfigFile = write(t, filepath.Join(t.TempDir(), "hearth.toml"), file)
	}
	return Load(src)
}

func TestEverySettingIsReadFromEveryVariable(t *testing.T) {
	for _, s := range settings {
		sample, ok := samples[s.key]
		require.True(t, ok, s.key)
		for _, v := range s.names {
			c, from, err := load(t, map[string]string{v.name: " " + sample.good + " "}, nil, "")
			require.NoError(t, err, v.name)
			assert.Equal(t, sample.printed, s.format(c), v.name)
			assert.Equal(t, v.name, from[s.key])
		}
	}
}

func TestEveryBadValueIsRefusedWithSettingValueAndRule(t *testing.T) {
	for _, s := range settings {
		for _, bad := range strings.Fields(samples[s.key].bad) {
			for _, v := range s.names {
				if bad == v.unset {
					continue
				}
				_, _, err := load(t, map[string]string{v.name: bad}, nil, "")
				refusal := refused(t, err)
				assert.NotEmpty(t, refusal.Setting, "%s=%s", v.name, bad)
				assert.NotEmpty(t, refusal.Value, "%s=%s", v.name, bad)
				assert.NotEmpty(t, refusal.Want, "%s=%s", v.name, bad)
			}
			_, _, err := load(t, nil, map[string]string{s.key: bad}, "")
			refused(t, err)
		}
	}
}

func TestARefusalNamesTheVariableThatHoldsTheValue(t *testing.T) {
	for name, source := range map[string]string{
		"HEARTH_IDLE": "idle (HEARTH_IDLE)", "AUTOFORM_LEAN_IDLE_SECONDS": "idle (AUTOFORM_LEAN_IDLE_SECONDS)",
	} {
		_, _, err := load(t, map[string]string{name: "soon"}, nil, "")
		refusal := refused(t, err)
		assert.Equal(t, source, refusal.Setting)
		assert.Equal(t, "soon", refusal.Value)
	}
	_, _, err := load(t, nil, map[string]string{"idle": "soon"}, "")
	assert.Equal(t, "idle (--idle)", refused(t, err).Setting)
}

func TestFlagBeatsEnvironmentBeatsFileBeatsDefault(t *testing.T) {
	file := "idle = 1\nmax_projects = 11\nread_timeout = '1s'\n[lsp]\nparallel = 2\n"
	env := map[string]string{"HEARTH_IDLE": "2", "HEARTH_MAX_PROJECTS": "12", "HEARTH_READ_TIMEOUT": "   "}
	c, from, err := load(t, env, map[string]string{"idle": "3"}, file)
	require.NoError(t, err)
	assert.Equal(t, 3*time.Second, c.Idle)
	assert.Equal(t, "--idle", from["idle"])
	assert.Equal(t, 12, c.MaxProjects)
	assert.Equal(t, "HEARTH_MAX_PROJECTS", from["max_projects"])
	assert.Equal(t, time.Second, c.ReadTimeout, "a blank variable is unset")
	assert.Equal(t, 2, c.LSP.Parallel)
	assert.Equal(t, "hearth.toml", filepath.Base(from["lsp.parallel"]))
	assert.Equal(t, 1024, c.MaxConnections)
	assert.NotContains(t, from, "max_connections")
}

func TestOlderNamesWorkOnlyWhereTheNewOneIsUnset(t *testing.T) {
	env := map[string]string{"HEARTH_LSP_TIMEOUT": "5s", "LEAN_LSP_TIMEOUT": "6", "AUTOFORM_MAX_LSP_REQUEST_SECONDS": "70"}
	c, _, err := load(t, env, nil, "")
	require.NoError(t, err)
	assert.Equal(t, 5*time.Second, c.LSP.Timeout)
	assert.Equal(t, 70*time.Second, c.LSP.MaxTimeout)
}

func TestANameThatSaysSecondsTakesNoOtherUnit(t *testing.T) {
	for _, name := range []string{"AUTOFORM_LEAN_IDLE_SECONDS", "AUTOFORM_MAX_REPL_REQUEST_SECONDS", "AUTOFORM_MAX_LSP_REQUEST_SECONDS"} {
		_, _, err := load(t, map[string]string{name: "5m"}, nil, "")
		refused(t, err)
	}
}

func TestLeanNumReplsZeroIsUnset(t *testing.T) {
	c, from, err := load(t, map[string]string{"LEAN_NUM_REPLS": "0"}, nil, "")
	require.NoError(t, err)
	assert.Equal(t, 1, c.REPL.WorkersPerProject)
	assert.NotContains(t, from, "repl.workers_per_project")
	_, _, err = load(t, map[string]string{"AUTOFORM_REPL_WORKERS_PER_PROJECT": "0"}, nil, "")
	refused(t, err)
}

func TestStopTimeoutFollowsResponseTimeout(t *testing.T) {
	c, _, err := load(t, map[string]string{"HEARTH_RESPONSE_TIMEOUT": "1000"}, nil, "")
	require.NoError(t, err)
	assert.Equal(t, 1000*time.Second, c.StopTimeout)
}

func TestThePredecessorsLevelNamesAreUnderstood(t *testing.T) {
	for name, want := range map[string]string{"WARNING": "warn", "Critical": "error", "info": "info"} {
		c, _, err := load(t, map[string]string{"AUTOFORM_LOG_LEVEL": name}, nil, "")
		require.NoError(t, err)
		assert.Equal(t, want, level.format(c.LogLevel))
	}
}

func TestUnknownFlagsAreRefused(t *testing.T) {
	_, _, err := load(t, nil, map[string]string{"idel": "1"}, "")
	assert.Contains(t, refused(t, err).Setting, "idel")
}

func TestSalvageReadsAllButWhatIsWrongWithTheFile(t *testing.T) {
	for file, runtimeDir := range map[string]string{
		"runtime_dir = '/r'\nidle = 'soon'":                      "/r",
		"runtime_dir = '/r'\nidel = 1":                           "/r",
		"runtime_dir = '/r'\n[languages.go]\nmarker = ['x']":     "/r",
		"runtime_dir = '/r'\nresponse_timeout = 1":               "/r",
		"runtime_dir = '/r'\n[languages.go]\nmarkers = []":       "/r",
		"runtime_dir = '/r'\nidle = = 1":                         "/run/user/7/hearth",
		"runtime_dir = './r'":                                    "/run/user/7/hearth",
		"runtime_dir = '/" + strings.Repeat("r", 100) + "'":      "/run/user/7/hearth",
		"runtime_dir = '/r'\nstop_timeout = true\nabort_grace=7": "/r",
	} {
		src := Sources{RAM: 64 * GiB, Environ: environ(map[string]string{"XDG_RUNTIME_DIR": "/run/user/7"}),
			ConfigFile: write(t, filepath.Join(t.TempDir(), "hearth.toml"), file)}
		_, _, want := Load(src)
		c, flaw, err := Salvage(src)
		require.NoError(t, err, file)
		assert.Equal(t, refused(t, want), refused(t, flaw), file)
		assert.Equal(t, runtimeDir, c.Dir(), file)
		src.Flags = map[string]string{"runtime_dir": "/flag"}
		c, flaw, err = Salvage(src)
		require.NoError(t, err, file)
		if !strings.Contains(file, "/rrr") { // over which the flag is laid
			assert.Error(t, flaw, file)
		}
		assert.Equal(t, "/flag", c.Dir(), file)
	}
}

func TestSalvageRefusesWhatIsWrongElsewhere(t *testing.T) {
	broken := write(t, filepath.Join(t.TempDir(), "hearth.toml"), "idle = = 1")
	for _, src := range []Sources{
		{Flags: map[string]string{"idle": "soon"}}, {Flags: map[string]string{"idel": "1"}},
		{Environ: environ(map[string]string{"HEARTH_IDLE": "soon"})},
		{Environ: environ(map[string]string{"HEARTH_RUNTIME_DIR": "/" + strings.Repeat("r", 100)})},
	} {
		src.RAM, src.ConfigFile = 64*GiB, broken
		_, _, err := Salvage(src)
		refused(t, err)
	}
}
