package repl

import (
	"context"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAskHeaderGivesTheWholeCodeAndReadsToTheEnd(t *testing.T) {
	inRead, inWrite, err := os.Pipe()
	require.NoError(t, err)
	outRead, outWrite, err := os.Pipe()
	require.NoError(t, err)
	defer closeAll(inRead, inWrite, outRead, outWrite)
	code := strings.Repeat("import Mathlib\n", 1<<16)
	got := make(chan string, 1)
	go func() {
		all, err := io.ReadAll(inRead)
		assert.NoError(t, err)
		got <- string(all)
		_, err = io.WriteString(outWrite, "answer")
		assert.NoError(t, err)
		assert.NoError(t, outWrite.Close())
	}()
	stdout, err := AskHeader(t.Context(), inWrite, outRead, code)
	require.NoError(t, err)
	assert.Equal(t, "answer", string(stdout))
	assert.Equal(t, code, <-got)
}

func TestAskHeaderLeavesACommandThatStopsReadingToItsStatus(t *testing.T) {
	inRead, inWrite, err := os.Pipe()
	require.NoError(t, err)
	outRead, outWrite, err := os.Pipe()
	require.NoError(t, err)
	defer closeAll(inRead, inWrite, outRead, outWrite)
	require.NoError(t, inRead.Close())
	require.NoError(t, outWrite.Close())
	stdout, err := AskHeader(t.Context(), inWrite, outRead, "import Mathlib")
	require.NoError(t, err)
	assert.Empty(t, stdout)
}

func TestAskHeaderReadsNoMoreThanItsLimit(t *testing.T) {
	inRead, inWrite, err := os.Pipe()
	require.NoError(t, err)
	outRead, outWrite, err := os.Pipe()
	require.NoError(t, err)
	defer closeAll(inRead, inWrite, outRead, outWrite)
	go func() { _, _ = outWrite.Write(make([]byte, HeaderLimit+1<<20)) }() // cut off by the close
	stdout, err := AskHeader(t.Context(), inWrite, outRead, "")
	require.NoError(t, err)
	assert.Len(t, stdout, HeaderLimit+1)
}

func TestAskHeaderEndsWithItsContext(t *testing.T) {
	for name, c := range map[string]struct {
		child func(in io.Reader)
		want  string
	}{
		"while the command reads nothing": {func(io.Reader) {}, "lean --deps-json took no code: context deadline exceeded"},
		"while it says nothing":           {func(in io.Reader) { _, _ = io.ReadAll(in) }, "lean --deps-json gave no answer: REPL gave no reply: context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inRead, inWrite := net.Pipe()
				outRead, outWrite := net.Pipe()
				defer closeAll(inRead, inWrite, outRead, outWrite)
				go c.child(inRead)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				_, err := AskHeader(ctx, inWrite, outRead, "import Mathlib")
				require.EqualError(t, err, c.want)
				require.ErrorIs(t, err, context.DeadlineExceeded)
			})
		})
	}
}
