package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/seed-f6977891/hearth/messages"
)

// fakeGo puts a go command into PATH that writes a program where it is told to, and
// a line into the file that it gives.
func fakeGo(t *testing.T, script string) (calls string) {
	t.Helper()
	dir := t.TempDir()
	calls = filepath.Join(dir, "calls")
	text := "#!/bin/sh\necho \"$@\" >>'" + calls + "'\n" + script
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte(text), 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return calls
}

func TestTwoDemosAtOnceInstallOnce(t *testing.T) {
	calls := fakeGo(t, `mkdir -p "$GOBIN" && printf '#!/bin/sh\n' >"$GOBIN/gopls" && chmod +x "$GOBIN/gopls"`)
	dir := filepath.Join(t.TempDir(), "cache")
	var both errgroup.Group
	for range 2 {
		both.Go(func() error { return installGopls(t.Context(), dir) })
	}
	require.NoError(t, both.Wait())
	log, err := os.ReadFile(calls)
	require.NoError(t, err)
	assert.Equal(t, "install "+goplsModule+"\n", string(log))
	assert.True(t, isFile(filepath.Join(dir, "gopls")))
}

func TestAFailedInstallationLeavesNoProgramAndIsTriedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	calls := fakeGo(t, "echo no route to host >&2\nexit 1\n")
	for range 2 {
		err := installGopls(t.Context(), dir)
		assert.Equal(t, messages.KindProcess, messages.KindOf(err))
		assert.ErrorContains(t, err, "no route to host")
		assert.False(t, isFile(filepath.Join(dir, "gopls")))
	}
	log, err := os.ReadFile(calls)
	require.NoError(t, err)
	assert.Equal(t, "install "+goplsModule+"\ninstall "+goplsModule+"\n", string(log))
}

func TestWaitingForAnotherInstallationEndsWithTheCallersContext(t *testing.T) {
	dir := t.TempDir()
	unlock, err := lockFile(t.Context(), filepath.Join(dir, "lock"))
	require.NoError(t, err)
	defer unlock()
	calls := fakeGo(t, "exit 1\n")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	err = installGopls(ctx, dir)
	assert.Equal(t, messages.KindTimeout, messages.KindOf(err))
	assert.NoFileExists(t, calls)
}

func TestGoplsInPATHIsTakenAsItIs(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "gopls"), nil, 0o755))
	a := &app{environ: func(string) string { return dir }}
	program, origin, err := a.gopls(t.Context())
	require.NoError(t, err)
	assert.Equal(t, [2]string{filepath.Join(dir, "gopls"), "from PATH"}, [2]string{program, origin})
}

func TestWithoutGoAndGoplsTheErrorSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := installGopls(t.Context(), t.TempDir())
	assert.Equal(t, messages.KindProcess, messages.KindOf(err))
	assert.ErrorContains(t, err, "https://go.dev/dl")
}
