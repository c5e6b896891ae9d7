// Package lean_test runs hearth on the real Lean, where that is installed. Everywhere
// else Lean's part is taken by a stand-in, also here if its directory is put first in
// PATH.
package lean_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/test/standins"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lake finds the real program. There is nothing to install it from where only package
// registries can be reached, so HEARTH_REQUIRE_REAL doesn't ask for it.
func lake(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("lake")
	if err != nil {
		t.Skip("no lake in PATH: the real Lean is not installed (https://lean-lang.org/install)")
	}
	if text, err := exec.Command(path, "--version").CombinedOutput(); err != nil {
		t.Skipf("lake has no toolchain: %v: %s", err, text)
	}
	return path
}

// slow is a module whose build takes ten minutes, on the stand-in of Lean too.
const slow = "-- fake: sleep 10m\n#eval IO.sleep 600000\n"

func TestNothingOutlivesALeanServerThatWasKilledWhileAnImportWasBuilt(t *testing.T) {
	program := lake(t)
	project, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, text := range map[string]string{
		"lakefile.toml": "name = \"slow\"\ndefaultTargets = [\"Main\"]\n\n[[lean_lib]]\nname = \"Main\"\n\n[[lean_lib]]\nname = \"Slow\"\n",
		"Main.lean":     "import Slow\n\n#check Nat\n",
		"Slow.lean":     slow,
	} {
		standins.WriteFile(t, filepath.Join(project, name), text)
	}
	mark := procscan.NewMark("LEAN_TEST")
	cfg := supervisor.DefaultConfig()
	language := cfg.Languages["lean"]
	language.Server.Commands = []config.Command{{program, "serve"}}
	language.Server.Env = map[string]string{mark.Var: mark.Value}
	cfg.Languages["lean"] = language
	rt, err := supervisor.Start(t.Context(), cfg)
	require.NoError(t, err)
	defer func() { assert.NoError(t, rt.Close()) }()

	answer := make(chan error, 1)
	go func() {
		_, err := rt.Diagnostics(context.Background(), supervisor.Document{Project: project, File: "Main.lean"})
		answer <- err
	}()
	await(t, mark, "Slow.lean")
	kill(t, await(t, mark, "lean\x00--server"))
	require.NoError(t, rt.Close())
	assert.Empty(t, carriers(t, mark))
	assert.Error(t, <-answer, "the caller is told")
}

func kill(t *testing.T, id procscan.Identity) {
	t.Helper()
	standins.Kill(t, standins.Event{Role: "server", PID: id.PID, StartTicks: id.StartTicks}, unix.SIGKILL)
}

// await waits for a process with such a command line, NUL bytes between its arguments.
func await(t *testing.T, mark procscan.Mark, part string) (found procscan.Identity) {
	t.Helper()
	require.True(t, standins.Until(standins.Bound, func() bool {
		for _, id := range carriers(t, mark) {
			command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id.PID))
			if strings.Contains(string(command), part) {
				found = id
				return true
			}
		}
		return false
	}), "no process with %q", part)
	return found
}

func carriers(t *testing.T, mark procscan.Mark) (found []procscan.Identity) {
	t.Helper()
	scan, err := procscan.SystemTable().Scan(context.Background(), mark)
	require.NoError(t, err)
	defer scan.Close()
	for _, hit := range scan.Hits {
		found = append(found, hit.Identity())
	}
	return found
}
