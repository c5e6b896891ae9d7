package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

// locate finds the project of a file and refuses what no engine could serve, so that
// bad input starts nothing.
func (a *app) locate(cfg config.Config, file string) (supervisor.Document, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return supervisor.Document{}, messages.Invalidf("%s: %w", file, err)
	}
	project, err := a.projectOf(cfg, path)
	if err != nil {
		return supervisor.Document{}, err
	}
	found, err := config.Resolve(cfg, config.Request{Project: project, File: path, NeedFile: true})
	if err != nil {
		return supervisor.Document{}, err
	}
	return supervisor.Document{Project: found.Root, File: found.File, Language: found.Language.Name}, nil
}

// projectOf is the directory that --project names, else the nearest one above the
// file that has a marker of the file's language.
func (a *app) projectOf(cfg config.Config, path string) (string, error) {
	if a.project != "" {
		return absolute(a.project)
	}
	// What isn't there, or is no file, is said to be so, rather than to have no
	// language or no project.
	switch info, err := os.Stat(path); {
	case err != nil:
		return "", messages.Invalidf("cannot read %s: %w", path, withoutPath(err))
	case info.IsDir():
		return "", messages.Invalidf("%s is a directory; name files in it", path)
	}
	language, ok := cfg.LanguageOf(path)
	if !ok {
		return "", messages.Invalidf("no language has the extension of %s; add one to the configuration file under [languages.NAME]", path)
	}
	return config.Nearest(filepath.Dir(path), language)
}

// absolute makes a directory that a person typed absolute; what is left of ~ after
// the shell is the runtime's to expand.
func absolute(dir string) (string, error) {
	if strings.HasPrefix(dir, "~") {
		return dir, nil
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", messages.Invalidf("%s: %w", dir, err)
	}
	return path, nil
}

// withoutPath takes the operation and the path from an error that says them too.
func withoutPath(err error) error {
	if pathError, ok := err.(*os.PathError); ok {
		return pathError.Err
	}
	return err
}
