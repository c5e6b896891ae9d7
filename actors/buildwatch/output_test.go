package buildwatch

import (
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOutputIsHandedOnWholeAndCutBetweenCharacters(t *testing.T) {
	for law, text := range map[string]string{
		"short":                  "a\nb",
		"longer than a piece":    strings.Repeat("x", 3*chunk+1),
		"characters of two":      strings.Repeat("é", chunk),
		"of four":                strings.Repeat("𝕏", chunk),
		"cut off":                "é\xf0\x9d",
		"bytes that are no text": strings.Repeat("\x80\xff", chunk),
		"nothing":                "",
	} {
		for name, reader := range map[string]func(io.Reader) io.Reader{
			"at once": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "with the end": iotest.DataErrReader,
		} {
			t.Run(law+" "+name, func(t *testing.T) {
				text := text
				if name == "byte by byte" {
					text = text[:min(len(text), 64)]
				}
				var got strings.Builder
				copyText(func(piece string) {
					assert.NotEmpty(t, piece)
					if strings.ToValidUTF8(text, "") == text {
						assert.Equal(t, piece, strings.ToValidUTF8(piece, "?"))
					}
					got.WriteString(piece)
				}, reader(strings.NewReader(text)))
				assert.Equal(t, text, got.String())
			})
		}
	}
}

func TestWhoeverGoesOnWritingWhenTheTimeIsOverHoldsNobodyUp(t *testing.T) {
	ours, theirs, err := os.Pipe()
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		var err error
		for err == nil {
			_, err = theirs.Write(make([]byte, chunk))
		}
		ended <- err
	}()
	require.NoError(t, ours.SetReadDeadline(time.Now()))
	got := 0
	copyText(func(piece string) { got += len(piece) }, &rest{file: ours, left: restMost})
	assert.Less(t, got, restMost+2*chunk)
	require.NoError(t, ours.Close())
	assert.Error(t, <-ended)
	require.NoError(t, theirs.Close())
}
