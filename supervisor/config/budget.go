package config

import (
	"fmt"
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// Parts of a call's budget.
const (
	// margin is what is left of response_timeout for everything beside creation and
	// the operation itself: queues, the socket, the answer.
	margin = 30 * time.Second
	// closingPool is the time to end a pool's worker before its successor starts.
	closingPool = 10 * time.Second
	// closingServer is the same for a language server, which is asked to shut down
	// first and is judged only after it had its time.
	closingServer = 65 * time.Second
)

// REPLCreation is the time set aside to replace a pool: it is open with its first
// warm worker, the others follow.
func (c Config) REPLCreation() time.Duration { return c.REPL.StartupTimeout + closingPool }

// LSPCreation is the time set aside to replace a language server.
func (c Config) LSPCreation() time.Duration { return c.LSP.StartupTimeout + closingServer }

// AcquireTimeout is how long a call with this timeout may wait for its resource.
func (c Config) AcquireTimeout(operation time.Duration) time.Duration {
	return c.ResponseTimeout - operation - margin
}

// checkBudgets refuses a configuration under which a call could be promised more
// time than its response has.
func (c Config) checkBudgets() error {
	if need := c.REPLCreation() + c.REPL.MaxTimeout + margin; need > c.ResponseTimeout {
		return c.tooSmall(need, "to start a REPL pool", "repl", c.REPLCreation(), c.REPL.MaxTimeout)
	}
	if need := c.LSPCreation() + c.LSP.MaxTimeout + margin; need > c.ResponseTimeout {
		return c.tooSmall(need, "to start a language server", "lsp", c.LSPCreation(), c.LSP.MaxTimeout)
	}
	return nil
}

func (c Config) tooSmall(need time.Duration, what, section string, creation, operation time.Duration) error {
	return &messages.ConfigError{
		Setting: "response_timeout",
		Value:   FormatDuration(c.ResponseTimeout),
		Want: fmt.Sprintf("at least %s, it is too small %s (%s) and to run a call (%s.max_timeout, %s) with a margin of %s",
			FormatDuration(need), what, FormatDuration(creation), section, FormatDuration(operation), FormatDuration(margin)),
	}
}

// NodeBudget is the memory that all REPL workers of the node may take together,
// counted by weight. Without a repl.total_workers of its own it is half of the
// machine's memory; with one it is room for so many Lean workers.
func (c Config) NodeBudget() Size {
	lean := c.Languages["lean"].REPL.Weight
	if c.RAM > 0 && c.REPL.TotalWorkers == defaultTotalWorkers(c) {
		return c.RAM / 2
	}
	return lean.times(c.REPL.TotalWorkers)
}

// PoolWeight is what one project's pool takes of the node's budget.
func (c Config) PoolWeight(l Language) Size {
	return l.REPL.Weight.times(c.REPL.WorkersPerProject)
}

// LeanPools is how many Lean projects can have a pool at the same time; never 0,
// since a pool heavier than the whole budget is admitted alone.
func (c Config) LeanPools() int {
	return max(1, min(c.MaxProjects, c.REPL.TotalWorkers/c.REPL.WorkersPerProject))
}

// MemoryLimit is that of one worker of the language; 0: none.
func (c Config) MemoryLimit(l Language) Size {
	if l.REPL.MemoryLimit != nil {
		return *l.REPL.MemoryLimit
	}
	return c.REPL.MemoryLimit
}

// defaultTotalWorkers is how many Lean workers half of the memory has room for.
func defaultTotalWorkers(c Config) int {
	lean := c.Languages["lean"].REPL.Weight
	if lean <= 0 {
		return 1 // refused by Validate
	}
	return int(max(1, c.RAM/2/lean))
}

// defaultOpenDocuments counts with a Lean file worker's 6 GiB for each.
func defaultOpenDocuments(c Config) int {
	return int(max(1, min(8, c.RAM/(6*GiB))))
}
