package cli_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// section gives what is in README.md between two marks.
func section(t *testing.T, from, to string) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), from)
	require.True(t, found, from)
	part, _, found := strings.Cut(rest, to)
	require.True(t, found, to)
	return part
}

func TestTheReadmesProgramIsTheCompiledExample(t *testing.T) {
	example, err := os.ReadFile("../../supervisor/example_test.go")
	require.NoError(t, err)
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	assert.Contains(t, words(string(example)), words(section(t, "```go\n", "```")))
}

func TestTheReadmesConfigurationIsTaken(t *testing.T) {
	dir := write(t, map[string]string{"hearth.toml": section(t, "```toml\n", "```")})
	c := hearth(t, dir, nil, "config", "--config", "hearth.toml")
	assert.Equal(t, 0, c.run(t), c.stderr.String())
	assert.Regexp(t, `(?m)^idle +10m +hearth\.toml$`, c.stdout.String())
}
