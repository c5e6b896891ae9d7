package repl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
)

var mathlibRoots = []string{"Mathlib", "Aesop", "Batteries", "LeanSearchClient"}

func mathlibHeaders(parser bool) *Headers {
	return NewHeaders([]string{"Mathlib", "Aesop"}, mathlibRoots, parser)
}

func TestWhatIsLoadedRunsWarmWithoutACheck(t *testing.T) {
	for code, want := range map[string]Request{
		"":                                     {},
		"theorem x : 1 = 1 := rfl":             {Code: "theorem x : 1 = 1 := rfl"},
		"-- a note\n#eval 1":                   {Code: "-- a note\n#eval 1"},
		"/- a /- b -/ import Foo -/ #eval 1":   {Code: "/- a /- b -/ import Foo -/ #eval 1"},
		"/- a /- b -/ -/ #eval 1":              {Code: "/- a /- b -/ -/ #eval 1"},
		"/-- doc --/ def x := 1":               {Code: "/-- doc --/ def x := 1"},
		"/-! import Foo -/":                    {Code: "/-! import Foo -/"},
		"#eval 1\n-- import Foo":               {Code: "#eval 1\n-- import Foo"},
		"importing":                            {Code: "importing"},
		"\ufeff#eval 1":                        {Code: "\ufeff#eval 1"},
		"import Mathlib":                       {Shift: 0, Header: warm("Mathlib")},
		"import Mathlib\n":                     {Shift: 1, Header: warm("Mathlib")},
		"import Mathlib\n\n-- c\n#eval 1":      {Code: "\n-- c\n#eval 1", Shift: 1, Header: warm("Mathlib")},
		"import Init\n#eval 1":                 {Code: "#eval 1", Shift: 1, Header: warm("Init")},
		"-- c\n\nimport Mathlib -- d\n#eval 1": {Code: "#eval 1", Shift: 3, Header: warm("Mathlib")},
		"import Mathlib\r\nimport Aesop\r\nopen Nat\r\n": {Code: "open Nat\r\n", Shift: 2,
			Header: warm("Mathlib", "Aesop")},
		"import\n  Mathlib\n/- c\n-/\nimport Aesop\n\n\nopen Nat": {Code: "\n\nopen Nat", Shift: 5,
			Header: warm("Mathlib", "Aesop")},
	} {
		want.Header.Warm = true
		assert.Equal(t, Decision{Run: &want}, mathlibHeaders(true).Decide(code), "%q", code)
		assert.Equal(t, Decision{Run: &want}, mathlibHeaders(false).Decide(code), "%q", code)
	}
}

func warm(imports ...string) messages.Header { return messages.Header{Imports: imports} }

func TestWhatIsNotLoadedIsChecked(t *testing.T) {
	for _, code := range []string{
		"import Mathlib.Tactic",                  // below a warm module is not loaded for sure
		"import Mathlib.Data.«odd name»\n",       // a name that the lexer doesn't judge
		"import Mathlib open Nat",                // a body that can't be cut off by lines
		"import Mathlib import Aesop",            //
		"import Mathlib/- c -/\n",                //
		"import all Mathlib",                     //
		"public import Mathlib",                  //
		"module\n\npublic meta import Mathlib\n", //
		"prelude\n#eval 1",                       //
		"import",                                 //
		"import\nimport Mathlib",                 //
		"import 7\n",                             //
		"import «Foo»\n",                         //
		"import Mathlib\t\nopen Nat",             // characters that Lean refuses
		"\timport Mathlib",                       //
		"\r\r#eval 1",                            //
		"/-/ import Mathlib -/",                  // Lean skips the character behind the opening
		"/- import Mathlib",                      // no end
	} {
		require.Equal(t, Decision{Check: true}, mathlibHeaders(true).Decide(code), "%q", code)
	}
}

