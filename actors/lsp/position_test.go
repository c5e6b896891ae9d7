package lsp

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPositionsConvertBetweenEncodings(t *testing.T) {
	text := []byte("abc\né𝕏z\r\n\r𝕏𝕏")
	for _, c := range []struct{ line, utf8, utf16, utf32 int }{
		{0, 0, 0, 0}, {0, 3, 3, 3},
		{1, 0, 0, 0}, {1, 2, 1, 1}, {1, 6, 3, 2}, {1, 7, 4, 3},
		{2, 0, 0, 0},
		{3, 0, 0, 0}, {3, 4, 2, 1}, {3, 8, 4, 2},
	} {
		p16 := Position{Line: c.line, Character: c.utf16}
		for e, want := range map[Encoding]int{UTF8: c.utf8, UTF16: c.utf16, UTF32: c.utf32} {
			there := toServer(text, p16, e)
			assert.Equal(t, Position{Line: c.line, Character: want}, there, "%v in %s", p16, e)
			assert.Equal(t, p16, fromServer(text, there, e), "%v back from %s", there, e)
		}
	}
}

func TestAPositionPastALinesEndIsItsEndAndOnePastTheTextIsLeft(t *testing.T) {
	assert.Equal(t, Position{Character: 2}, toServer([]byte("é𝕏"), Position{Character: 99}, UTF32))
	assert.Equal(t, Position{Line: 9, Character: 4}, toServer([]byte("é"), Position{Line: 9, Character: 4}, UTF8))
}

func TestAPositionInsideACharacterIsItsBeginning(t *testing.T) {
	assert.Equal(t, Position{Character: 0}, fromServer([]byte("𝕏"), Position{Character: 3}, UTF8))
	assert.Equal(t, Position{Character: 0}, toServer([]byte("𝕏"), Position{Character: 1}, UTF8))
}

func TestAnInvalidByteIsOneCharacterToTheServer(t *testing.T) {
	text := []byte("a\xffb")
	assert.Equal(t, Position{Character: 4}, toServer(text, Position{Character: 2}, UTF8))
	assert.Equal(t, Position{Character: 2}, fromServer(text, Position{Character: 4}, UTF8))
}

func TestCharactersCountFromOneInCodePoints(t *testing.T) {
	text := []byte("x\n𝕏y")
	p, err := CharacterPosition(text, 2, 2)
	require.NoError(t, err)
	assert.Equal(t, Position{Line: 1, Character: 2}, p)
	p, err = CharacterPosition(text, 2, 99)
	require.NoError(t, err)
	assert.Equal(t, Position{Line: 1, Character: 3}, p)
	line, character := PositionCharacter(text, Position{Line: 1, Character: 2})
	assert.Equal(t, [2]int{2, 2}, [2]int{line, character}, "and back")
	line, character = PositionCharacter(text, Position{Line: 7, Character: 2})
	assert.Equal(t, [2]int{8, 3}, [2]int{line, character}, "a line that isn't there")
	for _, bad := range [][2]int{{0, 1}, {1, 0}, {3, 1}} {
		_, err := CharacterPosition(text, bad[0], bad[1])
		assert.Error(t, err, "%v", bad)
	}
}
