package procscan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHostChildrenAreUndisturbed runs a host's own children beside ours.
func TestHostChildrenAreUndisturbed(t *testing.T) {
	launcher := NewLauncher()
	var wait sync.WaitGroup
	wait.Go(func() {
		for range 30 {
			tr := plantQuietly(t, launcher, "exit 0")
			assert.NotNil(t, tr)
		}
	})
	countRight(t, 300)
	wait.Wait()
}

// plantQuietly launches, ends and reaps a script off the test's own goroutine.
func plantQuietly(t testing.TB, launcher Launcher, script string) *Status {
	mark := NewMark(SessionVar)
	child, err := launcher.Launch(context.Background(), Spec{Argv: []string{"sh", "-c", script}, Dir: "/", Env: os.Environ(), Marks: []Mark{mark}})
	if !assert.NoError(t, err) {
		return nil
	}
	assert.NoError(t, RetireGroup(context.Background(), child, patient))
	assert.NoError(t, Sweep(context.Background(), SystemTable(), Target{Mark: mark, Leader: child.Identity(), Cage: child.Cage()}, patient))
	status, err := child.Reap(context.Background())
	assert.NoError(t, err)
	return &status
}

// countRight runs children with os/exec and checks each one's exit status.
func countRight(t testing.TB, children int) {
	t.Helper()
	right := 0
	for i := range children {
		code := i % 100
		err := exec.Command("sh", "-c", fmt.Sprintf("exit %d", code)).Run()
		var exit *exec.ExitError
		if code == 0 && err == nil || errors.As(err, &exit) && exit.ExitCode() == code {
			right++
		}
	}
	require.Equal(t, children, right, "exit statuses that came out right")
}
