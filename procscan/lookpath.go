package procscan

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// LookPath finds the executable file that a command's first word means, as an
// absolute path. A bare name is looked up in the absolute entries of pathEnv
// (the value of PATH); relative and empty entries are passed over, so that a file
// of some working directory never runs by accident. A relative name with a
// slash means a file below dir, which must be absolute then.
//
// The error satisfies errors.Is(err, fs.ErrNotExist) where there is no such
// file and fs.ErrPermission where it can't be executed.
func LookPath(name, dir, pathEnv string) (string, error) {
	switch {
	case name == "":
		return "", errors.New("no program is named")
	case filepath.IsAbs(name):
		return name, executable(name)
	case strings.ContainsRune(name, filepath.Separator):
		if !filepath.IsAbs(dir) {
			return "", fmt.Errorf("%s is a relative path and there is no absolute directory to take it from", name)
		}
		path := filepath.Join(dir, name)
		return path, executable(path)
	}
	return searchPath(name, pathEnv)
}

func searchPath(name, pathEnv string) (string, error) {
	var refused error
	for _, entry := range filepath.SplitList(pathEnv) {
		if !filepath.IsAbs(entry) {
			continue
		}
		path := filepath.Join(entry, name)
		err := executable(path)
		if err == nil {
			return path, nil
		}
		// As a shell does: go on, but say this if nothing better comes. What can't even be
		// looked at, in a directory of another user's, is no sign that there is a program.
		if refused == nil && !errors.Is(err, fs.ErrNotExist) && !errors.As(err, new(*fs.PathError)) {
			refused = err
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", fmt.Errorf("no program %s in PATH: %w", name, fs.ErrNotExist)
}

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s doesn't exist: %w", path, fs.ErrNotExist)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s doesn't exist: %w", path, fs.ErrNotExist)
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory: %w", path, fs.ErrPermission)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not executable (%s): %w", path, describeFile(path), fs.ErrPermission)
	}
	return nil
}
