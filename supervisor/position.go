package supervisor

import "github.com/seed-f6977891/hearth/actors/lsp"

// CharacterPosition turns a line and a character as people and compilers count them,
// both from 1 and in code points, into a Position in text. A character past the end
// of its line is its end; a line that the text doesn't have is an error.
func CharacterPosition(text []byte, line, character int) (Position, error) {
	return lsp.CharacterPosition(text, line, character)
}

// PositionCharacter is the way back: the line and character, both from 1, of a
// Position in text.
func PositionCharacter(text []byte, at Position) (line, character int) {
	return lsp.PositionCharacter(text, at)
}
