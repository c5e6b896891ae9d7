package lsp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
)

// source reads from r and takes what is written nowhere.
func source(r io.Reader, noise func(string)) *Stream {
	return NewStream(io.NopCloser(r), discard{}, time.Second, func() {}, noise)
}

type discard struct{}

func (discard) Write(p []byte) (int, error)      { return len(p), nil }
func (discard) Close() error                     { return nil }
func (discard) SetWriteDeadline(time.Time) error { return nil }

func frame(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

// readAll reads frames until the error, which it returns.
func readAll(s *Stream) (bodies []string, err error) {
	for {
		body, _, err := s.ReadFrame(context.Background())
		if err != nil {
			return bodies, err
		}
		bodies = append(bodies, string(body))
	}
}

func TestFramesAreReadInEveryFormTheProtocolAllows(t *testing.T) {
	input := frame(`{"a":1}`) +
		"content-length:7\r\n\r\n" + `{"a":2}` +
		"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 7\r\n\r\n" + `{"a":3}` +
		"Content-Length: 007\nX-Other: y\n\n" + `{"a":4}` +
		frame(`[{"a":5}]`)
	bodies, err := readAll(source(strings.NewReader(input), func(string) {}))
	assert.Equal(t, []string{`{"a":1}`, `{"a":2}`, `{"a":3}`, `{"a":4}`, `[{"a":5}]`}, bodies)
	assert.ErrorIs(t, err, io.EOF)
}

func TestNoiseBetweenFramesIsSkippedAndTold(t *testing.T) {
	long := strings.Repeat("x", 3*maxHeader)
	input := "hello\n" + frame(`{"a":1}`) + "\r\ninfo: downloading 3 %\n" + long + "\n" + frame(`{"a":2}`) +
		"no newline" + frame(`{"a":3}`) + "\xff\xfe\x00: x\n" + frame(`{"a":4}`) + "last words"
	var told []string
	bodies, err := readAll(source(strings.NewReader(input), func(s string) { told = append(told, s) }))
	assert.Equal(t, []string{`{"a":1}`, `{"a":2}`, `{"a":3}`, `{"a":4}`}, bodies)
	assert.Equal(t, []string{"hello", "info: downloading 3 %", long[:noiseText], "no newline", "\xff\xfe\x00: x", "last words"}, told)
	assert.ErrorIs(t, err, io.EOF)
}

func TestEachFramingErrorHasItsOwnText(t *testing.T) {
	for want, input := range map[string]string{
		"a frame header is longer than 16384 bytes":         "Content-Length: 1\r\nX: " + strings.Repeat("y", maxHeader) + "\r\n",
		"a frame header that isn't ASCII":                   "Content-Length: 2\r\nX: é\r\n\r\n{}",
		"a frame header line without a colon: \"oops\"":     "Content-Length: 2\r\noops\r\n\r\n{}",
		"a frame header without Content-Length":             "Content-Type: x\r\n\r\n{}",
		"a frame header with more than one Content-Length":  "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
		"a Content-Length that isn't a number: \"2x\"":      "Content-Length: 2x\r\n\r\n{}",
		"a Content-Length that isn't a number: \"\"":        "Content-Length:\r\n\r\n{}",
		"a negative Content-Length: -2":                     "Content-Length: -2\r\n\r\n{}",
		"an empty frame":                                    "Content-Length: 0\r\n\r\n",
		"a frame of 16777217 bytes, the limit is 16777216":  "Content-Length: 16777217\r\n\r\n",
		"a frame of 99999999999999999999 bytes":             "Content-Length: 99999999999999999999\r\n\r\n",
		"the output ended inside a frame header":            "Content-Length: 2\r\n",
		"the output ended inside a frame, after 1 of 2":     "Content-Length: 2\r\n\r\n{",
		"a frame that isn't a JSON object: \"true\"":        "Content-Length: 4\r\n\r\ntrue",
		"the language server closed its output":             "",
		"more than 1048576 bytes of output without a frame": strings.Repeat("noise\n", maxNoise/6+1),
	} {
		_, err := readAll(source(strings.NewReader(input), func(string) {}))
		var stream *StreamError
		assert.ErrorAs(t, err, &stream, want)
		assert.ErrorContains(t, err, want)
	}
	_, err := readAll(source(strings.NewReader("Content-Len"), func(string) {}))
	assert.ErrorIs(t, err, io.EOF, "that is no header yet")
}

func TestAHeaderOfManyLinesIsBounded(t *testing.T) {
	_, err := readAll(source(strings.NewReader("Content-Length: 2\r\n"+strings.Repeat("X: y\r\n", maxHeader)), func(string) {}))
	assert.ErrorContains(t, err, "a frame header is longer than 16384 bytes")
}

func TestAClaimedLengthAllocatesNothing(t *testing.T) {
	r, w := io.Pipe()
	s := source(r, func(string) {})
	done := make(chan error, 1)
	go func() { _, err := readAll(s); done <- err }()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := io.WriteString(w, "Content-Length: 16777216\r\n\r\n{")
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
	require.NoError(t, w.Close())
	assert.ErrorContains(t, <-done, "after 1 of 16777216 bytes")
}

func TestALargeBufferIsGivenBackAfterItsFrame(t *testing.T) {
	big := `{"a":"` + strings.Repeat("x", 9<<20) + `"}`
	s := source(strings.NewReader(frame(big)+frame(`{}`)), func(string) {})
	body, _, err := s.ReadFrame(context.Background())
	require.NoError(t, err)
	assert.Equal(t, big, string(body))
	_, _, err = s.ReadFrame(context.Background())
	require.NoError(t, err)
	assert.LessOrEqual(t, cap(s.body), keepBuffer)
}

// sink is a pipe to a server of which the test plays the reading side.
func sink(t *testing.T, stall time.Duration) (*Stream, *os.File) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	s := NewStream(io.NopCloser(strings.NewReader("")), w, stall, func() {}, func(string) {})
	t.Cleanup(func() { _ = s.Close(); _ = r.Close() })
	return s, r
}

