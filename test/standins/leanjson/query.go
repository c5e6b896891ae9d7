package leanjson

import (
	"bufio"
	"strings"
	"unicode"
)

// ReadQuery reads one query of Lean's REPL as the REPL reads it: lines up to a blank one, each trimmed on its right,
// joined by nothing. An empty query means that the input ended; a lone blank line gives "\n", which is no JSON.
func ReadQuery(in *bufio.Reader) string {
	var query strings.Builder
	for {
		line, _ := in.ReadString('\n') // what came before an error is a line too; the next read gives nothing then
		switch line {
		case "":
			return query.String()
		case "\n":
			query.WriteByte('\n')
			return query.String()
		}
		query.WriteString(strings.TrimRightFunc(line, unicode.IsSpace))
	}
}

// IsSkipped says that the REPL passes over the query without a word.
func IsSkipped(query string) bool {
	return strings.HasPrefix(query, "#") || strings.HasPrefix(query, "--")
}
