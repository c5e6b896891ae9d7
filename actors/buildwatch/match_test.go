package buildwatch

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// running is a process in /p/sub with a command line whose words are split at blanks.
func running(comm string, args ...string) procscan.Member {
	return procscan.Member{Info: procscan.Info{Comm: comm}, Args: args, Dir: "/p/sub"}
}

func TestCompilesAreToldByTheirCommandLines(t *testing.T) {
	words := strings.Fields
	for _, tt := range []struct {
		law  string
		comm string
		args []string
		file string
	}{
		{"lean as Lake runs it", "lean", words("/e/bin/lean Foo/A.lean -o A.olean -i A.ilean -c A.c --setup A.json --json"), "sub/Foo/A.lean"},
		{"older lean", "lean", words("lean -R /p /p/B.lean -o /p/B.olean"), "B.lean"},
		{"lean by its file's name", "lean", words("proof-checker -o A.olean A.lean"), "sub/A.lean"},
		{"lean behind a script of its name", "sh", words("/bin/sh -e /e/bin/lean A.lean -o A.olean"), "sub/A.lean"},
		{"lean behind a wrapper", "lean-real", words("/e/bin/lean-real A.lean -o A.olean -c A.c"), "sub/A.lean"},
		{"lean without output compiles nothing", "lean", words("lean A.lean"), ""},
		{"a server's worker compiles nothing", "lean", words("lean --worker -DmaxRecDepth=9 file:///p/A.lean"), ""},
		{"lake compiles nothing itself", "lake", words("lake build A.lean -o x"), ""},

		{"gcc", "gcc", words("gcc -O2 -c -o x.o x.c"), "sub/x.c"},
		{"whatever the compiler is called", "kc", words("./kc-1 -c ../y.cpp"), "y.cpp"},
		{"a source outside keeps its path", "cc", words("cc -c /usr/src/z.S"), "/usr/src/z.S"},
		{"a name with blanks", "cc", []string{"cc", "-c", "-o", "x.o", "a b.c"}, "sub/a b.c"},
		{"values of options are no sources", "cc", words("cc -c -include pre.c -MF d.c -o out.c real.cc"), "sub/real.cc"},
		{"linking compiles nothing", "cc", words("cc -o x x.o y.c"), ""},
		{"only a header", "cc", words("cc -c x.h"), ""},
		{"a script as the compiler", "slowcc", words("/bin/bash -euo pipefail ./slowcc -c x.c"), "sub/x.c"},
		{"python as the compiler", "python3", words("python3.12 -u tool.py -c x.c"), "sub/x.c"},
		{"a shell's text is no source", "sh", []string{"/bin/sh", "-c", "gcc -c foo.c"}, ""},
		{"nor with other options", "bash", []string{"bash", "-eu", "-o", "pipefail", "-c", "gcc -c foo.c"}, ""},
		{"nor with the letters together", "bash", []string{"bash", "-euc", "gcc -c foo.c"}, ""},
		{"nor through others", "su", []string{"su", "user", "-c", "gcc -c foo.c"}, ""},
		{"nor a program's text", "perl", []string{"perl", "-e", "-c", "x.c"}, ""},
		{"nor a module", "python3", words("python3 -m build -c x.c"), ""},
		{"an interpreter alone", "sh", words("sh --login"), ""},
		{"no arguments", "cc", words("cc"), ""},

		{"go's compiler", "compile", words("/go/pkg/tool/compile -o $WORK/b001/_pkg_.a -p m -pack /p/a.go ./b.go"), "a.go, sub/b.go"},
		{"behind -toolexec", "tool", words("/bin/sh /t/tool /go/pkg/tool/compile -o x.a -p m /p/a.go"), "a.go"},
		{"a great package", "compile", words("compile -o x.a a.go a.go a.go a.go a.go a.go a.go a.go c.go d.go"),
			strings.Repeat("sub/a.go, ", 7) + "sub/a.go and 2 more"},
		{"asking for its version", "compile", words("compile -V=full"), ""},
		{"behind -toolexec, nothing", "tool", words("tool"), ""},
		{"the go command compiles nothing itself", "go", words("go build -o x a.go"), ""},
	} {
		t.Run(tt.law, func(t *testing.T) {
			match, err := ParseMatch("")
			require.NoError(t, err)
			assert.Equal(t, tt.file, match.file(running(tt.comm, tt.args...), "/p"))
		})
	}
}

func TestOneFamilySeesOnlyItsOwn(t *testing.T) {
	compiles := map[string]procscan.Member{
		"lean": running("lean", "lean", "-o", "A.olean", "A.lean"),
		"cc":   running("cc", "cc", "-c", "x.c"),
		"go":   running("compile", "compile", "-o", "x.a", "a.go"),
	}
	for name := range compiles {
		match, err := ParseMatch(name)
		require.NoError(t, err)
		for other, p := range compiles {
			assert.Equal(t, name == other, match.file(p, "/p") != "", "%s sees %s", name, other)
		}
	}
}

func TestAnExpressionNamesTheFileByItsGroup(t *testing.T) {
	match, err := ParseMatch(`^rustc .*--crate-name (\S+)`)
	require.NoError(t, err)
	assert.Equal(t, "core", match.file(running("rustc", "rustc", "--edition", "2024", "--crate-name", "core"), "/p"))
	assert.Empty(t, match.file(running("cc", "cc", "-c", "x.c"), "/p"), "the families don't count then")
	for _, bad := range []string{"(", "rustc", "(a)(b)"} {
		_, err := ParseMatch(bad)
		assert.Equal(t, messages.KindInvalid, messages.KindOf(err), bad)
	}
}

func TestAFileIsNamedAsItIsWhereTheDirectoryIsUnknown(t *testing.T) {
	match, err := ParseMatch("cc")
	require.NoError(t, err)
	assert.Equal(t, "x.c", match.file(procscan.Member{Args: []string{"cc", "-c", "x.c"}}, "/p"))
}
