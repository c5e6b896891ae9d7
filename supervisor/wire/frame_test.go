package wire_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

func TestReaderGivesOneMessageALine(t *testing.T) {
	input := "{\"a\":1}\n  {\"b\":\"\u00e4\"} \r\n"
	for name, r := range map[string]io.Reader{
		"at once":      strings.NewReader(input),
		"byte by byte": iotest.OneByteReader(strings.NewReader(input)),
	} {
		t.Run(name, func(t *testing.T) {
			reader := wire.NewReader(r)
			for _, want := range []string{`{"a":1}`, `{"b":"ä"}`} {
				line, err := reader.Next()
				require.NoError(t, err)
				assert.Equal(t, want, string(line))
			}
			_, err := reader.Next()
			assert.Equal(t, io.EOF, err)
		})
	}
}

func TestReaderNamesWhatIsWrongWithALine(t *testing.T) {
	for name, c := range map[string]struct {
		input string
		want  error
		text  string
	}{
		"empty":        {"\n", wire.ErrEmpty, "the message is empty, want one line of JSON"},
		"blank":        {" \t\r\n", wire.ErrEmpty, "the message is empty, want one line of JSON"},
		"unterminated": {"{}", wire.ErrUnterminated, "the message has no newline at its end"},
		"too large": {
			strings.Repeat("x", wire.MaxFrame) + "\n", wire.ErrTooLarge,
			"the message exceeds the limit of 16777216 bytes (16 MiB)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := wire.NewReader(strings.NewReader(c.input)).Next()
			assert.Equal(t, c.want, err)
			assert.EqualError(t, err, c.text)
			assert.Equal(t, messages.KindInvalid, messages.KindOf(err))
		})
	}
}

func TestReaderTakesTheLongestLineThatIsAllowed(t *testing.T) {
	longest := strings.Repeat("x", wire.MaxFrame-1)
	line, err := wire.NewReader(strings.NewReader(longest + "\n")).Next()
	require.NoError(t, err)
	assert.True(t, string(line) == longest)
}

func TestReaderGoesOnAfterALineThatItRefused(t *testing.T) {
	for name, bad := range map[string]string{
		"empty": "\n", "one byte too long": strings.Repeat("x", wire.MaxFrame) + "\n",
		"much too long": strings.Repeat("x", 3*wire.MaxFrame) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			reader := wire.NewReader(strings.NewReader(bad + "{}\n"))
			_, err := reader.Next()
			require.Error(t, err)
			line, err := reader.Next()
			require.NoError(t, err)
			assert.Equal(t, "{}", string(line))
		})
	}
}

// endless is a line without an end; it fails the test when more of it is read than
// is needed to know that it is too long.
type endless struct {
	t    *testing.T
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	assert.LessOrEqual(e.t, e.read, wire.MaxFrame+1<<16)
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestTooLargeIsSaidBeforeTheLineEnds(t *testing.T) {
	_, err := wire.NewReader(&endless{t: t}).Next()
	assert.Equal(t, error(wire.ErrTooLarge), err)
}

func TestReaderPassesOnWhatTheConnectionSays(t *testing.T) {
	lost := errors.New("lost")
	for name, before := range map[string]string{
		"between lines": "", "in a line": "{", "in a line that is too long": strings.Repeat("x", wire.MaxFrame+1),
	} {
		t.Run(name, func(t *testing.T) {
			reader := wire.NewReader(io.MultiReader(strings.NewReader(before), iotest.ErrReader(lost)))
			_, err := reader.Next()
			if errors.Is(err, wire.ErrTooLarge) {
				_, err = reader.Next()
			}
			assert.Equal(t, lost, err)
		})
	}
}
