package config

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDefaultsFollowTheMachinesMemory(t *testing.T) {
	for _, machine := range []struct {
		ram            Size
		workers, open  int
		budget         Size
		projectWeights int
	}{
		{0, 1, 1, 16 * GiB, 1},
		{4 * GiB, 1, 1, 2 * GiB, 1},
		{24 * GiB, 1, 4, 12 * GiB, 1},
		{31 * GiB, 1, 5, 31 * GiB / 2, 1},
		{32 * GiB, 1, 5, 16 * GiB, 1},
		{100 * GiB, 3, 8, 50 * GiB, 3},
		{1024 * GiB, 32, 8, 512 * GiB, 4},
	} {
		c := defaultsFor(machine.ram)
		require.NoError(t, c.Validate(), machine.ram)
		assert.Equal(t, machine.workers, c.REPL.TotalWorkers, machine.ram)
		assert.Equal(t, machine.open, c.LSP.OpenDocuments, machine.ram)
		assert.Equal(t, machine.budget, c.NodeBudget(), machine.ram)
		assert.Equal(t, machine.projectWeights, c.LeanPools(), machine.ram)
	}
}

func TestThisMachinesDefaultsAreValid(t *testing.T) {
	c := Default()
	require.NoError(t, c.Validate())
	assert.Positive(t, c.RAM)
}

func TestTotalWorkersOfTheUsersMakesRoomForSoManyLeanWorkers(t *testing.T) {
	c := defaultsFor(24 * GiB)
	c.REPL.TotalWorkers = 3
	assert.Equal(t, 48*GiB, c.NodeBudget())
	c.REPL.WorkersPerProject = 2
	assert.Equal(t, 32*GiB, c.PoolWeight(c.Languages["lean"]))
	assert.Equal(t, 2*GiB, c.PoolWeight(c.Languages["python"]))
	assert.Equal(t, 1, c.LeanPools())
	c.REPL.TotalWorkers = math.MaxInt
	assert.Equal(t, Size(math.MaxInt64), c.NodeBudget())
}

func TestCreationBudgets(t *testing.T) {
	c := defaultsFor(GiB)
	assert.Equal(t, 190*time.Second, c.REPLCreation())
	assert.Equal(t, 125*time.Second, c.LSPCreation())
	assert.Equal(t, 840*time.Second, c.AcquireTimeout(30*time.Second))
}

// The two budgets are refused one second under what they need, each with a text of
// its own, and taken at what they need.
func TestAResponseTimeoutUnderTheBudgetIsRefused(t *testing.T) {
	c := defaultsFor(GiB)
	c.REPL.MaxTimeout = 600 * time.Second
	c.ResponseTimeout = (190 + 600 + 30) * time.Second
	require.NoError(t, c.Validate())
	c.ResponseTimeout -= time.Second
	repl := refused(t, c.Validate())
	assert.Equal(t, "response_timeout", repl.Setting)
	assert.Equal(t, "13m39s", repl.Value)
	assert.Contains(t, repl.Want, "at least 13m40s, it is too small to start a REPL pool (3m10s)")

	c = defaultsFor(GiB)
	c.ResponseTimeout = (125 + 600 + 30) * time.Second
	require.NoError(t, c.Validate())
	c.ResponseTimeout -= time.Second
	lsp := refused(t, c.Validate())
	assert.Contains(t, lsp.Want, "at least 12m35s, it is too small to start a language server (2m5s)")
}

func TestRulesBetweenSettings(t *testing.T) {
	for setting, spoil := range map[string]func(*Config){
		"repl.workers_per_project": func(c *Config) { c.REPL.WorkersPerProject = c.REPL.TotalWorkers + 1 },
		"repl.timeout":             func(c *Config) { c.REPL.Timeout = c.REPL.MaxTimeout + 1 },
		"lsp.timeout":              func(c *Config) { c.LSP.Timeout = c.LSP.MaxTimeout + 1 },
	} {
		c := defaultsFor(64 * GiB)
		spoil(&c)
		refusal := refused(t, c.Validate())
		assert.Equal(t, setting, refusal.Setting)
		assert.Contains(t, refusal.Want, "at most ")
	}
}

func TestAConfigMadeInCodeIsHeldToTheSameRules(t *testing.T) {
	for setting, spoil := range map[string]func(*Config){
		"max_projects":               func(c *Config) { c.MaxProjects = 0 },
		"idle":                       func(c *Config) { c.Idle = -1 },
		"repl.mode":                  func(c *Config) { c.REPL.Mode = "" },
		"repl.memory_ratio":          func(c *Config) { c.REPL.MemoryRatio = math.NaN() },
		"runtime_dir":                func(c *Config) { c.RuntimeDir = "relative" },
		"languages":                  func(c *Config) { delete(c.Languages, "lean") },
		"languages.go.name":          func(c *Config) { c.Languages["go"] = c.Languages["c"] },
		"languages.go.lsp.command":   func(c *Config) { setCommand(c, "go", Command{"./gopls"}) },
		"languages.lean.lsp.command": func(c *Config) { setCommand(c, "lean") },
	} {
		c := defaultsFor(GiB)
		spoil(&c)
		assert.Equal(t, setting, refused(t, c.Validate()).Setting)
	}
}

func setCommand(c *Config, language string, commands ...Command) {
	l := c.Languages[language]
	l.Server.Commands = commands
	c.Languages[language] = l
}

// Sums of the longest durations used to wrap around, and passed for small ones.
func TestADurationSoLongThatSumsOfItWrapIsRefused(t *testing.T) {
	c := defaultsFor(GiB)
	c.LSP.StartupTimeout = math.MaxInt64
	refusal := refused(t, c.Validate())
	assert.Equal(t, "lsp.startup_timeout", refusal.Setting)
	assert.Contains(t, refusal.Want, "at most 87600h")
}
