package standins

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// DirVar names the environment variable with a directory that already holds fakelean, fakelsp and fakerepl, so that a
// whole run of tests builds them once.
const DirVar = "HEARTH_STANDINS"

const module = "github.com/seed-f6977891/hearth"

// Bin holds the paths of the built programs.
type Bin struct {
	Dir  string // where the programs are
	Lean string // fakelean under its own name; see LeanDir for the names that it plays
	LSP  string
	REPL string
}

// Build builds the programs, once for each test binary, and returns their paths.
func Build(t testing.TB) Bin {
	t.Helper()
	dir, err := build()
	if err != nil {
		t.Fatalf("stand-ins: %v", err)
	}
	return Bin{
		Dir:  dir,
		Lean: filepath.Join(dir, "fakelean"),
		LSP:  filepath.Join(dir, "fakelsp"),
		REPL: filepath.Join(dir, "fakerepl"),
	}
}

// LeanDir returns a directory to be put on PATH that holds lake, lean and repl. Its parent is the "sysroot".
func (b Bin) LeanDir() string { return filepath.Join(b.Sysroot(), "bin") }

// Sysroot returns the directory that the stand-in prints for --print-prefix.
func (b Bin) Sysroot() string { return filepath.Join(b.Dir, "toolchain") }

// The working directory, the environment and the go command as they were at start: tests may change theirs before they
// build, and with another HOME go would build everything anew.
var (
	started, errStarted = os.Getwd()
	environment         = os.Environ()
	goCommand, errGo    = exec.LookPath("go")
)

var build = sync.OnceValues(func() (string, error) {
	if errStarted != nil {
		return "", errStarted
	}
	dir := os.Getenv(DirVar)
	if dir == "" {
		var err error
		if dir, err = commonDir(); err != nil {
			return "", err
		}
	}
	unlock, err := lock(dir)
	if err != nil {
		return "", err
	}
	defer unlock()
	if os.Getenv(DirVar) == "" {
		if err := compile(dir); err != nil {
			return "", err
		}
	}
	return dir, link(dir)
})

// commonDir is a directory that all test binaries of this working tree share: each finds built what the one before it
// built, and nothing piles up in the temporary directory.
func commonDir() (string, error) {
	hash := sha256.Sum256([]byte(moduleRoot()))
	name := fmt.Sprintf("hearth-standins-%d-%s", os.Getuid(), hex.EncodeToString(hash[:6]))
	dir := filepath.Join(os.TempDir(), name)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return "", err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Getuid() {
		return "", fmt.Errorf("%s is not a directory of this user", dir)
	}
	return dir, nil
}

func moduleRoot() string {
	for dir := started; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	return started
}

func lock(dir string) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { _ = file.Close() }, nil
}

func compile(dir string) error {
	if errGo != nil {
		return errGo
	}
	for _, name := range []string{"fakelean", "fakelsp", "fakerepl"} {
		cmd := exec.Command(goCommand, "build", "-o", filepath.Join(dir, name), module+"/test/"+name)
		cmd.Dir, cmd.Env = started, environment
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
		}
	}
	return nil
}

// link gives fakelean the names that it plays. They are hard links: /proc/PID/exe of a process that was started through
// a symbolic link would say fakelean, and a watcher that looks for an executable named lean could not find it.
func link(dir string) error {
	bin := filepath.Join(dir, "toolchain", "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return err
	}
	program := filepath.Join(dir, "fakelean")
	built, err := os.Stat(program)
	if err != nil {
		return err
	}
	for _, name := range []string{"lake", "lean", "repl"} {
		target := filepath.Join(bin, name)
		if present, err := os.Stat(target); err == nil && os.SameFile(present, built) {
			continue
		}
		_ = os.Remove(target + ".new")
		if err := os.Link(program, target+".new"); err != nil {
			return err
		}
		if err := os.Rename(target+".new", target); err != nil {
			return err
		}
	}
	return nil
}
