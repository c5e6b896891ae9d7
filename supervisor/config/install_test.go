package config

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
)

func TestAnInstallationIsItsPathAndABuildItsContent(t *testing.T) {
	dir := t.TempDir()
	first := write(t, filepath.Join(dir, "hearth"), "one")
	moment := time.Unix(1_700_000_000, 5)
	require.NoError(t, os.Chtimes(first, moment, moment))
	one, err := ReadInstall(first)
	require.NoError(t, err)
	assert.Regexp(t, regexp.MustCompile(`^[0-9a-f]{10}-[0-9a-f]{10}$`), one.String())
	assert.Equal(t, moment.UnixNano(), one.Generation)

	copied, err := ReadInstall(write(t, filepath.Join(dir, "copy"), "one"))
	require.NoError(t, err)
	assert.NotEqual(t, one.ID, copied.ID)
	assert.Equal(t, one.Build, copied.Build)

	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(first, link))
	linked, err := ReadInstall(link)
	require.NoError(t, err)
	assert.NotEqual(t, one.ID, linked.ID, "symlinks are not resolved")

	write(t, first, "two")
	two, err := ReadInstall(first)
	require.NoError(t, err)
	assert.Equal(t, one.ID, two.ID)
	assert.NotEqual(t, one.Build, two.Build)
}

// The test's own program has a build id in it, so its content needs no hashing.
func TestAGoProgramIsKnownByItsBuildID(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	file, err := os.Open(program)
	require.NoError(t, err)
	defer file.Close()
	note, err := goBuildNote(file)
	require.NoError(t, err)
	assert.Greater(t, len(note), emptyNote)
	_, err = goBuildNote(openScript(t))
	assert.Error(t, err)
}

func openScript(t *testing.T) *os.File {
	t.Helper()
	file, err := os.Open(write(t, filepath.Join(t.TempDir(), "script"), "#!/bin/sh\n"))
	require.NoError(t, err)
	t.Cleanup(func() { file.Close() })
	return file
}

func TestThisProgramIsOfTheGoCommands(t *testing.T) {
	this, err := ThisInstall()
	require.NoError(t, err)
	running, err := os.Executable()
	require.NoError(t, err)
	assert.True(t, sameFile(this.Path, running))
	assert.True(t, Install{Path: "/home/u/.cache/go-build/ab/cd-d/runtime"}.Temporary())
	assert.True(t, Install{Path: "/tmp/go-build123/b001/exe/runtime"}.Temporary())
	assert.False(t, Install{Path: "/home/u/go/bin/hearth"}.Temporary())
}

// argv[0] is whatever a caller liked; the running file decides.
func TestAnInventedNameOfTheProgramIsNotBelieved(t *testing.T) {
	name := os.Args[0]
	defer func() { os.Args[0] = name }()
	running, err := os.Executable()
	require.NoError(t, err)
	for _, invented := range []string{"-hearth", "/none/hearth", "sh"} {
		os.Args[0] = invented
		this, err := ThisInstall()
		require.NoError(t, err)
		assert.Equal(t, running, this.Path, invented)
	}
}

func TestTheNameUnderWhichTheProgramWasFoundStays(t *testing.T) {
	name := os.Args[0]
	defer func() { os.Args[0] = name }()
	running, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(running, filepath.Join(dir, "hearth")))
	t.Setenv("PATH", dir)
	os.Args[0] = "hearth"
	this, err := ThisInstall()
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "hearth"), this.Path)
}

func program(t *testing.T, path string) string {
	t.Helper()
	require.NoError(t, os.Chmod(write(t, path, "#!/bin/sh\n"), 0o755))
	return path
}

func TestTheFirstAlternativeThatIsThereIsTaken(t *testing.T) {
	bin := realTemp(t)
	python := BuiltinLanguages()["python"]
	_, err := python.Find(python.Server.Commands, bin, "/project")
	var missing *messages.LaunchError
	require.ErrorAs(t, err, &missing)
	assert.Equal(t, "cannot start pyright-langserver in /project: not found in PATH; "+
		"pyright-langserver: npm install -g pyright; or pylsp: pip install 'python-lsp-server[all]'", missing.Error())

	pylsp := program(t, filepath.Join(bin, "pylsp"))
	got, err := python.Find(python.Server.Commands, bin, "/project")
	require.NoError(t, err)
	assert.Equal(t, Command{pylsp}, got)
	pyright := program(t, filepath.Join(bin, "pyright-langserver"))
	got, err = python.Find(python.Server.Commands, bin, "/project")
	require.NoError(t, err)
	assert.Equal(t, Command{pyright, "--stdio"}, got)
	assert.Equal(t, "pyright-langserver", python.Server.Commands[0][0], "the profile stays as it is")

	_, err = python.Find([]Command{{"pypy3"}}, bin, "/project")
	assert.ErrorContains(t, err, "pypy3: install it, or set languages.python in the config file")
	_, err = python.Find(nil, bin, "/project")
	assert.Equal(t, messages.KindInvalid, messages.KindOf(err))
}
