package buildwatch

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
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
