package rpc_test

import (
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkPing is a ping of version 1, on a connection of its own, both ends of which
// are in this process.
func BenchmarkPing(b *testing.B) {
	r := serve(b)
	buffer := make([]byte, 1<<16)
	for b.Loop() {
		conn, err := net.Dial("unix", r.socket)
		require.NoError(b, err)
		_, err = io.WriteString(conn, `{"v":1,"id":1,"method":"daemon.ping","params":{}}`+"\n")
		require.NoError(b, err)
		_, err = conn.Read(buffer)
		require.NoError(b, err)
		require.NoError(b, conn.Close())
	}
}