func TestForeignImportsAreRefusedBeforeAnyProcess(t *testing.T) {
	for code, want := range map[string]string{
		"import Lean": "Disallowed imports: Lean. Allowed roots: Aesop, Batteries, LeanSearchClient, Mathlib",
		"import Mathlib\nimport Foo.Bar\nimport Evil":   "Disallowed imports: Foo.Bar, Evil. Allowed roots: Aesop, Batteries, LeanSearchClient, Mathlib",
		"import Foo\nimport Foo\n#eval 1":               "Disallowed imports: Foo. Allowed roots: Aesop, Batteries, LeanSearchClient, Mathlib",
		"import Mathlibs":                               "Disallowed imports: Mathlibs. Allowed roots: Aesop, Batteries, LeanSearchClient, Mathlib",
		"/- c --/ import Evil -/":                       "Rejected Lean header: a comment has an even run of '-' before '/', which Lean versions read in different ways",
		"/--/ import Evil -/":                           "Rejected Lean header: a comment has an even run of '-' before '/', which Lean versions read in different ways",
		"import Mathlib\n/- c ----/ import Evil -/ x":   "Rejected Lean header: a comment has an even run of '-' before '/', which Lean versions read in different ways",
		"/- c --/ -- d\n#eval 1":                        "Rejected Lean header: a comment has an even run of '-' before '/', which Lean versions read in different ways",
		"-- c --/ d\n#eval 1":                           "Rejected Lean header: a comment has an even run of '-' before '/', which Lean versions read in different ways",
		"import Mathlib -- c --/\n":                     "Rejected Lean header: a comment has an even run of '-' before '/', which Lean versions read in different ways",
		"module /- c --/ import Evil -/ import Mathlib": "Rejected Lean header: a comment has an even run of '-' before '/', which Lean versions read in different ways",
	} {
		got := mathlibHeaders(true).Decide(code)
		require.EqualError(t, got.Refused, want, "%q", code)
		require.Equal(t, messages.KindInvalid, messages.KindOf(got.Refused))
		require.Equal(t, Decision{Refused: got.Refused}, got)
	}
	assert.NotNil(t, mathlibHeaders(true).Decide("/- c ---/ #eval 1").Run, "an odd run is read alike by all")
}

func TestWithoutAListEverythingMayBeImported(t *testing.T) {
	headers := NewHeaders(nil, nil, false)
	assert.Equal(t, Decision{Run: &Request{Code: "import Lean\nx", Header: warm("Lean")}}, headers.Decide("import Lean\nx"))
}

func TestWithoutAParserTheLexerAlonePassesWhatItIsSureOf(t *testing.T) {
	headers := mathlibHeaders(false)
	const clear = "import Mathlib.Tactic\nimport Batteries\n#eval 1"
	assert.Equal(t, Decision{Run: &Request{Code: clear, Header: warm("Mathlib.Tactic", "Batteries")}}, headers.Decide(clear))
	for _, code := range []string{"module\nimport Mathlib", "import Mathlib open Nat", "/- import Mathlib"} {
		require.EqualError(t, headers.Decide(code).Refused,
			"Rejected Lean header: it needs Lean's own parser; set languages.lean.repl.header_command", "%q", code)
	}
}

// deps is what lean --deps-json prints for a header, by the versions of its output.
var deps = map[string]string{
	"newer":  `{"imports":[{"result":{"imports":[{"module":"Init","importAll":false,"isExported":true,"isMeta":false},{"module":"Init","importAll":false,"isExported":true,"isMeta":true},{"module":"Mathlib.Tactic","importAll":false,"isExported":true,"isMeta":false}],"isModule":false},"errors":[]}]}` + "\n",
	"older":  `{"imports":[{"imports":[{"module":"Init","importAll":false,"isExported":true,"isMeta":false},{"module":"Mathlib.Tactic","importAll":false,"isExported":true,"isMeta":false}],"errors":[]}]}`,
	"oldest": `{"imports":[{"imports":[{"module":"Init","runtimeOnly":false},{"module":"Mathlib.Tactic","runtimeOnly":false}],"errors":[]}]}`,
}

func TestEveryVersionOfTheParsersOutputIsRead(t *testing.T) {
	const code = "import Mathlib.Tactic\n#eval 1"
	for name, stdout := range deps {
		t.Run(name, func(t *testing.T) {
			headers := mathlibHeaders(true)
			require.True(t, headers.Decide(code).Check)
			want := Decision{Run: &Request{Code: code, Header: warm("Mathlib.Tactic")}}
			assert.Equal(t, want, headers.Learn(code, HeaderOutput{Stdout: []byte(stdout)}))
			assert.Equal(t, want, headers.Decide(code), "known from now on")
		})
	}
}

