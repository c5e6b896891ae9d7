package test_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// topLevel are the entries of the repository's root, beside those with a dot.
var topLevel = []string{"README.md", "go.mod", "go.sum", "actors", "cmd", "messages", "procscan", "supervisor", "test"}

// longest is how many lines a file of the program may have: what is longer does
// more than one thing.
const longest = 299

// unfinished are words that say that something isn't done. They are joined here, so
// that this file isn't one of those that hold them.
var unfinished = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX|HA` + `CK)\b`)

func TestTopLevelHoldsOnlyWhatTheArchitectureNames(t *testing.T) {
	for _, dir := range []struct {
		name string
		may  []string
	}{{".", slices.Concat(topLevel, ignored(t))}, {"cmd", []string{"runtime"}}} {
		entries, err := os.ReadDir(filepath.Join(root(t), dir.name))
		require.NoError(t, err)
		for _, entry := range entries {
			if !belongs(entry.Name(), dir.may) {
				t.Errorf("%s/%s doesn't belong there", dir.name, entry.Name())
			}
		}
	}
}

func belongs(entry string, may []string) bool {
	return strings.HasPrefix(entry, ".") || slices.Contains(may, entry)
}

// ignored gives what .gitignore names at the top: README.md has the program built
// there, and the tests run from the same checkout.
func ignored(t *testing.T) (names []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), ".gitignore"))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "/"); ok {
			names = append(names, name)
		}
	}
	return names
}

func TestFilesAreShort(t *testing.T) {
	for _, s := range sources(t) {
		if lines := tooLong(s); lines > 0 {
			t.Errorf("%s has %d lines, want at most %d", s.path, lines, longest)
		}
	}
}

// tooLong gives the lines of a file that has too many. Tests are often tables, and
// are let be.
func tooLong(s source) int {
	lines := bytes.Count(s.text, []byte("\n"))
	if lines <= longest || s.isTest() {
		return 0
	}
	return lines
}

func TestNoFileSaysThatItIsUnfinished(t *testing.T) {
	for _, name := range files(t) {
		text, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(name)))
		require.NoError(t, err)
		if !utf8.Valid(text) {
			continue // a picture holds no words
		}
		for _, b := range unfinishedWords(name, string(text)) {
			t.Error(b)
		}
	}
}

func unfinishedWords(path, text string) (found []breach) {
	for i, line := range strings.Split(text, "\n") {
		if word := unfinished.FindString(line); word != "" {
			found = append(found, breach{path, i + 1, word + ": do it, or open an issue"})
		}
	}
	return found
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, dir := range undocumented(sources(t)) {
		t.Errorf("%s: no file has a package comment", dir)
	}
}

// undocumented gives the directories whose package has no comment. Below test/ are
// packages of tests alone: there the comment is in one of those.
func undocumented(all []source) []string {
	documented := make(map[string]bool)
	for _, s := range all {
		counts := !strings.HasSuffix(s.path, "_test.go") || s.isTest() && within(s.path, []string{"test/..."})
		documented[s.dir()] = documented[s.dir()] || counts && s.file.Doc.Text() != ""
	}
	var dirs []string
	for _, dir := range slices.Sorted(maps.Keys(documented)) {
		if !documented[dir] {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
