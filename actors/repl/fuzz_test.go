package repl

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
)

// FuzzHeaderSplit: whatever the code, exactly one thing is decided; what is cut off
// is whole lines with all the imports in them; and what stands behind the text that
// a verdict is remembered by changes nothing.
func FuzzHeaderSplit(f *testing.F) {
	for _, exchanges := range transcripts(f) {
		for _, exchange := range exchanges {
			var command struct{ Cmd string }
			require.NoError(f, json.Unmarshal([]byte(exchange.request), &command))
			f.Add(command.Cmd)
		}
	}
	f.Fuzz(func(t *testing.T, code string) {
		decision := mathlibHeaders(true).Decide(code)
		set := []bool{decision.Refused != nil, decision.Check, decision.Run != nil}
		require.Len(t, slices.DeleteFunc(set, func(b bool) bool { return !b }), 1)

		head := readHead(code)
		require.LessOrEqual(t, head.read, len(code))
		if head.bypass || head.special {
			require.Nil(t, decision.Run, "only Lean or nobody can pass this")
			return
		}
		header, body := code[:head.end], code[head.end:]
		require.True(t, header == "" || body == "" || strings.HasSuffix(header, "\n"))
		require.Equal(t, strings.Count(header, "\n"), head.lines)
		require.Equal(t, head.imports, readHead(header).imports)
		require.Empty(t, readHead(body).imports)
		require.LessOrEqual(t, strings.Count(header, "import"), strings.Count(code, "import"))
		if head.read < len(code) {
			other := readHead(code[:head.read] + "\n#eval 1")
			require.Equal(t, head.imports, other.imports)
			require.Equal(t, head.key(code), other.key(code[:head.read]+"\n#eval 1"))
		}
	})
}

// FuzzFraming: a reply's end doesn't depend on how its bytes were cut up.
func FuzzFraming(f *testing.F) {
	f.Add([]byte("{\"env\": 0}\n\n"), uint8(1))
	f.Add([]byte("{\"a\":\n 1}\n\n{"), uint8(3))
	f.Add([]byte("\n\n"), uint8(1))
	f.Add([]byte("𝓤\n𝓤\n\n"), uint8(2))
	f.Fuzz(func(t *testing.T, stream []byte, step uint8) {
		stream = stream[:min(len(stream), 4096)] // longer ones only take longer
		for _, frame := range []framing{leanFrame, jsonlFrame} {
			end, next := frame(stream, 0)
			gotEnd, gotNext := -1, 0
			for at := 0; at < len(stream) && gotEnd < 0; {
				to := min(at+int(step)+1, len(stream))
				gotEnd, gotNext = frame(stream[:to], at)
				at = to
			}
			require.Equal(t, end, gotEnd)
			if end >= 0 {
				require.Equal(t, next, gotNext)
				require.Equal(t, byte('\n'), stream[next-1])
				require.NotContains(t, string(stream[:end]), "\n\n")
			}
		}
	})
}

// FuzzLeanReply: what passes is JSON that encoding/json reads alike, and every
// report of it is text of known severities.
func FuzzLeanReply(f *testing.F) {
	for _, exchanges := range transcripts(f) {
		for _, exchange := range exchanges {
			f.Add([]byte(exchange.reply))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		reply, err := parseLean(raw)
		if err != nil {
			require.ErrorIs(t, err, ErrProtocol)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.True(t, json.Valid(raw))
		require.True(t, utf8.Valid(raw))
		report := reply.report(3)
		require.True(t, (report.Error != "") == (reply.Env == nil))
		for _, m := range report.Messages {
			require.Contains(t, []string{"trace", "info", "warning", "error"}, m.Severity)
			require.True(t, m.Pos.Line >= 3 && m.Pos.Column >= 0)
			require.True(t, utf8.ValidString(m.Data))
		}
		again, err := json.Marshal(report)
		require.NoError(t, err)
		var back messages.RunReport
		require.NoError(t, json.Unmarshal(again, &back))
		require.Equal(t, report, back)
	})
}

// FuzzJSONLReply: what passes is either ok or says why it isn't.
func FuzzJSONLReply(f *testing.F) {
	f.Add([]byte(`{"ok":true,"stdout":"a\n","stderr":"","result":"1","error":null}`))
	f.Add([]byte(`{"ok":false,"error":"\ud835\udce4"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		reply, err := parseJSONL(raw)
		if err != nil {
			require.ErrorIs(t, err, ErrProtocol)
			return
		}
		require.True(t, json.Valid(raw))
		report := reply.report()
		assert.Equal(t, *reply.OK, report.Error == "")
		for _, text := range []string{report.Output, report.Stderr, report.Result, report.Error} {
			require.True(t, utf8.ValidString(text))
		}
	})
}

// FuzzDeps: what isn't understood is never an empty list of imports.
func FuzzDeps(f *testing.F) {
	for _, stdout := range deps {
		f.Add([]byte(stdout))
	}
	f.Add([]byte(`{"imports":[{"errors":["e"]}]}`))
	f.Fuzz(func(t *testing.T, stdout []byte) {
		v, _ := HeaderOutput{Stdout: stdout}.verdict()
		if v.rejected != "" {
			require.Empty(t, v.imports)
			return
		}
		var file struct{ Imports []map[string]any }
		require.NoError(t, json.Unmarshal(stdout, &file))
		require.Len(t, file.Imports, 1)
		require.True(t, file.Imports[0]["result"] != nil || file.Imports[0]["imports"] != nil)
		for _, module := range v.imports {
			require.NotEmpty(t, module)
			require.NotContains(t, module, "/")
		}
	})
}
