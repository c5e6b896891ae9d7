package wire

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// parseObject reads one JSON object. Names are taken as they are written, and the
// last of several equal ones counts, as in the predecessor; encoding/json would
// take "Method" for "method" in a struct.
func parseObject(line []byte) (Params, error) {
	if !utf8.Valid(line) {
		return nil, &RequestError{CodeParse, "invalid JSON: not UTF-8"}
	}
	if !json.Valid(line) {
		var raw json.RawMessage
		err := json.Unmarshal(line, &raw)
		if line = finite(line); !json.Valid(line) {
			return nil, &RequestError{CodeParse, "invalid JSON: " + err.Error()}
		}
	}
	if line = bytes.TrimSpace(line); line[0] != '{' {
		return nil, &RequestError{CodeInvalidRequest, "the message must be a JSON object"}
	}
	return split(line), nil
}

// split takes the members of a valid JSON object apart, each value as it was written.
// encoding/json would check the text a second time, copy the values, and grow the stack
// of a connection's goroutine, which takes longer than all else about a small request.
func split(object []byte) Params {
	members := make(Params)
	for rest := object[1:]; ; {
		rest = bytes.TrimLeft(rest, " \t\r\n,")
		if rest[0] == '}' {
			return members
		}
		name, after := cutString(rest)
		after = bytes.TrimLeft(after, " \t\r\n:")
		value := after[:valueLength(after)]
		key, _ := text(name)
		members[key], rest = value, after[len(value):]
	}
}

// cutString cuts a string off the beginning of valid JSON.
func cutString(from []byte) (literal, rest []byte) {
	for i := 1; ; i++ {
		switch from[i] {
		case '\\':
			i++
		case '"':
			return from[:i+1], from[i+1:]
		}
	}
}

// valueLength is that of the value at the beginning of valid JSON, inside of an object.
func valueLength(from []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch from[i] {
		case '"':
			literal, _ := cutString(from[i:])
			if i += len(literal) - 1; depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // of the object that it is in; what precedes is a number or a word
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
}

// finite replaces NaN, Infinity and -Infinity outside of strings by a number that
// is too large for a float64. Python writes them, and the predecessor took them for
// numbers: they must reach the rule that refuses them, with the request's id.
func finite(line []byte) []byte {
	var out []byte
	for inString := false; len(line) > 0; {
		word := 1
		switch {
		case inString && line[0] == '\\':
			word = min(2, len(line))
		case line[0] == '"':
			inString = !inString
		case !inString && bytes.HasPrefix(line, []byte("NaN")):
			out, line = append(out, "1e999"...), line[len("NaN"):]
			continue
		case !inString && bytes.HasPrefix(line, []byte("Infinity")):
			out, line = append(out, "1e999"...), line[len("Infinity"):]
			continue
		}
		out, line = append(out, line[:word]...), line[word:]
	}
	return out
}
