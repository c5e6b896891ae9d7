package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-f6977891/hearth/messages"
)

// Names of a runtime's files; the number is the socket protocol's.
const (
	filePrefix   = "hearth-v1-"
	socketSuffix = ".sock"
	idLength     = 10
)

// socketLimit is the most bytes that a socket's path may have. The kernels take 103
// to 107; the same limit everywhere keeps a configuration portable.
const socketLimit = 100

// socketNameLength is that of a slash and INSTALL-BUILD's name, which has always the
// same length, so that every client judges a directory alike.
const socketNameLength = len("/"+filePrefix) + idLength + len("-") + idLength + len(socketSuffix)

// Paths are the files of one daemon.
type Paths struct {
	Dir      string // private to the user; see PrivateDir
	Socket   string
	Log      string
	Lock     string // held while a daemon is being started
	Lifetime string // a lock that a daemon holds as long as it lives
	Trees    string // directory of the lists of process trees
}

// Dir is the runtime directory in force for a daemon.
func (c Config) Dir() string {
	if c.RuntimeDir != "" {
		return filepath.Clean(c.RuntimeDir)
	}
	return c.DefaultRuntimeDir
}

// Paths names the files of the daemon of an installation.
func (c Config) Paths(i Install) Paths {
	return PathsIn(c.Dir(), i)
}

// PathsIn names the files of an installation's daemon in a directory. Socket and log
// are the build's own; the locks are the installation's, so that builds take turns.
func PathsIn(dir string, i Install) Paths {
	installation := filepath.Join(dir, filePrefix+i.ID)
	return Paths{
		Dir:      dir,
		Socket:   installation + "-" + i.Build + socketSuffix,
		Log:      installation + "-" + i.Build + ".log",
		Lock:     installation + ".lock",
		Lifetime: installation + ".lifetime.lock",
		Trees:    filepath.Join(dir, "trees"),
	}
}

// PathsFor names the files of a daemon with a socket of the user's choice (--socket):
// they stand beside it and have its name with other extensions.
func PathsFor(socket string) (Paths, error) {
	refuse := func(want string) (Paths, error) {
		return Paths{}, &messages.ConfigError{Setting: "--socket", Value: socket, Want: want}
	}
	base := strings.TrimSuffix(socket, filepath.Ext(socket))
	switch extension := filepath.Ext(socket); {
	case !filepath.IsAbs(socket) || strings.HasSuffix(socket, "/"):
		return refuse("the absolute path of a file")
	case extension == ".lock" || extension == ".log":
		return refuse("another extension: that one names a lock or the log")
	case len(socket) > socketLimit:
		return refuse(tooLong(socket))
	}
	dir := filepath.Dir(socket)
	return Paths{
		Dir: dir, Socket: socket, Log: base + ".log", Lock: base + ".lock",
		Lifetime: base + ".lifetime.lock", Trees: filepath.Join(dir, "trees"),
	}, nil
}

// OtherBuilds are the sockets in the directory that belong to other builds of the same
// installation, listening or not.
func (p Paths) OtherBuilds(i Install) ([]string, error) {
	entries, err := os.ReadDir(p.Dir)
	if err != nil {
		return nil, err
	}
	var sockets []string
	for _, entry := range entries {
		name := entry.Name()
		build, ours := strings.CutPrefix(strings.TrimSuffix(name, socketSuffix), filePrefix+i.ID+"-")
		if ours && strings.HasSuffix(name, socketSuffix) && build != i.Build {
			sockets = append(sockets, filepath.Join(p.Dir, name))
		}
	}
	return sockets, nil
}

// defaultRuntimeDir is $XDG_RUNTIME_DIR/hearth where that is absolute and short
// enough, else the user's directory in /tmp.
func defaultRuntimeDir(xdg string) string {
	if filepath.IsAbs(xdg) {
		if dir := filepath.Join(xdg, "hearth"); len(dir)+socketNameLength <= socketLimit {
			return dir
		}
	}
	return "/tmp/hearth-" + strconv.Itoa(os.Getuid())
}

// checkSocketLength refuses a configured directory whose sockets could not be bound.
// There is no fall-back for it: the user would look for the files where they are not.
func checkSocketLength(dir, setting string) error {
	if dir == "" || len(filepath.Clean(dir))+socketNameLength <= socketLimit {
		return nil
	}
	name := filePrefix + strings.Repeat("x", idLength) + "-" + strings.Repeat("x", idLength) + socketSuffix
	return &messages.ConfigError{Setting: setting, Value: dir, Want: tooLong(filepath.Join(dir, name))}
}

func tooLong(socket string) string {
	return fmt.Sprintf("a shorter path: the socket's, %s, has %d bytes, and the limit is %d", socket, len(socket), socketLimit)
}
