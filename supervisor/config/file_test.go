package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnknownKeysInTheFileAreRefused(t *testing.T) {
	for _, file := range []string{
		"idel = 1", "[repl]\ntimeuot = 1", "[lps]\n", "[repl.timeout]\nx = 1", "repl = 1",
		"[languages.go]\nmarker = ['x']", "[languages.go.lsp]\ncmd = 'x'", "[languages.go]\nlsp = 'gopls'",
		"languages = 1", "[languages]\ngo = 'gopls'", "[languages.go.tools]\n",
	} {
		_, _, err := load(t, nil, nil, file)
		refusal := refused(t, err)
		assert.Contains(t, refusal.Setting, "hearth.toml", file)
	}
}

func TestEmptyTablesOfKnownSectionsSayNothing(t *testing.T) {
	_, _, err := load(t, nil, nil, "[repl]\n[lsp]\n[languages]\n[languages.go.lsp]\n")
	require.NoError(t, err)
}

func TestValuesOfTheWrongTypeAreRefused(t *testing.T) {
	for _, file := range []string{
		"idle = true", "idle = [1]", "max_projects = 1.5", "idle = 2020-01-01", "idle = ''", "idle = inf",
	} {
		_, _, err := load(t, nil, nil, file)
		assert.Contains(t, refused(t, err).Setting, "hearth.toml", file)
	}
}

func TestAFileThatIsNoTOMLIsRefusedByName(t *testing.T) {
	_, _, err := load(t, nil, nil, "idle = = 1\n")
	assert.Equal(t, "hearth.toml", filepath.Base(refused(t, err).Value))
}

func TestANamedFileHasToExist(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.toml")
	_, _, err := Load(Sources{RAM: GiB, ConfigFile: missing})
	assert.Equal(t, "--config", refused(t, err).Setting)
	_, _, err = Load(Sources{RAM: GiB, Environ: environ(map[string]string{"HEARTH_CONFIG": missing})})
	assert.Equal(t, "HEARTH_CONFIG", refused(t, err).Setting)
}

func TestTheFilesPlaces(t *testing.T) {
	dir := t.TempDir()
	flag := write(t, filepath.Join(dir, "flag.toml"), "max_projects = 1")
	variable := write(t, filepath.Join(dir, "variable.toml"), "max_projects = 2")
	write(t, filepath.Join(dir, "xdg", "hearth", "config.toml"), "max_projects = 3")
	write(t, filepath.Join(dir, ".config", "hearth", "config.toml"), "max_projects = 5")
	all := map[string]string{"HEARTH_CONFIG": variable, "XDG_CONFIG_HOME": filepath.Join(dir, "xdg"), "HOME": dir}
	without := func(names ...string) map[string]string {
		env := map[string]string{}
		for name, value := range all {
			env[name] = value
		}
		for _, name := range names {
			delete(env, name)
		}
		return env
	}
	relative := without("HEARTH_CONFIG")
	relative["XDG_CONFIG_HOME"] = "xdg"
	for _, place := range []struct {
		name, flag string
		env        map[string]string
		want       int
	}{
		{"flag", flag, all, 1},
		{"HEARTH_CONFIG", "", all, 2},
		{"XDG_CONFIG_HOME", "", without("HEARTH_CONFIG"), 3},
		{"relative XDG_CONFIG_HOME", "", relative, 5},
		{"HOME", "", without("HEARTH_CONFIG", "XDG_CONFIG_HOME"), 5},
		{"none", "", nil, 4},
	} {
		c, _, err := Load(Sources{RAM: GiB, ConfigFile: place.flag, Environ: environ(place.env)})
		require.NoError(t, err, place.name)
		assert.Equal(t, place.want, c.MaxProjects, place.name)
	}
}

// A directory where the user's file should be is a mistake, not a missing file.
func TestAnUnreadableFileIsAnError(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "hearth", "config.toml"), 0o755))
	_, _, err := Load(Sources{RAM: GiB, Environ: environ(map[string]string{"XDG_CONFIG_HOME": dir})})
	refused(t, err)
}

func TestAProfileIsOverriddenKeyByKey(t *testing.T) {
	c, from, err := load(t, nil, nil, `
[languages.go]
lsp.command = ["/opt/gopls -remote=auto", "gopls"]
lsp.initialization_options = { pullDiagnostics = true }
lsp.settings = { gopls = { staticcheck = true } }
lsp.env = { GOFLAGS = "-tags=integration" }
lsp.unwatched = ["vendor"]
lsp.serial = true
[languages.python.repl]
command = "python3.12"
memory_limit = "0"
weight = "2GiB"
[languages.c]
language_ids = { ".h" = "cpp" }
`)
	require.NoError(t, err)
	golang := c.Languages["go"]
	assert.Equal(t, []Command{{"/opt/gopls", "-remote=auto"}, {"gopls"}}, golang.Server.Commands)
	assert.JSONEq(t, `{"pullDiagnostics": true}`, string(golang.Server.InitializationOptions))
	assert.Equal(t, map[string]any{"staticcheck": true}, golang.Server.Answer("gopls"))
	assert.Equal(t, map[string]string{"GOFLAGS": "-tags=integration"}, golang.Server.Env)
	assert.Equal(t, []string{"vendor"}, golang.Server.Unwatched)
	assert.True(t, golang.Server.Serial)
	assert.Equal(t, CompleteVersion, golang.Server.Complete, "what isn't named stays")
	assert.Equal(t, []string{"go.mod", "go.work"}, golang.Markers)
	python := c.Languages["python"]
	assert.Equal(t, Command{"python3.12"}, python.REPL.Command)
	assert.Equal(t, "python", python.REPL.Driver)
	assert.Equal(t, 2*GiB, python.REPL.Weight)
	assert.Equal(t, Size(0), c.MemoryLimit(python))
	assert.Equal(t, 16*GiB, c.MemoryLimit(c.Languages["lean"]))
	assert.Equal(t, "cpp", c.Languages["c"].LanguageID("a.h"))
	assert.Contains(t, from, "languages.go.lsp.command")
}

