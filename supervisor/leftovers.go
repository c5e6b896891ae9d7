package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

// Between two attempts to end what a dead runtime left, doubling.
const (
	retryFirst = 10 * time.Millisecond
	retryLast  = time.Second
)

// leftoverGrace is that of a dead runtime's trees. The two clean scans are a second
// apart: nothing is known of these trees, and some start processes long after their
// leader's death.
var leftoverGrace = procscan.Grace{Term: procscan.DefaultGrace.Term, Kill: procscan.DefaultGrace.Kill, Pause: time.Second}

// Leftover is what one dead runtime left behind.
type Leftover struct {
	File string // its file in trees/
	PID  int    // the runtime's own
	// Processes carry the runtime's mark; not known after a restart of the machine,
	// when none can be left.
	Processes []procscan.Identity
	// Err says why they are not ended, or not all; nil: they are, and the file is
	// gone. In a dry run it says what can't be told.
	Err error
}

// SweepLeftovers ends the process trees that runtimes which died without their guard
// left behind, as the files in the runtime directory dir tell. Runtimes that live
// hold their files locked, and are not touched. A dry run only says what there is.
//
// The error is that of the first Leftover that has one, or says why dir can't be read.
func SweepLeftovers(ctx context.Context, dir string, dryRun bool) ([]Leftover, error) {
	files, err := recordsIn(dir)
	if err != nil {
		return nil, err
	}
	var found []Leftover
	for _, file := range files {
		left, dead := sweepRecord(ctx, file, dryRun)
		if !dead {
			continue
		}
		found = append(found, left)
		if err == nil {
			err = left.Err
		}
	}
	return found, err
}

// recordsIn gives the paths of all files of runtimes, living or dead.
func recordsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(treesDir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, messages.Errorf(messages.KindInternal, "cannot read the list of trees: %w", err)
	}
	if err := config.PrivateDir(dir); err != nil {
		return nil, err // a stranger's list would have us end what a stranger names
	}
	var files []string
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			files = append(files, filepath.Join(treesDir(dir), entry.Name()))
		}
	}
	return files, nil
}

// sweepRecord ends what one file tells of. It is false where the runtime lives, or
// somebody else is at it, or nothing is left.
func sweepRecord(ctx context.Context, path string, dryRun bool) (left Leftover, dead bool) {
	file, err := lockOfTheDead(ctx, path)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, fs.ErrNotExist) {
		return left, false
	}
	left = Leftover{File: path, Err: err}
	if err != nil {
		return left, true
	}
	defer file.Close()
	var r record
	switch left.Err = readRecord(file, &r); {
	case errors.Is(left.Err, io.EOF):
		_ = os.Remove(path) // its runtime died before it wrote, and so before its first child
		return left, false
	case left.Err != nil:
		return left, true
	}
	left.PID = r.PID
	table := procscan.SystemTable()
	if r.Boot == procscan.BootID() {
		left.Processes, left.Err = r.left().list(ctx, table)
		if left.Err == nil && !dryRun {
			left.Err = r.left().end(ctx, table)
		}
	}
	if left.Err == nil && !dryRun {
		// The runtime's guard may have been at it too, and quicker.
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			left.Err = err
		}
	}
	return left, true
}

// startingLimit is longer than a child takes from its fork to its program.
const startingLimit = 2 * time.Second

// lockOfTheDead takes the lock of a file whose runtime lives no more. One that died in
// the middle of a start has left the lock to the child, which has all of its descriptors
// until it executes its program.
func lockOfTheDead(ctx context.Context, path string) (*os.File, error) {
	file, err := lockRecord(path, os.O_RDONLY)
	for waited := time.Duration(0); errors.Is(err, unix.EWOULDBLOCK) && waited < startingLimit && ownerIsGone(path); waited += retryFirst {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(retryFirst):
		}
		file, err = lockRecord(path, os.O_RDONLY)
	}
	return file, err
}

// ownerIsGone tells whether no process has the number of the file's runtime.
func ownerIsGone(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // only read
	var r record
	if readRecord(file, &r) != nil {
		return false
	}
	_, err = procscan.Read(r.PID)
	return procscan.IsGone(err)
}

