package main_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
)

// tool runs one of the tools in project to its end and returns what it wrote and its code.
func tool(t *testing.T, project, input string, argv ...string) (out, stderr string, code int) {
	t.Helper()
	bin := standins.Build(t)
	journalPath := filepath.Join(project, "journal")
	standins.EndSurvivors(t, journalPath)
	argv[0] = filepath.Join(bin.LeanDir(), argv[0])
	c := standins.Launch(t, project, bin.LeanEnv(journalPath), argv...)
	if _, err := io.WriteString(c.Stdin, input); !errors.Is(err, syscall.EPIPE) { // one that refuses need not have read it
		require.NoError(t, err)
	}
	require.NoError(t, c.Stdin.Close())
	require.NoError(t, c.Stdout.SetReadDeadline(time.Now().Add(standins.Bound)))
	text, err := io.ReadAll(c.Stdout)
	require.NoError(t, err)
	code = c.ExitCode(t)
	return string(text), c.Stderr(t), code
}

func TestDepsJSONHasTheShapesOfAllVersions(t *testing.T) {
	const nat = `{"module":"Init","importAll":false,"isExported":true,"isMeta":false}`
	const meta = `{"module":"Init","importAll":false,"isExported":true,"isMeta":true}`
	const mathlib = `{"module":"Mathlib","importAll":false,"isExported":true,"isMeta":false}`
	for schema, want := range map[string]string{
		"":       `{"imports":[{"result":{"imports":[` + nat + `,` + meta + `,` + mathlib + `],"isModule":false},"errors":[]}]}`,
		"result": `{"imports":[{"result":{"imports":[` + nat + `,` + mathlib + `],"isModule":false},"errors":[]}]}`,
		"flat":   `{"imports":[{"errors":[],"imports":[` + nat + `,` + mathlib + `]}]}`,
		"oldest": `{"imports":[{"errors":[],"imports":[{"module":"Init","runtimeOnly":false},{"module":"Mathlib","runtimeOnly":false}]}]}`,
	} {
		project := standins.Project(t, "lean")
		if schema != "" {
			standins.WriteKnobs(t, project, standins.At("deps", "schema "+schema))
		}
		out, _, code := tool(t, project, "/- x -/ import Mathlib\n#check Nat\n", "lean", "--deps-json", "/dev/stdin")
		require.Zero(t, code)
		require.Equal(t, want+"\n", out)
	}
}

func TestDepsJSONKnowsModifiersAndFaults(t *testing.T) {
	project := standins.Project(t, "lean")
	out, _, _ := tool(t, project, "module\npublic meta import all A.B\nprelude", "lean", "--deps-json", "/dev/stdin")
	require.Equal(t, `{"imports":[{"result":{"imports":[{"module":"A.B","importAll":true,"isExported":true,"isMeta":true}],`+
		`"isModule":true},"errors":[]}]}`+"\n", out)
	out, _, _ = tool(t, project, "import 1x\n", "lean", "--deps-json", "/dev/stdin")
	require.Equal(t, `{"imports":[{"errors":["/dev/stdin:1:7: unexpected token '1x'; expected identifier"]}]}`+"\n", out)
}

func TestTheHeaderCommandThroughLakeEnvAndAShell(t *testing.T) {
	out, _, code := tool(t, standins.Project(t, "lean"), "import Lean\n",
		"lake", "env", "sh", "-c", `exec "$LEAN_SYSROOT/bin/lean" --deps-json /dev/stdin`)
	require.Zero(t, code)
	require.Contains(t, out, `{"module":"Lean",`)
}

func TestCompileWritesItsOutputsAndSaysMessagesInJSON(t *testing.T) {
	project := standins.Project(t, "lean")
	out, _, code := tool(t, project, "", "lean", "Broken.lean", "-o", "B.olean", "-i", "B.ilean", "--json")
	require.Equal(t, 1, code)
	first, _, _ := strings.Cut(out, "\n")
	require.Equal(t, `{"severity":"error","pos":{"line":1,"column":19},"endPos":{"line":1,"column":25},`+
		`"data":"Type mismatch\n  \"text\"\nhas type\n  String\nbut is expected to have type\n  Nat","fileName":"Broken.lean",`+
		`"kind":"[anonymous]","keepFullRange":false,"caption":"","isSilent":false}`, first)
	require.NoFileExists(t, filepath.Join(project, "B.olean"))

	out, _, code = tool(t, project, "", "lean", "-R", ".", "Main.lean", "-o", "M.olean", "-i", "M.ilean")
	require.Zero(t, code)
	require.Equal(t, "Main.lean:3:0: info: answer : Nat\n", out)
	require.FileExists(t, filepath.Join(project, "M.olean"))
	require.FileExists(t, filepath.Join(project, "M.ilean"))
}

