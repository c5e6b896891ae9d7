package config

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCommandsAreSplitAsAShellDoesWithoutExpanding(t *testing.T) {
	for line, want := range map[string]Command{
		"lake serve":                   {"lake", "serve"},
		"  gopls   -v ":                {"gopls", "-v"},
		"lake exe @repl/repl":          {"lake", "exe", "@repl/repl"},
		`'/opt/my tools/x' "a b" c\ d`: {"/opt/my tools/x", "a b", "c d"},
		`x 'a$HOME' "q\"\$\\\n" \$y`:   {"x", "a$HOME", `q"$\\n`, "$y"},
		`x "" ''`:                      {"x", "", ""},
		`x a'b'"c"d`:                   {"x", "abcd"},
		`x *.go {a,b} ~/y`:             {"x", "*.go", "{a,b}", "~/y"},
		"x a\\\nb":                     {"x", "ab"},
		`lake env sh -c 'exec "$LEAN_SYSROOT/bin/lean" --deps-json /dev/stdin'`: {
			"lake", "env", "sh", "-c", `exec "$LEAN_SYSROOT/bin/lean" --deps-json /dev/stdin`},
	} {
		got, err := ParseCommand(line)
		require.NoError(t, err, line)
		assert.Equal(t, want, got, line)
	}
}

func TestCommandsThatAShellWouldHaveToRunAreRefused(t *testing.T) {
	for _, line := range []string{
		"", "   ", "# comment", "x $HOME", `x "$HOME"`, "x ${A:-b}", "x $(y)", "x `y`", `x "a$(y)"`, "x $((1+1))",
		"A=b x", "A=b", "x > f", "x < f", "x; y", "x && y", "x | y", "x &", "! x", "{ x; }", "(x)", "if x; then y; fi",
		"x 'open", `x "open`, "x\ny", "f() { x; }",
	} {
		_, err := ParseCommand(line)
		assert.Error(t, err, line)
	}
}

// A relative program would be another file for every working directory.
func TestAProgramIsABareNameOrAnAbsolutePath(t *testing.T) {
	for _, line := range []string{"./x", "bin/x y", "../x", "~/bin/x", "''", `"" x`} {
		_, err := ParseCommand(line)
		assert.Error(t, err, line)
	}
	for _, line := range []string{"x", "/usr/bin/x", "x ./relative/argument"} {
		_, err := ParseCommand(line)
		assert.NoError(t, err, line)
	}
}

func FuzzCommandsReadBackAsWritten(f *testing.F) {
	for _, seed := range []string{"do", "declare\x00x", "export", "let\x00i", "time\x00ls", "coproc\x00x", "lake\x00serve", "x\x00a'b\x00$(y)", "x\x00\x00 \n\t\\", "/a b\x00*\x00~"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		command := Command(strings.Split(text, "\x00"))
		if !command.valid() || !utf8.ValidString(text) || strings.Contains(text, "\r") {
			return // the parser takes text only, and drops carriage returns
		}
		got, err := ParseCommand(command.String())
		require.NoError(t, err)
		require.Equal(t, command, got)
	})
}
