// Package cli_test runs the built program as a person or a script would, on real
// language servers.
package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/leftovers"
)

// bound is how long one run may take on a slow, shared machine, on which gopls may
// have to be built.
const bound = 8 * time.Minute

// program is the built hearth.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "hearth-cli-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = filepath.Join(dir, "hearth")
	build := exec.Command("go", "build", "-o", program, "../../cmd/runtime")
	if output, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, output)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// command is one run of the program that is being prepared.
type command struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
	mark           procscan.Mark // in the environment of it and all that it starts
}

// hearth prepares a run in dir, on an engine of its own, with env laid over the
// environment and what may configure hearth on this machine kept out.
func hearth(t *testing.T, dir string, env []string, args ...string) *command {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	c := &command{Cmd: exec.CommandContext(ctx, program, append([]string{"--embedded"}, args...)...), mark: procscan.NewMark("HEARTH_TEST_MARK")}
	c.Dir, c.Stdout, c.Stderr = dir, &c.stdout, &c.stderr
	c.Env = append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir(), "TMPDIR="+t.TempDir(), c.mark.Env())
	c.Env = append(c.Env, env...)
	t.Cleanup(func() {
		cancel()
		leftovers.End(t, c.mark)
	})
	return c
}

// run runs it and gives its exit code. Nothing that it started may be left.
func (c *command) run(t *testing.T) int {
	t.Helper()
	require.NoError(t, c.Start())
	return c.wait(t)
}

func (c *command) wait(t *testing.T) int {
	t.Helper()
	err := c.Wait()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	scan, err := procscan.SystemTable().Scan(t.Context(), c.mark)
	require.NoError(t, err)
	defer scan.Close()
	assert.Empty(t, scan.Hits, "processes left")
	return c.ProcessState.ExitCode()
}

// write makes a project of files, by name.
func write(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

// inPath is an environment in which the program's directory is the first of PATH.
func inPath(server string) []string {
	return []string{"PATH=" + filepath.Dir(server) + string(os.PathListSeparator) + os.Getenv("PATH")}
}