func TestWhatTheParserDoesNotSayClearlyIsRefused(t *testing.T) {
	imports := func(list string) HeaderOutput {
		return HeaderOutput{Stdout: []byte(`{"imports":[{"result":{"imports":[` + list + `],"isModule":false},"errors":[]}]}`)}
	}
	for name, c := range map[string]struct {
		out     HeaderOutput
		want    string
		lasting bool
	}{
		"a bad header":         {HeaderOutput{Stdout: []byte(`{"imports":[{"errors":["/dev/stdin:1:7: unexpected token\nmore"]}]}`)}, "Rejected Lean header: /dev/stdin:1:7: unexpected token", true},
		"a failure":            {HeaderOutput{Status: 1, Stderr: "\nerror: no toolchain\nmore\n"}, "Rejected Lean header: error: no toolchain", false},
		"a silent failure":     {HeaderOutput{Status: 127}, "Rejected Lean header: exit status 127", false},
		"a signal":             {HeaderOutput{Signal: "killed", Stdout: []byte(deps["newer"])}, "Rejected Lean header: lean --deps-json was ended by a signal: killed", false},
		"nothing":              {HeaderOutput{}, "Rejected Lean header: unrecognized output from lean --deps-json", false},
		"no entry":             {HeaderOutput{Stdout: []byte(`{"imports":[]}`)}, "Rejected Lean header: unrecognized output from lean --deps-json", false},
		"two entries":          {HeaderOutput{Stdout: []byte(`{"imports":[{"imports":[]},{"imports":[]}]}`)}, "Rejected Lean header: unrecognized output from lean --deps-json", false},
		"an unknown field":     {imports(`{"module":"Mathlib","isEvil":true}`), "Rejected Lean header: unrecognized output from lean --deps-json", false},
		"two values":           {HeaderOutput{Stdout: []byte(deps["newer"] + deps["newer"])}, "Rejected Lean header: unrecognized output from lean --deps-json", false},
		"an entry of both":     {HeaderOutput{Stdout: []byte(`{"imports":[{"imports":[],"result":{"imports":[],"isModule":false},"errors":[]}]}`)}, "Rejected Lean header: unrecognized output from lean --deps-json", true},
		"an entry of neither":  {HeaderOutput{Stdout: []byte(`{"imports":[{"errors":[]}]}`)}, "Rejected Lean header: unrecognized output from lean --deps-json", true},
		"a module without one": {imports(`{"importAll":false}`), "Rejected Lean header: unrecognized output from lean --deps-json", true},
		"a path for a module":  {imports(`{"module":"Mathlib.«../Evil»"}`), `Rejected Lean header: the module name "Mathlib.«../Evil»" has a path separator`, true},
		"a foreign module":     {imports(`{"module":"Evil"}`), "Disallowed imports: Evil. Allowed roots: Aesop, Batteries, LeanSearchClient, Mathlib", true},
		"more than the limit":  {HeaderOutput{Stdout: make([]byte, HeaderLimit), Stderr: "x"}, "Rejected Lean header: lean --deps-json printed more than 10485760 bytes", false},
	} {
		t.Run(name, func(t *testing.T) {
			const code = "import all Mathlib"
			headers := mathlibHeaders(true)
			require.EqualError(t, headers.Learn(code, c.out).Refused, c.want)
			again := headers.Decide(code)
			assert.Equal(t, !c.lasting, again.Check, "what may be another time otherwise is asked again")
		})
	}
}

func TestAVerdictServesEveryTextWithItsHeader(t *testing.T) {
	headers := mathlibHeaders(true)
	out := HeaderOutput{Stdout: []byte(deps["newer"])}
	require.NotNil(t, headers.Learn("import Mathlib.Tactic\n#eval 1", out).Run)

	assert.NotNil(t, headers.Decide("import Mathlib.Tactic\n#eval 2 + 2").Run)
	assert.True(t, headers.Decide("import Mathlib.Tactic\ntheorem x : True := trivial").Check, "Lean's parser has read the next word too")
	assert.True(t, headers.Decide("import Mathlib.Tactic\n#eval 1\nimport Mathlib").Check,
		"where an import may follow, a newer Lean might read on to it")
	assert.True(t, headers.Decide("import Mathlib.Tactic\nunsafe import Evil").Check)
}

func TestOldVerdictsAreForgotten(t *testing.T) {
	headers := mathlibHeaders(true)
	code := func(i int) string { return fmt.Sprintf("import Mathlib.M%d\n", i) }
	for i := range verdictsKept {
		headers.Learn(code(i), HeaderOutput{Stdout: []byte(deps["newer"])})
	}
	require.False(t, headers.Decide(code(0)).Check) // used, and so young again
	headers.Learn(code(verdictsKept), HeaderOutput{Stdout: []byte(deps["newer"])})
	headers.Learn(code(verdictsKept), HeaderOutput{Stdout: []byte(deps["older"])})

	assert.False(t, headers.Decide(code(0)).Check)
	assert.True(t, headers.Decide(code(1)).Check)
	assert.False(t, headers.Decide(code(2)).Check)
	assert.Len(t, headers.known.entries, verdictsKept)
	assert.Equal(t, verdictsKept, headers.known.order.Len())
}

func TestAHugeHeaderTakesNoStack(t *testing.T) {
	require.True(t, mathlibHeaders(true).Decide(strings.Repeat("import all ", 1<<18)).Check)
}
