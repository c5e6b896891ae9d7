//go:build unix

package procscan

import (
	"context"
	"errors"
)

// OSLauncher is the Launcher of this machine.
type OSLauncher struct{}

// Option sets up an OSLauncher.
type Option func(*OSLauncher)

// NewLauncher gives a launcher of real processes.
func NewLauncher(options ...Option) *OSLauncher {
	l := &OSLauncher{}
	for _, option := range options {
		option(l)
	}
	return l
}

// Launch implements Launcher.
func (l *OSLauncher) Launch(ctx context.Context, spec Spec) (Child, error) {
	return nil, &StartError{Argv0: spec.Argv[0], Dir: spec.Dir, Diagnosis: "not built yet", Err: errors.ErrUnsupported}
}

// LookPath finds a program.
func LookPath(name, dir, pathEnv string) (string, error) { return name, nil }
