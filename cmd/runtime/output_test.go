package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestJSONIsAskedForInAllFormsOfAFlag(t *testing.T) {
	for line, asked := range map[string]bool{
		"check --json a.go":        true,
		"check --json=true a.go":   true,
		"check a.go --json=1":      true,
		"check --json=false a.go":  false,
		"check --json=maybe a.go":  false,
		"check --jsonx a.go":       false,
		"check a.go":               false,
		"watch --json -- make":     true,
		"watch -- make --json":     false,
		"watch --json=0 -- --json": false,
	} {
		assert.Equal(t, asked, asksJSON(strings.Fields(line)), line)
	}
}

func TestNoResultIsPrintedAmongAProtocolsMessages(t *testing.T) {
	project(t, goProject)
	for _, line := range []string{"mcp --json more", "mcp --json --bogus", "mcp --json --config none.toml"} {
		got := hearth(t, &fakeEngine{}, "", strings.Fields(line)...)
		assert.NotZero(t, got.code, line)
		assert.Empty(t, got.stdout, line)
		assert.NotEmpty(t, got.stderr, line)
	}
}
