package repl

import (
	"bufio"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// standin is the child at the other ends of a client's pipes.
type standin struct {
	client   *Client
	requests *bufio.Reader
	stdin    io.Closer
	stdout   io.WriteCloser
}

// newStandin gives a child on the kernel's pipes.
func newStandin(t *testing.T) *standin {
	t.Helper()
	inRead, inWrite, err := os.Pipe()
	require.NoError(t, err)
	outRead, outWrite, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { closeAll(inRead, inWrite, outRead, outWrite) })
	return &standin{client: NewClient(inWrite, outRead), requests: bufio.NewReader(inRead), stdin: inRead, stdout: outWrite}
}

// newBubbleStandin gives a child on pipes in memory, on which a bubble's clock can
// wait.
func newBubbleStandin(t *testing.T) *standin {
	t.Helper()
	inRead, inWrite := net.Pipe()
	outRead, outWrite := net.Pipe()
	t.Cleanup(func() { closeAll(inRead, inWrite, outRead, outWrite) })
	return &standin{client: NewClient(inWrite, outRead), requests: bufio.NewReader(inRead), stdin: inRead, stdout: outWrite}
}

func closeAll(closers ...io.Closer) {
	for _, c := range closers {
		_ = c.Close() // some are closed by the test already
	}
}

// answer serves requests that end with a blank line until the client's end is closed.
func (s *standin) answer(reply func(request string) string) {
	go func() {
		for {
			request, err := s.leanRequest()
			if err != nil {
				return
			}
			if _, err := io.WriteString(s.stdout, reply(request)); err != nil {
				return
			}
		}
	}()
}

// leanRequest reads as the Lean REPL does: lines up to a blank one, joined with nothing.
func (s *standin) leanRequest() (string, error) {
	var request strings.Builder
	for {
		line, err := s.requests.ReadString('\n')
		if err != nil {
			return "", err
		}
		line = strings.TrimRight(line, " \r\n")
		if line == "" {
			return request.String(), nil
		}
		request.WriteString(line)
	}
}

// sliced reads a few bytes at a time, so that characters come in parts.
type sliced struct {
	Stdout
	random *rand.Rand
}

func (s sliced) Read(p []byte) (int, error) {
	return s.Stdout.Read(p[:min(len(p), 1+s.random.IntN(7))])
}
