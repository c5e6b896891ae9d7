package repl

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatErrorsQuoteIsShortWholeAndOnOneLine(t *testing.T) {
	assert.Equal(t, `"ab\nc"`, tail([]byte("ab\nc")))
	assert.Equal(t, `"`+strings.Repeat("ℝ", 66)+`"`, tail([]byte(strings.Repeat("ℝ", 100))), "200 bytes begin inside a character")
	assert.Equal(t, `"\xff"`, tail([]byte("\xff")))

	assert.Equal(t, "a", firstLine("\n a \n b\n"))
	assert.Equal(t, "b", lastLine("\n a \n b\n"))
	assert.Equal(t, strings.Repeat("ℝ", 133)+"...", firstLine(strings.Repeat("ℝ", 200)))
	assert.Equal(t, "a\ufffd", firstLine("a\xff"))
}
