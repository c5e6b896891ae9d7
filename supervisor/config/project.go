package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/messages"
)

// Request is what a caller says about the project that it means.
type Request struct {
	Project  string // a directory: absolute, or beginning with ~/
	File     string // absolute, or relative to the project; empty for a request without one
	Language string // a profile's name; empty: see Resolve
	NeedFile bool   // the request is about a file, so an empty File is refused
	NeedREPL bool   // the request runs code, so only languages with a REPL are meant
}

// Resolved is a request's project as the runtime knows it.
type Resolved struct {
	Root        string // canonical: absolute, symlinks resolved
	File        string // canonical; empty if the request had none
	Language    Language
	Fingerprint messages.Fingerprint
}

// Resolve finds the project, the file and the language that a request means. The
// language is the one that is named, else the one that has the file's extension,
// else the first whose markers the project has. Two paths of one directory give the
// same Root. Errors of kind Invalid say which part of the request is wrong; another
// error means that the project could not be read.
//
// It reads the disk, so it belongs on the caller's goroutine.
func Resolve(c Config, req Request) (Resolved, error) {
	root, err := CanonicalRoot(req.Project)
	if err != nil {
		return Resolved{}, err
	}
	language, err := c.languageOf(root, req)
	if err != nil {
		return Resolved{}, err
	}
	if !language.marks(root) {
		return Resolved{}, messages.Invalidf("project_dir is not a project of %s: %s has none of %s",
			language.Name, root, list(language.Markers))
	}
	file, err := resolveFile(root, language, req)
	if err != nil {
		return Resolved{}, err
	}
	fingerprint, err := TakeFingerprint(root, language)
	if err != nil {
		return Resolved{}, err
	}
	return Resolved{Root: root, File: file, Language: language, Fingerprint: fingerprint}, nil
}

// CanonicalRoot is the directory that a path names, which is a project's identity:
// absolute, symlinks resolved. It need not hold any marker.
func CanonicalRoot(project string) (string, error) {
	if strings.TrimSpace(project) == "" {
		return "", messages.Invalidf("project_dir is missing; name the project's directory")
	}
	path, err := ExpandHome(project)
	if err != nil {
		return "", messages.Invalidf("project_dir %s: %w", project, err)
	}
	if !filepath.IsAbs(path) {
		return "", messages.Invalidf("project_dir is not absolute: %s", project)
	}
	if info, ok := plain("", path); ok && info.IsDir() {
		return path, nil
	}
	root, err := filepath.EvalSymlinks(path)
	if absent(err) {
		return "", messages.Invalidf("project_dir does not exist: %s", path)
	}
	if err != nil {
		return "", messages.Invalidf("project_dir cannot be resolved: %w", err)
	}
	info, err := os.Stat(root)
	if err != nil {
		return "", messages.Invalidf("project_dir cannot be read: %w", err)
	}
	if !info.IsDir() {
		return "", messages.Invalidf("project_dir is not a directory: %s", path)
	}
	return root, nil
}

func resolveFile(root string, language Language, req Request) (string, error) {
	if strings.TrimSpace(req.File) == "" {
		if req.NeedFile {
			return "", messages.Invalidf("file_path is missing; name a file of the project")
		}
		return "", nil
	}
	path := req.File
	if !filepath.IsAbs(path) {
		// Not filepath.Join: it would take "link/.." away before the link is followed.
		path = root + "/" + path
	}
	if file, ok := plainBelow(root, path); ok && language.Owns(file) {
		return file, nil
	}
	file, err := resolveAsFar(path)
	if err != nil {
		return "", messages.Invalidf("file_path cannot be resolved: %w", err)
	}
	if !below(root, file) {
		return "", messages.Invalidf("file_path is outside of the project: %s is not below %s", file, root)
	}
	if !language.Owns(file) {
		return "", messages.Invalidf("file_path is no file of %s: %s has none of the extensions %s",
			language.Name, file, list(language.Extensions))
	}
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return "", messages.Invalidf("file_path is not an existing file: %s", file)
	}
	return file, nil
}

// plainBelow gives the canonical path of an existing regular file that is written below
// the canonical root and reached without any link.
func plainBelow(root, path string) (string, bool) {
	rel, below := strings.CutPrefix(path, root+"/")
	if !below {
		return "", false
	}
	info, ok := plain(root, "/"+rel)
	return path, ok && info.Mode().IsRegular()
}

// plain looks at what path names below the canonical directory root, from "/" on, and
// tells whether no link and no other detour led there: the usual case, in which the path
// is canonical as it is written.
func plain(root, path string) (info fs.FileInfo, ok bool) {
	if path == "/" || path != filepath.Clean(path) {
		return nil, false
	}
	for end := 1; end <= len(path); end++ {
		if end < len(path) && path[end] != '/' {
			continue
		}
		var err error
		if info, err = os.Lstat(root + path[:end]); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return nil, false
		}
	}
	return info, true
}

// resolveAsFar resolves the symlinks of what exists of a path, so that a missing file
// outside of the project is refused for where it is.
func resolveAsFar(path string) (string, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if !absent(err) {
		return resolved, err
	}
	// Not filepath.Dir, which cleans: see resolveFile.
	path = strings.TrimRight(path, "/")
	slash := strings.LastIndexByte(path, '/')
	parent, err := resolveAsFar(path[:slash+1])
	return filepath.Join(parent, path[slash+1:]), err
}

// below tells whether a canonical path is in a canonical directory.
func below(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// absent tells that a path has no file: it, or a directory on its way, is missing, or
// is a file itself.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR)
}

// ExpandHome replaces a leading ~ by the home directory of this process's user.
func ExpandHome(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && rest[0] != '/' {
		return path, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, rest), nil
}