func note(method string, size int) jsonrpc2.Message {
	return jsonrpc2.NewNotification(method, jsonrpc2.RawMessage(`"`+strings.Repeat("x", size)+`"`))
}

func TestACancelledWriterLeavesTheRestToTheNext(t *testing.T) {
	s, r := sink(t, time.Minute)
	ctx, cancel := context.WithCancel(context.Background())
	full := make(chan struct{})
	written := make(chan error, 1)
	go func() {
		_, err := s.Write(ctx, note("big", 4<<20))
		written <- err
	}()
	go func() { // the pipe takes some of the frame, then nothing
		var first [1]byte
		_, _ = io.ReadFull(r, first[:])
		close(full)
	}()
	<-full
	cancel()
	assert.NoError(t, <-written, "a frame that has begun is committed")

	_, err := s.Write(ctx, note("never", 1))
	assert.ErrorIs(t, err, context.Canceled)
	blocked, stop := context.WithTimeout(context.Background(), 3*writeSlice)
	defer stop()
	_, err = s.Write(blocked, note("too late", 1))
	assert.ErrorIs(t, err, context.DeadlineExceeded, "nothing may go before the rest")

	go func() {
		_, err := s.Write(context.Background(), note("next", 1))
		assert.NoError(t, err)
		assert.NoError(t, s.Close())
	}()
	bodies, err := readAll(source(io.MultiReader(strings.NewReader("C"), r), func(s string) { assert.Empty(t, s) }))
	assert.ErrorIs(t, err, io.EOF)
	if assert.Len(t, bodies, 2) {
		assert.Contains(t, bodies[0], `"big"`)
		assert.Len(t, bodies[0], 4<<20+len(`{"jsonrpc":"2.0","method":"big","params":""}`))
		assert.Contains(t, bodies[1], `"next"`)
	}
}

