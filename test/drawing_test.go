package test_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// drawn are the actors whose states README.md draws: those that own or admit processes.
var drawn = map[string]string{
	"Sweeper": "actors/sweeper/sweeper.go",
	"Session": "actors/lsp/session.go",
	"Worker":  "actors/repl/worker.go",
	"Pool":    "actors/repl/pool.go",
	"Entry":   "actors/cache/entry.go",
}

func TestReadmeDrawsTheStatesAsTheyFollowEachOther(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	all := sources(t)
	for name, path := range drawn {
		at := slices.IndexFunc(all, func(s source) bool { return filepath.ToSlash(s.path) == path })
		require.NotEqual(t, -1, at, path)
		assert.Contains(t, string(readme), drawing(t, name, all[at]))
	}
}

// drawing is a machine as README.md has it: a line for each state, with those that may
// follow it.
func drawing(t *testing.T, name string, s source) string {
	m, err := machineOf(s)
	require.NoError(t, err)
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", name)
	for _, from := range m.states {
		var next []string
		for _, to := range m.legal[from] {
			next = append(next, m.spoken[to])
		}
		if len(next) > 0 {
			fmt.Fprintf(&out, "  %-13s → %s\n", m.spoken[from], strings.Join(next, " | "))
		}
	}
	return out.String()
}