func TestANewProfileNeedsMarkersAndLittleElse(t *testing.T) {
	c, _, err := load(t, nil, nil, `
[languages.rust]
markers = ["Cargo.toml"]
extensions = [".rs"]
lsp.command = "rust-analyzer"
install = { rust-analyzer = "rustup component add rust-analyzer" }
[languages.agda]
markers = ["x.agda-lib"]
repl = { command = "/opt/agda-driver", protocol = "jsonl" }
`)
	require.NoError(t, err)
	rust := c.Languages["rust"]
	assert.Equal(t, "rust", rust.LanguageID("a.rs"))
	assert.True(t, rust.HasServer())
	assert.False(t, rust.HasREPL())
	assert.Equal(t, CompleteQuiet, rust.Server.Complete)
	agda := c.Languages["agda"]
	assert.True(t, agda.HasREPL())
	assert.False(t, agda.HasServer())
	assert.Equal(t, GiB, agda.REPL.Weight)
	assert.Empty(t, agda.REPL.Driver)
}

func TestLeansCommandIsTheSameSettingInFileAndEnvironment(t *testing.T) {
	file := "[languages.lean]\nlsp.command = ['a serve', 'b']\nrepl.command = 'c'\n"
	c, from, err := load(t, map[string]string{"LEAN_REPL_CMD": "d e"}, nil, file)
	require.NoError(t, err)
	assert.Equal(t, []Command{{"a", "serve"}, {"b"}}, c.Languages["lean"].Server.Commands)
	assert.Equal(t, "hearth.toml", filepath.Base(from["languages.lean.lsp.command"]))
	assert.Equal(t, Command{"d", "e"}, c.Languages["lean"].REPL.Command)
	assert.Equal(t, "LEAN_REPL_CMD", from["languages.lean.repl.command"])
}

func TestBadProfilesAreRefusedByKey(t *testing.T) {
	for key, file := range map[string]string{
		"languages.go.markers":                "[languages.go]\nmarkers = []",
		"languages.x.markers":                 "[languages.x]\nlsp.command = 'x'",
		"languages.go.extensions":             "[languages.go]\nextensions = ['go']",
		"languages.go.fingerprint":            "[languages.go]\nfingerprint = ['a/b']",
		"languages.go.lsp.command":            "[languages.go]\nlsp.command = './gopls'",
		"languages.go.lsp.complete":           "[languages.go]\nlsp.complete = 'never'",
		"languages.go.lsp.settings":           "[languages.go]\nlsp.settings = 1",
		"languages.go.lsp.env":                "[languages.go]\nlsp.env = { 'A=B' = 'c' }",
		"languages.go.lsp.env (":              "[languages.go]\nlsp.env = { A = 1 }",
		"languages.c.lsp.env":                 "[languages.c]\nlsp.env = { _HEARTH_SESSION_TOKEN = 'x' }",
		"languages.go.install":                "[languages.go]\ninstall = { gopls = 1 }",
		"languages.go.repl.protocol":          "[languages.go]\nrepl.protocol = 'telnet'",
		"languages.go.repl.command":           "[languages.go]\nrepl.protocol = 'jsonl'",
		"languages.python.repl.weight":        "[languages.python]\nrepl.weight = 0",
		"languages.python.repl.driver":        "[languages.python]\nrepl.driver = 'perl'",
		"languages.python.repl.memory_limit":  "[languages.python]\nrepl.memory_limit = '-1GiB'",
		"languages.lean.repl.header_command":  "[languages.lean]\nrepl.header_command = 'x $y'",
		"languages.lean.repl.warm_up":         "[languages.lean]\nrepl.warm_up = 'Mathlib'",
		"languages.lean.repl.allowed_imports": "[languages.lean]\nrepl.allowed_imports = [1]",
		"languages.Big":                       "[languages.Big]\nmarkers = ['x']",
		"languages.python.language_id":        "[languages.python]\nlanguage_id = ''",
		"languages.python.lsp.unwatched":      "[languages.python]\nlsp.unwatched = {}",
		"languages.python.lsp.serial":         "[languages.python]\nlsp.serial = 1",
		"languages.typescript.language_ids":   "[languages.typescript]\nlanguage_ids = []",
		"languages.typescript.lsp.command":    "[languages.typescript]\nlsp.command = [1]",
		"languages.go.repl.protocol (":        "[languages.go]\nrepl.command = 'x'",
	} {
		_, _, err := load(t, nil, nil, file)
		refusal := refused(t, err)
		assert.Contains(t, refusal.Setting, key, file)
		assert.NotEmpty(t, refusal.Want, file)
	}
}

func TestOneLoadDoesNotChangeTheNextOnesProfiles(t *testing.T) {
	_, _, err := load(t, map[string]string{"HEARTH_IDLE": "1", "HEARTH_LEAN_LSP_CMD": "other"}, nil, "")
	require.NoError(t, err)
	c := Default()
	assert.Equal(t, 30*time.Minute, c.Idle)
	assert.Equal(t, []Command{{"lake", "serve"}}, c.Languages["lean"].Server.Commands)
}
