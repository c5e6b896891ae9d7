package rpc

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// On a busy machine the server comes to its last reads when their time is over. What was
// there before is taken all the same.
func TestWhatWasThereBeforeTheLastReadIsTakenHoweverLate(t *testing.T) {
	dir, err := os.MkdirTemp("", "rpc") // a socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	address := &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"}
	listener, err := net.ListenUnix("unix", address)
	require.NoError(t, err)
	defer listener.Close()
	client, err := net.DialUnix("unix", nil, address)
	require.NoError(t, err)
	defer client.Close()
	_, err = io.WriteString(client, "x")
	require.NoError(t, err)

	require.NoError(t, listener.SetDeadline(past))
	conn, err := next(listener)
	require.NoError(t, err)
	defer conn.Close()
	_, err = next(listener)
	assert.ErrorIs(t, err, os.ErrDeadlineExceeded)

	reader := &timing{conn: conn, limit: time.Minute}
	reader.stop(past)
	got := make([]byte, 2)
	n, err := reader.Read(got)
	require.NoError(t, err)
	assert.Equal(t, "x", string(got[:n]))
	_, err = reader.Read(got)
	assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, client.Close())
	_, err = reader.Read(got)
	assert.ErrorIs(t, err, io.EOF)
}
