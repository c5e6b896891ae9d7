package config

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-f6977891/hearth/procscan"
)

// Install names the program that a daemon runs. Installations with different ids live
// side by side; builds of one installation replace each other, newer by generation.
type Install struct {
	Path       string // absolute, symlinks not resolved
	ID         string // of the path
	Build      string // of the content
	Generation int64  // the file's modification time in nanoseconds since 1970
}

// String is the install_id of status: ID-BUILD.
func (i Install) String() string { return i.ID + "-" + i.Build }

// Temporary tells that the program is one that the go command built for a single run.
// A daemon of it would outlive its file, so it runs embedded only.
func (i Install) Temporary() bool {
	for _, name := range strings.Split(i.Path, "/") {
		if strings.HasPrefix(name, "go-build") {
			return true
		}
	}
	return false
}

// ThisInstall is that of the running program, by the path that its caller found it
// under: symlinks stay, so that the name which a person knows is the identity. Where
// argv[0] doesn't lead to the running file, the kernel's path is taken.
func ThisInstall() (Install, error) {
	running, err := os.Executable()
	if err != nil {
		return Install{}, fmt.Errorf("find this program's file: %w", err)
	}
	found := os.Args[0]
	if strings.Contains(found, "/") {
		found, err = filepath.Abs(found)
	} else {
		found, err = procscan.LookPath(found, "", os.Getenv("PATH"))
	}
	if err != nil || !sameFile(found, running) {
		found = running
	}
	return ReadInstall(found)
}

func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// ReadInstall is that of a program by its absolute path.
func ReadInstall(path string) (Install, error) {
	file, err := os.Open(path)
	if err != nil {
		return Install{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Install{}, err
	}
	build, err := buildID(file)
	if err != nil {
		return Install{}, err
	}
	id := sha256.Sum256([]byte(filepath.Clean(path)))
	return Install{Path: filepath.Clean(path), ID: shortID(id[:]), Build: build, Generation: info.ModTime().UnixNano()}, nil
}

// buildID tells builds apart by the build id that the Go linker wrote into the file,
// which depends on all of its content. Reading it takes microseconds, where hashing
// the file would be most of a short command's run; a file without one is hashed.
func buildID(file *os.File) (string, error) {
	hash := sha256.New()
	if note, err := goBuildNote(file); err == nil {
		hash.Write(note)
		return shortID(hash.Sum(nil)), nil
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return shortID(hash.Sum(nil)), nil
}

// emptyNote is the size of an ELF note named "Go" that says nothing: what the linker
// writes under -buildid=.
const emptyNote = 16

func goBuildNote(file *os.File) ([]byte, error) {
	program, err := elf.NewFile(file)
	if err != nil {
		return nil, err
	}
	section := program.Section(".note.go.buildid")
	if section == nil || section.Size <= emptyNote {
		return nil, errors.New("no build id")
	}
	return section.Data()
}

func shortID(sum []byte) string { return hex.EncodeToString(sum)[:idLength] }