func TestSetupFileHasTheExitCodesOfTheReal(t *testing.T) {
	project := standins.Project(t, "lean")
	standins.WriteFile(t, filepath.Join(project, "Next.lean"), "import Main\n#check answer\n")
	const header = `{"imports":[{"module":"Next"}],"isModule":false}`
	out, _, code := tool(t, project, header, "lake", "setup-file", "A.lean", "-", "--no-build", "--no-cache")
	require.Equal(t, 3, code)
	require.True(t, strings.HasPrefix(out, `{"directImports":[{"module":"Main","sourcePath":"`+project+`/Main.lean","oleanPath":"`))

	out, stderr, code := tool(t, project, header, "lake", "setup-file", "A.lean", "-")
	require.Zero(t, code)
	require.Equal(t, "✔ [1/2] Built Main\n✔ [2/2] Built Next\n", stderr)
	require.Equal(t, `{"name":"A","package":"example","isModule":false,"imports":["Next"],"importArts":{},"dynlibs":[],`+
		`"plugins":[],"options":{}}`+"\n", out)
	require.Len(t, standins.Select(t, filepath.Join(project, "journal"), standins.Is("build", journal.Start, "")), 2)

	_, _, code = tool(t, project, header, "lake", "setup-file", "A.lean", "-", "--no-build", "--no-cache")
	require.Zero(t, code)
	_, _, code = tool(t, project, "", "lake", "setup-file", "A.lean", "Broken")
	require.Equal(t, 1, code)
	require.NoError(t, os.Remove(filepath.Join(project, "lakefile.toml")))
	_, _, code = tool(t, project, header, "lake", "setup-file", "A.lean", "-")
	require.Equal(t, 2, code)
}

func TestAChangeOfTheSameSizeAndTimeIsStaleAllTheSame(t *testing.T) {
	project := standins.Project(t, "lean")
	main := filepath.Join(project, "Main.lean")
	_, _, code := tool(t, project, "", "lake", "build", "Main")
	require.Zero(t, code)
	before, err := os.Stat(main)
	require.NoError(t, err)
	standins.WriteFile(t, main, strings.Replace("def answer : Nat := 42\n\n#check answer\n", "42", "43", 1))
	require.NoError(t, os.Chtimes(main, before.ModTime(), before.ModTime()))
	_, stderr, code := tool(t, project, "", "lake", "build", "Main")
	require.Zero(t, code)
	require.Contains(t, stderr, "Built Main")
}

func TestModulesThatDoNotWaitForEachOtherBuildAtTheSameTime(t *testing.T) {
	project := standins.Project(t, "lean")
	for _, name := range []string{"S1.lean", "S2.lean"} {
		standins.WriteFile(t, filepath.Join(project, name), "-- fake: sleep 5m\n")
	}
	bin, journalPath := standins.Build(t), standins.JournalPath(t)
	standins.EndSurvivors(t, journalPath)
	standins.Launch(t, project, bin.LeanEnv(journalPath), filepath.Join(bin.LeanDir(), "lake"), "build", "S1", "S2")
	builds := standins.AwaitEvents(t, journalPath, standins.Is("build", journal.Start, ""), 2, standins.Bound)
	for _, b := range builds {
		require.False(t, standins.Gone(b.PID, b.StartTicks))
	}
}

func TestABuildOfTheProjectFailsWithItsBrokenFile(t *testing.T) {
	out, stderr, code := tool(t, standins.Project(t, "lean"), "", "lake", "build")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "Broken.lean:1:19: error: Type mismatch")
	require.Contains(t, out, "error: build failed")
}

func TestACircleOfImportsEnds(t *testing.T) {
	project := standins.Project(t, "lean")
	standins.WriteFile(t, filepath.Join(project, "X.lean"), "import Y\n")
	standins.WriteFile(t, filepath.Join(project, "Y.lean"), "import X\n")
	_, _, code := tool(t, project, "", "lake", "build", "X")
	require.Zero(t, code)
}

func TestSmallAnswers(t *testing.T) {
	bin, project := standins.Build(t), standins.Project(t, "lean")
	out, _, _ := tool(t, project, "", "lean", "--print-prefix")
	require.Equal(t, bin.Sysroot()+"\n", out)
	out, _, _ = tool(t, project, "", "lean", "--version")
	require.True(t, strings.HasPrefix(out, "Lean (version 4."))
	out, _, _ = tool(t, project, "", "lake", "--version")
	require.True(t, strings.HasPrefix(out, "Lake version 5."))
	_, stderr, code := tool(t, project, "", "lake", "exe", "other")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "unknown executable target")
	_, _, code = tool(t, project, "", "lake", "wibble")
	require.Equal(t, 1, code)
}

func TestTheWrapperOfTheREPLMayBuildFirst(t *testing.T) {
	project := standins.Project(t, "lean")
	standins.WriteKnobs(t, project, standins.At("exe", "build-first Main"))
	out, _, code := tool(t, project, `{"cmd": "import Lean"}`, "lake", "exe", "repl")
	require.Zero(t, code)
	require.Equal(t, "{\"env\": 0}\n\n", out)
	require.FileExists(t, filepath.Join(project, ".lake/build/lib/lean/Main.olean"))
}
