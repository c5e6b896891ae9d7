package client_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/client"
)

func TestALockHasOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, free, err := client.TryLock(path)
	require.NoError(t, err)
	require.True(t, free)
	_, free, err = client.TryLock(path)
	require.NoError(t, err)
	assert.False(t, free)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = client.AwaitLock(ctx, path)
	assert.ErrorIs(t, err, context.DeadlineExceeded)

	got := make(chan *client.Lock)
	go func() {
		second, err := client.AwaitLock(context.Background(), path)
		assert.NoError(t, err)
		got <- second
	}()
	first.Release()
	(<-got).Release()
	info, err := os.Stat(path)
	require.NoError(t, err, "the file stays")
	assert.Equal(t, os.FileMode(0o600), info.Mode())
}

func TestALockThatIsASymlinkIsRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink("elsewhere", filepath.Join(dir, "lock")))
	_, _, err := client.TryLock(filepath.Join(dir, "lock"))
	assert.Error(t, err)
	assert.NoFileExists(t, filepath.Join(dir, "elsewhere"))
}

func TestOnlyASocketIsRemovedAsStale(t *testing.T) {
	dir, err := os.MkdirTemp("", "stale")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	assert.NoError(t, client.RemoveStale(path), "nothing is there")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	listener.SetUnlinkOnClose(false)
	require.NoError(t, listener.Close())
	require.NoError(t, client.RemoveStale(path))
	assert.NoFileExists(t, path)
	for _, make := range []func() error{
		func() error { return os.WriteFile(path, []byte("mine"), 0o600) },
		func() error { return os.Mkdir(path, 0o700) },
		func() error { return os.Symlink("elsewhere", path) },
	} {
		require.NoError(t, make())
		err := client.RemoveStale(path)
		assert.Equal(t, messages.KindInvalid, messages.KindOf(err))
		assert.ErrorContains(t, err, "it was not touched")
		_, err = os.Lstat(path)
		assert.NoError(t, err)
		require.NoError(t, os.Remove(path))
	}
}
