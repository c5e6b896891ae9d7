package watch_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/procscan"
)

// blind hides /proc from the watcher, once that has looked: it sets a build going again that
// it sees stopped. Both are in a mount namespace of their own.
const blind = "kill -STOP $$ && mount -t tmpfs none /proc && sleep 600"

func TestWatcherThatCanNotSeeEndsTheBuildAndSaysWhy(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("hiding /proc needs root")
	}
	need(t, "unshare", "mount")
	if output, err := exec.Command("unshare", "--mount", "--", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespace can be made here: %v: %s", err, output)
	}
	w := watching(t, t.TempDir(), "--grace", "200ms", "--", "sh", "-c", blind)
	w.Env = append(w.Env, "GITHUB_ACTIONS=true", "HEARTH_ABORT_GRACE=1s")
	path, err := exec.LookPath("unshare")
	require.NoError(t, err)
	w.Path, w.Args = path, append([]string{"unshare", "--mount", "--", program}, w.Args[1:]...)
	assert.Error(t, w.Run())
	assert.Equal(t, 125, w.ProcessState.ExitCode(), w.stderr.String())
	look, err := procscan.Members(t.Context(), w.mark)
	require.NoError(t, err)
	for _, left := range look.Members {
		assert.Contains(t, left.Args, "hearth-guard", "what is as blind goes on looking for a while, all else is gone")
		assert.NoError(t, syscall.Kill(left.PID, syscall.SIGKILL))
	}
	assert.Contains(t, w.stderr.String(), "hearth: cannot monitor the build's processes: read the process table")
	assert.Contains(t, w.stderr.String(), "\n::error::cannot monitor the build's processes: ")
}
