// Package watch_test runs the built program's watch on real builds: make, go, and the
// stand-ins of Lean's tools. A run's processes carry a mark of the test's own, so that
// each test sees that nothing is left.
package watch_test

import (
	"bytes"
	"context"
	"encoding/json"
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

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/leftovers"
	"github.com/seed-f6977891/hearth/test/standins"
)

// bound is how long one run may take on a slow, shared machine.
const bound = 5 * time.Minute

// program is the built hearth.
var program string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == stormWord {
		os.Exit(storm(os.Args[2:]))
	}
	dir, err := os.MkdirTemp("", "hearth-watch-")
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

// watch is one run of hearth watch.
type watch struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
	mark           procscan.Mark // in the environment of it and all that it starts
	report         string        // the report's file
}

// watching prepares a run in dir; after the flags comes the command.
func watching(t testing.TB, dir string, args ...string) *watch {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	w := &watch{mark: procscan.NewMark("HEARTH_TEST_MARK"), report: filepath.Join(t.TempDir(), "report.json")}
	w.Cmd = exec.CommandContext(ctx, program, append([]string{"watch", "--report", w.report}, args...)...)
	w.Dir, w.Stdout, w.Stderr = dir, &w.stdout, &w.stderr
	w.Env = append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir(), "GITHUB_ACTIONS=", w.mark.Env())
	t.Cleanup(func() {
		cancel()
		leftovers.End(t, w.mark)
	})
	return w
}

// run runs it and gives its exit code.
func (w *watch) run(t testing.TB) int {
	t.Helper()
	require.NoError(t, w.Start())
	return w.wait(t)
}

// wait waits for the end. Nothing that it started may be left then.
func (w *watch) wait(t testing.TB) int {
	t.Helper()
	err := w.Wait()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	scan, err := procscan.SystemTable().Scan(context.Background(), w.mark)
	require.NoError(t, err)
	defer scan.Close()
	for _, hit := range scan.Hits {
		assert.Fail(t, "a process is left", "%s", hit.Identity())
	}
	return w.ProcessState.ExitCode()
}

// read gives the report.
func (w *watch) read(t testing.TB) (report messages.BuildReport) {
	t.Helper()
	text, err := os.ReadFile(w.report)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &report))
	return report
}

// expectBreach expects that the run was ended for one file's time.
func (w *watch) expectBreach(t testing.TB, code int, file string, limit, tolerance time.Duration) messages.BuildReport {
	t.Helper()
	require.Equal(t, 124, code, "%s", w.stderr.String())
	report := w.read(t)
	require.Len(t, report.Breaches, 1)
	breach := report.Breaches[0]
	assert.Equal(t, file, breach.File)
	assert.Equal(t, limit.Seconds(), breach.Limit)
	assert.InDelta(t, limit.Seconds(), breach.Elapsed, tolerance.Seconds())
	assert.Contains(t, w.stderr.String(), "hearth: "+breach.Err().Error())
	return report
}

// write makes a file of a build, in a directory that may not be there yet.
func write(t testing.TB, mode os.FileMode, text string, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(text), mode))
}

// await waits until a file is there.
func await(t testing.TB, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	require.True(t, standins.Until(bound, func() bool {
		_, err := os.Stat(name)
		return err == nil
	}), "%s never came", name)
}

// need skips a test on a machine that lacks a program, except where all are required.
func need(t testing.TB, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("HEARTH_REQUIRE_REAL") != "" {
				t.Fatalf("%s is required: %v", name, err)
			}
			t.Skipf("needs %s: %v", name, err)
		}
	}
}
