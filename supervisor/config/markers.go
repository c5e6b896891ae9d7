package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f6977891/hearth/messages"
)

// gitMarker is the one marker that may be a directory: in a linked worktree it is a
// file.
const gitMarker = ".git"

// marks tells whether a directory has one of the language's markers. One that can't
// be looked at counts as missing.
func (l Language) marks(dir string) bool {
	return slices.ContainsFunc(l.Markers, func(marker string) bool {
		info, err := os.Stat(filepath.Join(dir, marker))
		return err == nil && (info.Mode().IsRegular() || marker == gitMarker && info.IsDir())
	})
}

// LanguageOf gives the language that has the file's extension.
func (c Config) LanguageOf(file string) (Language, bool) {
	for _, name := range c.languageOrder() {
		if l := c.Languages[name]; l.Owns(file) {
			return l, true
		}
	}
	return Language{}, false
}

// languageOf finds the language that a request means.
func (c Config) languageOf(root string, req Request) (Language, error) {
	if req.Language != "" {
		return c.named(req)
	}
	if l, ok := c.LanguageOf(req.File); ok && (l.HasREPL() || !req.NeedREPL) {
		return l, nil
	}
	candidates := c.candidates(req.NeedREPL)
	for _, l := range candidates {
		if l.marks(root) {
			return l, nil
		}
	}
	var names, markers []string
	for _, l := range candidates {
		names = append(names, l.Name)
		markers = append(markers, l.Markers...)
	}
	return Language{}, messages.Invalidf("project_dir is not a project of %s: %s has none of %s",
		strings.Join(names, ", "), root, list(markers))
}

func (c Config) named(req Request) (Language, error) {
	l, ok := c.Languages[req.Language]
	if !ok {
		return Language{}, messages.Invalidf("language is not known: %s (known: %s; add it to the config file under [languages.NAME])",
			req.Language, list(c.languageOrder()))
	}
	if req.NeedREPL && !l.HasREPL() {
		return Language{}, messages.Invalidf("language has no REPL: %s (set languages.%s.repl.command and .protocol)", l.Name, l.Name)
	}
	return l, nil
}

// candidates are the languages that a project's markers may mean.
func (c Config) candidates(needREPL bool) []Language {
	var list []Language
	for _, name := range c.languageOrder() {
		if l := c.Languages[name]; l.HasREPL() || !needREPL {
			list = append(list, l)
		}
	}
	return list
}

// Nearest is the directory that holds one of the language's markers, nearest to dir
// going up and dir itself included.
func Nearest(dir string, l Language) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", messages.Invalidf("not an absolute path: %s", dir)
	}
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if l.marks(at) {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", messages.Invalidf("no project of %s at or above %s: none of %s is there; make one of these files, or name a project with --project",
				l.Name, dir, list(l.Markers))
		}
	}
}

// NearestOfAny is Nearest for a request without a file: any language will do, or any that
// has a REPL, and the nearest directory decides before the order of languages does.
func (c Config) NearestOfAny(dir string, needREPL bool) (string, Language, error) {
	var found string
	var language Language
	var last error
	for _, l := range c.candidates(needREPL) {
		root, err := Nearest(dir, l)
		switch {
		case err != nil:
			last = err
		case len(root) > len(found):
			found, language = root, l
		}
	}
	if found == "" {
		return "", Language{}, last
	}
	return found, language, nil
}
