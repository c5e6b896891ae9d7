package procscan

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// Containment is a directory of control groups (version 2) in which each tree
// gets one of its own. It holds what a mark can't reach: a child that was
// started with a cleared environment. It is never required.
type Containment struct {
	dir   string
	trees atomic.Int64
}

// NewContainment probes once whether this machine lets us make control groups,
// start processes in them, and kill all that is in one, and gives a containment
// below our own control group if so. The name, a file name, has to be unused.
func NewContainment(name string) (*Containment, error) {
	parent, err := ownCgroup()
	if err != nil {
		return nil, fmt.Errorf("control groups: %w", err)
	}
	c := &Containment{dir: filepath.Join(parent, name)}
	if err := os.Mkdir(c.dir, 0o755); err != nil {
		return nil, fmt.Errorf("control groups: %w", err)
	}
	if err := c.probe(); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("control groups: %w", err)
	}
	return c, nil
}

// Path is the containment's directory. Another process ends what is in it with
// EndContainment, should this one die.
func (c *Containment) Path() string { return c.dir }

// Close removes the directories of trees that have ended, and the containment's
// own once none is left.
func (c *Containment) Close() error { return removeCgroups(c.dir) }

// EndContainment kills all that lives in a containment whose program has died,
// waits for that at most grace.Kill, and removes it. One that is missing has been
// ended. What outlives SIGKILL gives a *SurvivorsError.
func EndContainment(ctx context.Context, path string, grace Grace) error {
	if err := emptyCage(ctx, &treeCage{dir: path}, grace.Kill); err != nil {
		return fmt.Errorf("control group %s: %w", path, err)
	}
	return removeCgroups(path)
}

// probe starts the program "", which can't exist, in a group: the kernel makes
// the process there before it finds that out, and refuses earlier where it may
// not. No program of anybody's runs for it.
func (c *Containment) probe() error {
	cage := c.newTree()
	if cage == nil {
		return errors.New("no group can be made below " + c.dir)
	}
	defer cage.remove()
	attr := &syscall.ProcAttr{Sys: &syscall.SysProcAttr{}}
	leave := cage.enter(attr.Sys)
	defer leave()
	if !attr.Sys.UseCgroupFD {
		return errors.New("no group can be opened below " + c.dir)
	}
	if _, err := syscall.ForkExec("", []string{""}, attr); !errors.Is(err, syscall.ENOENT) {
		return fmt.Errorf("start a process in %s: %w", cage.dir, err)
	}
	return cage.Kill()
}

// newTree makes a group, or gives nil.
func (c *Containment) newTree() *treeCage {
	if c == nil {
		return nil
	}
	cage := &treeCage{dir: filepath.Join(c.dir, "tree-"+strconv.FormatInt(c.trees.Add(1), 10))}
	if os.Mkdir(cage.dir, 0o755) != nil {
		return nil
	}
	return cage
}

// treeCage is the control group of one tree.
type treeCage struct{ dir string }

// enter makes the process to be started begin its life in the group. The
// function that it gives is called after the start.
func (g *treeCage) enter(attr *syscall.SysProcAttr) (leave func()) {
	fd, err := unix.Open(g.dir, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return func() {}
	}
	attr.UseCgroupFD, attr.CgroupFD = true, fd
	return func() { unix.Close(fd) }
}

// Populated implements Cage. The kernel counts no zombies.
func (g *treeCage) Populated() (bool, error) {
	events, err := os.ReadFile(filepath.Join(g.dir, "cgroup.events"))
	if IsGone(err) || errors.Is(err, syscall.ENODEV) { // ENODEV: removed after the open
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("control group: %w", err)
	}
	return bytes.Contains(events, []byte("populated 1")), nil
}

// Kill implements Cage. It reaches also what is being forked at the moment.
func (g *treeCage) Kill() error {
	err := os.WriteFile(filepath.Join(g.dir, "cgroup.kill"), []byte("1"), 0)
	if err == nil || IsGone(err) || errors.Is(err, syscall.ENODEV) {
		return nil
	}
	return fmt.Errorf("control group: %w", err)
}

// remove takes the group away. One that won't go is left to Containment.Close.
func (g *treeCage) remove() {
	if g != nil {
		_ = removeCgroups(g.dir)
	}
}

// removeCgroups removes a group with the groups in it: a tree may have made
// some, above all when it is another hearth. Files in it are the kernel's.
func removeCgroups(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if entry.IsDir() {
			err = errors.Join(err, removeCgroups(filepath.Join(dir, entry.Name())))
		}
	}
	if rmErr := unix.Rmdir(dir); rmErr != nil && rmErr != unix.ENOENT {
		err = errors.Join(err, fmt.Errorf("remove control group %s: %w", dir, rmErr))
	}
	return err
}

// ownCgroup gives the directory of our own group of version 2. On a hybrid
// machine that is mounted beside the groups of version 1.
func ownCgroup() (string, error) {
	mount, root, err := cgroupMount()
	if err != nil {
		return "", err
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(own)) {
		if path, found := strings.CutPrefix(strings.TrimSpace(line), "0::"); found {
			below, err := filepath.Rel(root, path)
			if err != nil || strings.HasPrefix(below, "..") {
				return "", fmt.Errorf("our own group %s is not below the mounted %s", path, root)
			}
			return filepath.Join(mount, below), nil
		}
	}
	return "", errors.New("this machine has none of version 2")
}

// cgroupMount finds the mount of version 2 and which group is mounted there:
// a container sees only its own part. The format is that of proc(5), mountinfo.
func cgroupMount() (mount, root string, err error) {
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return "", "", err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		before, after, found := strings.Cut(lines.Text(), " - ")
		fields := strings.Fields(before)
		if found && strings.HasPrefix(after, "cgroup2 ") && len(fields) > 4 {
			return fields[4], fields[3], nil
		}
	}
	return "", "", errors.New("no cgroup2 file system is mounted")
}
