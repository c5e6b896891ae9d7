package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-f6977891/hearth/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// environ is an environment for Sources.
func environ(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

// write makes a file with its directories.
func write(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// realTemp is a temporary directory whose own path has no symlinks.
func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

// refused asserts a ConfigError and gives it.
func refused(t *testing.T, err error) *messages.ConfigError {
	t.Helper()
	var refusal *messages.ConfigError
	require.ErrorAs(t, err, &refusal)
	require.NotContains(t, refusal.Error(), "\n")
	return refusal
}
