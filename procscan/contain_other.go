//go:build !linux

package procscan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// The names below exist so that a program compiles everywhere; Limits says that
// they do nothing here.

// Subreaper is refused: only Linux has subreapers.
func Subreaper() error { return fmt.Errorf("subreaper: %w", errors.ErrUnsupported) }

// Containment can't be had here.
type Containment struct{}

// NewContainment is refused: only Linux has control groups.
func NewContainment(string) (*Containment, error) {
	return nil, fmt.Errorf("control groups: %w", errors.ErrUnsupported)
}

// Path is empty.
func (*Containment) Path() string { return "" }

// Close does nothing.
func (*Containment) Close() error { return nil }

// EndContainment does nothing: there can't be one.
func EndContainment(context.Context, string, Grace) error { return nil }

func (*Containment) newTree() *treeCage { return nil }

type treeCage struct{}

func (*treeCage) enter(*syscall.SysProcAttr) (leave func()) { return func() {} }
func (*treeCage) Populated() (bool, error)                  { return false, nil }
func (*treeCage) Kill() error                               { return nil }
func (*treeCage) remove()                                   {}

// Reaper can't be had here.
type Reaper struct{}

// NewReaper is refused: orphans never come to us.
func NewReaper(*OSLauncher, Mark) (*Reaper, error) {
	return nil, fmt.Errorf("reaper: %w", errors.ErrUnsupported)
}

// Run waits for the end of ctx.
func (*Reaper) Run(ctx context.Context, _ <-chan os.Signal) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// Reap finds nothing.
func (*Reaper) Reap() (int, error) { return 0, nil }

// Adopted finds nothing.
func (*Reaper) Adopted() ([]Info, error) { return nil, nil }

// EndAdopted finds nothing.
func (*Reaper) EndAdopted(context.Context, Grace) error { return nil }