// lockRecord opens a file and takes its lock, without waiting.
func lockRecord(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, flags|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	// Whoever held it before us may have removed it.
	opened, err := file.Stat()
	if err == nil {
		var present os.FileInfo
		if present, err = os.Lstat(path); err == nil && !os.SameFile(opened, present) {
			err = fs.ErrNotExist
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// record is a runtime's file in trees/: what a later start needs to find its trees.
type record struct {
	Boot        string `json:"boot_id"` // marks and PIDs mean nothing after a restart of the machine
	PID         int    `json:"pid"`
	Runtime     string `json:"runtime"` // the value of its mark
	Containment string `json:"containment,omitempty"`
}

func (r record) left() leftBehind {
	return leftBehind{mark: procscan.Mark{Var: procscan.RuntimeVar, Value: r.Runtime}, containment: r.Containment}
}

// readRecord gives io.EOF for an empty file.
func readRecord(file *os.File, r *record) error {
	err := json.NewDecoder(file).Decode(r)
	if err == io.EOF {
		return err
	}
	if err == nil {
		err = r.left().mark.Validate()
	}
	if err != nil {
		return messages.Errorf(messages.KindInternal, "%s is no list of trees (remove it): %w", file.Name(), err)
	}
	return nil
}

// leftBehind is what a dead runtime's trees can be found by.
type leftBehind struct {
	mark        procscan.Mark
	containment string
}

// end ends all of it, once. A tree that forks too fast for a sweep, or whose
// processes cleared their environment, ends with the control groups; so these are
// emptied also after a sweep that failed.
func (l leftBehind) end(ctx context.Context, table procscan.Table) error {
	err := procscan.Sweep(ctx, table, procscan.Target{Mark: l.mark}, leftoverGrace)
	if l.containment != "" {
		err = errors.Join(err, procscan.EndContainment(ctx, l.containment, leftoverGrace))
	}
	return err
}

// list gives the carriers of the mark that live now.
func (l leftBehind) list(ctx context.Context, table procscan.Table) ([]procscan.Identity, error) {
	scan, err := table.Scan(ctx, l.mark)
	if err != nil {
		return nil, err
	}
	defer scan.Close()
	var found []procscan.Identity
	for _, p := range scan.Hits {
		found = append(found, p.Identity())
	}
	return found, nil
}

func treesDir(dir string) string { return filepath.Join(dir, "trees") }

// recordFile is this runtime's own file. Its lock ends with the process, however
// that ends.
type recordFile struct{ file *os.File }

// writeRecord makes the file of a runtime.
func writeRecord(dir string, r record) (*recordFile, error) {
	for _, private := range []string{dir, treesDir(dir)} {
		if err := config.PrivateDir(private); err != nil {
			return nil, err
		}
	}
	text, err := json.Marshal(r)
	var file *os.File
	if err == nil {
		file, err = newRecord(treesDir(dir), r.PID)
	}
	if err == nil {
		if _, err = file.Write(text); err == nil {
			return &recordFile{file}, nil
		}
		_ = (&recordFile{file}).remove() // the disk is full: the first error says so
	}
	return nil, messages.Errorf(messages.KindInternal, "cannot write the list of trees: %w", err)
}

// newRecord makes an empty file that is locked. Somebody may take it for one whose
// runtime died before it wrote anything, between its making and its locking, and
// remove it; then another is made.
func newRecord(dir string, pid int) (*os.File, error) {
	for {
		name := fmt.Sprintf("%d-%s.json", pid, procscan.NewMark("FILE").Value[:8])
		file, err := lockRecord(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
	}
}

// remove takes the file away; nothing is left that it could tell of.
func (f *recordFile) remove() error {
	if f == nil {
		return nil
	}
	return errors.Join(os.Remove(f.file.Name()), f.file.Close())
}

// unlock leaves the file to the next start.
func (f *recordFile) unlock() error {
	if f == nil {
		return nil
	}
	return f.file.Close()
}