func TestAServerThatReadsNothingEndsTheStreamForEverybody(t *testing.T) {
	s, _ := sink(t, 100*time.Millisecond)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			_, err := s.Write(context.Background(), note("big", 1<<20))
			assert.ErrorContains(t, err, "has read nothing for 100ms")
		})
	}
	all.Wait()
	_, err := s.Write(context.Background(), note("small", 1))
	assert.ErrorContains(t, err, "has read nothing for 100ms", "the first error is the last state")
	_, err = s.in.Write([]byte("x"))
	assert.ErrorIs(t, err, os.ErrClosed)
}

// slowPipe takes some bytes each time its deadline passes.
type slowPipe struct {
	discard
	takes    int
	deadline time.Time
	got      int
}

func (p *slowPipe) SetWriteDeadline(t time.Time) error { p.deadline = t; return nil }

func (p *slowPipe) Write(data []byte) (int, error) {
	time.Sleep(time.Until(p.deadline))
	n := min(p.takes, len(data))
	p.got += n
	if n == len(data) {
		return n, nil
	}
	return n, os.ErrDeadlineExceeded
}

func TestASlowServerThatReadsIsNotBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := &slowPipe{takes: 100}
		s := NewStream(io.NopCloser(strings.NewReader("")), pipe, 2*writeSlice, func() {}, func(string) {})
		start := time.Now()
		n, err := s.Write(context.Background(), note("m", 10_000))
		assert.NoError(t, err)
		assert.EqualValues(t, n, pipe.got)
		assert.Greater(t, time.Since(start), 20*writeSlice, "longer than the stall time")
	})
}

func TestAContextsEndIsSeenWithinOneSlice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStream(io.NopCloser(strings.NewReader("")), &slowPipe{}, time.Minute, func() {}, func(string) {})
		ctx, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		start := time.Now()
		_, err := s.Write(ctx, note("m", 1))
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.LessOrEqual(t, time.Since(start), time.Second+writeSlice)
	})
}

func TestAFailedWriteIsTheStreamsLast(t *testing.T) {
	s, r := sink(t, time.Minute)
	require.NoError(t, r.Close())
	_, first := s.Write(context.Background(), note("m", 1))
	assert.ErrorContains(t, first, "broken pipe")
	_, second := s.Write(context.Background(), note("m", 1))
	assert.Equal(t, first, second)
	_, _, err := s.ReadFrame(context.Background())
	assert.Equal(t, first, err)
}

func TestAPipeWithoutDeadlinesIsRefused(t *testing.T) {
	s := NewStream(io.NopCloser(strings.NewReader("")), noDeadline{}, time.Second, func() {}, func(string) {})
	_, err := s.Write(context.Background(), note("m", 1))
	assert.ErrorIs(t, err, os.ErrNoDeadline)
}

type noDeadline struct{ discard }

func (noDeadline) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }

func TestWritersSideBySideKeepFramesWhole(t *testing.T) {
	client, server := net.Pipe()
	s := NewStream(client, client, time.Minute, func() {}, func(string) {})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 50 {
				_, err := s.Write(context.Background(), note(fmt.Sprint(i), i*1000))
				assert.NoError(t, err)
			}
		})
	}
	go func() { all.Wait(); _ = s.Close() }()
	bodies, err := readAll(source(server, func(s string) { assert.Empty(t, s) }))
	assert.ErrorIs(t, err, io.EOF)
	assert.Len(t, bodies, 400)
}

func FuzzStreamReadsAnythingWithinItsLimits(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		s := source(bytes.NewReader(data), func(line string) { assert.LessOrEqual(t, len(line), noiseText) })
		total := 0
		for {
			body, n, err := s.ReadFrame(context.Background())
			if err != nil {
				var stream *StreamError
				require.ErrorAs(t, err, &stream)
				return
			}
			total += len(body)
			require.EqualValues(t, len(body), n)
			require.LessOrEqual(t, total, len(data))
			require.True(t, bytes.Contains(data, body))
		}
	})
}
