package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/messages"
)

// leanProject makes a Lean project with one file.
func leanProject(t *testing.T) string {
	t.Helper()
	root := filepath.Join(realTemp(t), "project")
	write(t, filepath.Join(root, "lakefile.toml"), "name = \"p\"\n")
	write(t, filepath.Join(root, "A.lean"), "#check Nat\n")
	return root
}

func resolve(t *testing.T, req Request) Resolved {
	t.Helper()
	resolved, err := Resolve(defaultsFor(GiB), req)
	require.NoError(t, err)
	return resolved
}

func TestTheNineRulesEachHaveTheirText(t *testing.T) {
	root := leanProject(t)
	outside := write(t, filepath.Join(realTemp(t), "B.lean"), "")
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "Link.lean")))
	require.NoError(t, os.Symlink(root, filepath.Join(root, "self")))
	write(t, filepath.Join(root, "README.txt"), "")
	require.NoError(t, os.Mkdir(filepath.Join(root, "Dir.lean"), 0o755))
	require.NoError(t, unix.Mkfifo(filepath.Join(root, "Fifo.lean"), 0o600))
	empty := realTemp(t)
	for name, refusal := range map[string]struct {
		req  Request
		text string
	}{
		"1 no project":         {Request{Project: " "}, "project_dir is missing"},
		"2 relative":           {Request{Project: "some/where"}, "project_dir is not absolute: some/where"},
		"3 not there":          {Request{Project: root + "/none"}, "project_dir does not exist"},
		"3 below a file":       {Request{Project: root + "/A.lean/x"}, "project_dir does not exist"},
		"4 a file":             {Request{Project: root + "/A.lean"}, "project_dir is not a directory"},
		"5 no marker":          {Request{Project: empty, Language: "lean"}, "has none of lakefile.lean, lakefile.toml, lake-manifest.json"},
		"5 no marker of any":   {Request{Project: empty, NeedREPL: true}, "project_dir is not a project of lean, python"},
		"5 no marker by file":  {Request{Project: empty, File: "a.go"}, "has none of go.mod, go.work"},
		"6 no file":            {Request{Project: root, NeedFile: true}, "file_path is missing"},
		"7 outside":            {Request{Project: root, File: outside}, "file_path is outside of the project"},
		"7 outside by dots":    {Request{Project: root, File: "../B.lean"}, "file_path is outside of the project"},
		"7 outside by link":    {Request{Project: root, File: "Link.lean"}, "file_path is outside of the project"},
		"7 outside, link/..":   {Request{Project: root, File: "self/../x.lean"}, "file_path is outside of the project"},
		"7 outside, missing":   {Request{Project: root, File: "/none/x.lean"}, "file_path is outside of the project"},
		"8 extension":          {Request{Project: root, File: "README.txt"}, "file_path is no file of lean"},
		"8 another's":          {Request{Project: root, File: "a.go", Language: "lean"}, "file_path is no file of lean"},
		"9 missing":            {Request{Project: root, File: "C.lean"}, "file_path is not an existing file"},
		"9 a directory":        {Request{Project: root, File: "Dir.lean"}, "file_path is not an existing file"},
		"9 a pipe":             {Request{Project: root, File: "Fifo.lean"}, "file_path is not an existing file"},
		"9 below a file":       {Request{Project: root, File: "A.lean/x.lean"}, "file_path is not an existing file"},
		"a NUL in the project": {Request{Project: root + "\x00"}, "project_dir cannot be resolved"},
		"a NUL in the file":    {Request{Project: root, File: "A\x00.lean"}, "file_path cannot be resolved"},
		"language unknown":     {Request{Project: root, Language: "cobol"}, "language is not known: cobol"},
		"language cannot run":  {Request{Project: root, Language: "go", NeedREPL: true}, "language has no REPL: go"},
	} {
		_, err := Resolve(defaultsFor(GiB), refusal.req)
		if assert.Error(t, err, name) {
			assert.Contains(t, err.Error(), refusal.text, name)
			assert.Equal(t, messages.KindInvalid, messages.KindOf(err), name)
			assert.NotContains(t, err.Error(), "\n", name)
		}
	}
}

func TestASymlinkedProjectIsTheProject(t *testing.T) {
	root := leanProject(t)
	alias := filepath.Join(realTemp(t), "alias")
	require.NoError(t, os.Symlink(root, alias))
	plain := resolve(t, Request{Project: root, File: "A.lean"})
	linked := resolve(t, Request{Project: alias + "/", File: alias + "/A.lean"})
	assert.Equal(t, root, plain.Root)
	assert.Equal(t, filepath.Join(root, "A.lean"), plain.File)
	assert.Equal(t, plain.Root, linked.Root)
	assert.Equal(t, plain.File, linked.File)
	assert.Equal(t, plain.Fingerprint.Value, linked.Fingerprint.Value)
}

func TestHomeIsExpanded(t *testing.T) {
	root := leanProject(t)
	t.Setenv("HOME", filepath.Dir(root))
	assert.Equal(t, root, resolve(t, Request{Project: "~/project"}).Root)
	_, err := Resolve(defaultsFor(GiB), Request{Project: "~other/project"})
	assert.ErrorContains(t, err, "not absolute")
}

