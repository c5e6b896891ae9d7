package config

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheBuiltInProfilesAreValidAndComplete(t *testing.T) {
	languages := BuiltinLanguages()
	require.Len(t, languages, len(builtinOrder))
	for name, l := range languages {
		require.NoError(t, l.check(name))
		assert.Contains(t, builtinOrder, name)
		programs := slices.Clone(l.Server.Commands)
		if l.HasREPL() {
			programs = append(programs, l.REPL.Command)
		}
		for _, command := range programs {
			_, known := l.InstallHint(command[0])
			assert.True(t, known, "%s: %s", name, command)
		}
	}
}

func TestLanguageIDsFollowTheExtension(t *testing.T) {
	c := defaultsFor(GiB)
	for file, want := range map[string]string{
		"A.lean": "lean4", "a.go": "go", "a.c": "c", "a.h": "c", "a.cc": "cpp", "a.hpp": "cpp", "a.cxx": "cpp", "a.pyi": "python",
		"a.ts": "typescript", "a.tsx": "typescriptreact", "a.js": "javascript", "a.jsx": "javascriptreact", "a.mjs": "javascript",
		"a.sh": "shellscript", "/x.y/a.bash": "shellscript",
	} {
		l, ok := c.LanguageOf(file)
		require.True(t, ok, file)
		assert.Equal(t, want, l.LanguageID(file), file)
	}
	for _, file := range []string{"", "Makefile", "a.LEAN", "lean", "a.lean~"} {
		_, ok := c.LanguageOf(file)
		assert.False(t, ok, file)
	}
}

func TestServersAreNeverAnsweredWithNull(t *testing.T) {
	server := Server{Settings: map[string]any{"a": map[string]any{"b": map[string]any{"c": int64(1)}}}}
	assert.Equal(t, server.Settings, server.Answer(""))
	assert.Equal(t, map[string]any{"c": int64(1)}, server.Answer("a.b"))
	assert.Equal(t, int64(1), server.Answer("a.b.c"))
	for _, section := range []string{"x", "a.x", "a.b.c.d"} {
		assert.Equal(t, map[string]any{}, server.Answer(section), section)
	}
	assert.Equal(t, map[string]any{}, Server{}.Answer(""))
	assert.Equal(t, map[string]any{}, Server{}.Answer("python.analysis"))
}

func TestOnlyPackagesThatTheManifestNamesAreWarmedUp(t *testing.T) {
	lean := BuiltinLanguages()["lean"]
	lean.REPL.WarmUp = []string{"Mathlib", "Aesop.Frontend", "Lean"}
	for name, c := range map[string]struct {
		manifest string
		want     []string
	}{
		"mathlib as a package": {`{"name":"p","packages":[{"name":"mathlib"},{"name":"aesop"}]}`, []string{"Mathlib", "Aesop.Frontend", "Lean"}},
		"mathlib itself":       {`{"name":"mathlib","packages":[{"name":"aesop"}]}`, []string{"Mathlib", "Aesop.Frontend", "Lean"}},
		"without":              {`{"name":"p","packages":[]}`, []string{"Lean"}},
		"broken":               {`{"packages":`, []string{"Lean"}},
	} {
		root := t.TempDir()
		write(t, filepath.Join(root, "lake-manifest.json"), c.manifest)
		assert.Equal(t, c.want, lean.WarmImports(root), name)
	}
	assert.Equal(t, []string{"Lean"}, lean.WarmImports(t.TempDir()))
	python := BuiltinLanguages()["python"]
	python.REPL.WarmUp = []string{"numpy"}
	assert.Equal(t, []string{"numpy"}, python.WarmImports(t.TempDir()))
}
