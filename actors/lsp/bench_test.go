package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
)

// pipes is one end of a pair of pipes, as jsonrpc2's own stream takes it.
type pipes struct {
	io.ReadCloser
	w io.WriteCloser
}

func (p pipes) Write(data []byte) (int, error) { return p.w.Write(data) }

func (p pipes) Close() error {
	_ = p.ReadCloser.Close()
	return p.w.Close()
}

// BenchmarkCall compares the stream with the one that jsonrpc2 brings, by calls over
// pipes to a server that echoes; the server's end is always jsonrpc2's own.
func BenchmarkCall(b *testing.B) {
	streams := map[string]func(r, w *os.File) jsonrpc2.Stream{
		"ours": func(r, w *os.File) jsonrpc2.Stream {
			return NewStream(r, w, time.Minute, func() {}, func(string) {})
		},
		"builtin": func(r, w *os.File) jsonrpc2.Stream { return jsonrpc2.NewHeaderStream(pipes{r, w}) },
	}
	for _, size := range []int{20, 10_000} {
		for _, callers := range []int{1, 16} {
			for name, stream := range streams {
				b.Run(fmt.Sprintf("bytes=%d/callers=%d/stream=%s", size, callers, name), func(b *testing.B) {
					benchmarkCalls(b, stream, size, callers)
				})
			}
		}
	}
}

func benchmarkCalls(b *testing.B, stream func(r, w *os.File) jsonrpc2.Stream, size, callers int) {
	clientIn, serverOut, err := os.Pipe()
	require.NoError(b, err)
	serverIn, clientOut, err := os.Pipe()
	require.NoError(b, err)
	server := jsonrpc2.NewConn(jsonrpc2.NewHeaderStream(pipes{serverIn, serverOut}), jsonrpc2.WithCodec(codec{}))
	server.Go(context.Background(), func(_ context.Context, req *jsonrpc2.Request) (any, error) {
		return json.RawMessage(req.Params()), nil
	})
	client := jsonrpc2.NewConn(stream(clientIn, clientOut), jsonrpc2.WithCodec(codec{}))
	client.Go(context.Background(), jsonrpc2.MethodNotFoundHandler)
	defer func() {
		require.NoError(b, client.Close())
		require.NoError(b, server.Close())
	}()
	params := json.RawMessage(`"` + strings.Repeat("x", size) + `"`)
	b.SetParallelism(callers) // times GOMAXPROCS
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			var result json.RawMessage
			if _, err := client.Call(context.Background(), "echo", params, &result); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