func TestTheLanguageIsNamedElseTheFilesElseTheMarkers(t *testing.T) {
	root := realTemp(t)
	for _, name := range []string{"go.mod", "Makefile", "setup.py", "a.go", "a.c", "a.py", "a.sh"} {
		write(t, filepath.Join(root, name), "")
	}
	require.NoError(t, os.Mkdir(filepath.Join(root, ".git"), 0o755))
	for name, want := range map[string]struct {
		req      Request
		language string
	}{
		"named":                    {Request{Language: "c"}, "c"},
		"file":                     {Request{File: "a.py"}, "python"},
		"file, .git as a marker":   {Request{File: "a.sh"}, "bash"},
		"markers":                  {Request{}, "go"},
		"markers, to run code":     {Request{NeedREPL: true}, "python"},
		"file that cannot be run":  {Request{Language: "python", File: "", NeedREPL: true}, "python"},
		"named and file that fits": {Request{Language: "go", File: "a.go"}, "go"},
	} {
		want.req.Project = root
		assert.Equal(t, want.language, resolve(t, want.req).Language.Name, name)
	}
}

// A language that a user added on purpose goes before the built-in ones.
func TestAnAddedLanguageIsTriedFirst(t *testing.T) {
	c := defaultsFor(GiB)
	rust := newLanguage("rust")
	rust.Markers, rust.Extensions = []string{"Cargo.toml"}, []string{".rs", ".go"}
	c.Languages["rust"] = rust
	root := realTemp(t)
	write(t, filepath.Join(root, "Cargo.toml"), "")
	write(t, filepath.Join(root, "Makefile"), "")
	resolved, err := Resolve(c, Request{Project: root})
	require.NoError(t, err)
	assert.Equal(t, "rust", resolved.Language.Name)
	byFile, ok := c.LanguageOf("x.go")
	require.True(t, ok)
	assert.Equal(t, "rust", byFile.Name)
}

func TestNearestIsTheNearestDirectoryWithAMarker(t *testing.T) {
	outer := leanProject(t)
	inner := filepath.Join(outer, "sub", "inner")
	write(t, filepath.Join(inner, "lakefile.lean"), "")
	require.NoError(t, os.MkdirAll(filepath.Join(inner, "a", "b"), 0o755))
	lean := defaultsFor(GiB).Languages["lean"]
	for dir, want := range map[string]string{
		filepath.Join(inner, "a", "b"): inner, inner: inner, filepath.Dir(inner): outer, outer + "/": outer,
	} {
		got, err := Nearest(dir, lean)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, dir := range []string{realTemp(t), "relative"} {
		_, err := Nearest(dir, lean)
		assert.Equal(t, messages.KindInvalid, messages.KindOf(err))
	}
}

func TestCodeWithoutAFileRunsInTheNearestProjectThatCanRunIt(t *testing.T) {
	outer := leanProject(t)
	inner := filepath.Join(outer, "scripts")
	write(t, filepath.Join(inner, "setup.py"), "")
	write(t, filepath.Join(inner, "go.mod"), "")
	c := defaultsFor(GiB)
	root, language, err := c.NearestOfAny(inner, true)
	require.NoError(t, err)
	assert.Equal(t, inner, root)
	assert.Equal(t, "python", language.Name)
	root, language, err = c.NearestOfAny(outer, true)
	require.NoError(t, err)
	assert.Equal(t, outer, root)
	assert.Equal(t, "lean", language.Name)
	_, _, err = c.NearestOfAny(realTemp(t), true)
	assert.Equal(t, messages.KindInvalid, messages.KindOf(err))
}

func fingerprint(t *testing.T, root string) messages.Fingerprint {
	t.Helper()
	f, err := TakeFingerprint(root, defaultsFor(GiB).Languages["lean"])
	require.NoError(t, err)
	return f
}

func TestTheFingerprintChangesWithTheProfilesFilesOnly(t *testing.T) {
	root := leanProject(t)
	first := fingerprint(t, root)
	write(t, filepath.Join(root, "A.lean"), "longer than before")
	write(t, filepath.Join(root, "B.lean"), "")
	assert.Equal(t, first.Value, fingerprint(t, root).Value)

	write(t, filepath.Join(root, "lean-toolchain"), "leanprover/lean4:v4.22.0\n")
	added := fingerprint(t, root)
	assert.NotEqual(t, first.Value, added.Value)
	assert.True(t, added.Supersedes(first))
	assert.False(t, first.Supersedes(added), "an older look proves nothing")

	earlier := time.Unix(1_700_000_000, 1)
	require.NoError(t, os.Chtimes(filepath.Join(root, "lean-toolchain"), earlier, earlier))
	assert.NotEqual(t, added.Value, fingerprint(t, root).Value, "one nanosecond counts")

	require.NoError(t, os.Remove(filepath.Join(root, "lean-toolchain")))
	assert.Equal(t, first.Value, fingerprint(t, root).Value)
}

// Both directories exist at the same time, as they do while a child of the old one
// lives, so that the file system can't give its inode away.
func TestADirectoryMadeAgainIsAnotherProject(t *testing.T) {
	root := leanProject(t)
	first := fingerprint(t, root)
	info, err := os.Stat(filepath.Join(root, "lakefile.toml"))
	require.NoError(t, err)
	require.NoError(t, os.Rename(root, root+".old"))
	file := write(t, filepath.Join(root, "lakefile.toml"), "name = \"p\"\n")
	require.NoError(t, os.Chtimes(file, info.ModTime(), info.ModTime()))
	assert.NotEqual(t, first.Value, fingerprint(t, root).Value)
}

func TestAFingerprintThatCannotBeTakenIsAnError(t *testing.T) {
	root := leanProject(t)
	loop := filepath.Join(root, "lean-toolchain")
	require.NoError(t, os.Symlink(loop, loop))
	_, err := Resolve(defaultsFor(GiB), Request{Project: root})
	require.ErrorIs(t, err, unix.ELOOP)
	_, err = TakeFingerprint(root+".none", defaultsFor(GiB).Languages["lean"])
	require.ErrorIs(t, err, unix.ENOENT)
}
