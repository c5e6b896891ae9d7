package procscan

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// The environment variables that carry hearth's marks.
const (
	// SessionVar is set to a value of its own for each tree.
	SessionVar = "_HEARTH_SESSION_TOKEN"
	// RuntimeVar is set to the same value in all trees of one runtime.
	RuntimeVar = "_HEARTH_RUNTIME_TOKEN"
)

// Mark is an environment entry by which a tree is found again, whatever became
// of its leader, groups and sessions. The kernel keeps the environment that a
// process was started with: unsetting the variable later doesn't hide it. Out
// of reach is what was started with a cleared environment, a program that
// overwrites its initial environment block, and for an ordinary user one that the
// kernel lets nobody look into.
type Mark struct{ Var, Value string }

// NewMark gives the variable name a value that nobody else has: 16 random bytes
// in hexadecimal.
func NewMark(name string) Mark {
	var raw [16]byte
	rand.Read(raw[:]) // never fails: crypto/rand ends the program instead
	return Mark{Var: name, Value: hex.EncodeToString(raw[:])}
}

// Validate refuses a mark that could match what isn't ours: above all an empty
// value, which would match nothing of a tree or, cut short, everything.
func (m Mark) Validate() error {
	switch {
	case m.Var == "" || strings.ContainsAny(m.Var, "=\x00"):
		return fmt.Errorf("mark: %q can't name an environment variable", m.Var)
	case m.Value == "":
		return errors.New("mark: the value of " + m.Var + " is empty")
	case strings.ContainsRune(m.Value, 0):
		return errors.New("mark: the value of " + m.Var + " contains a NUL byte")
	}
	return nil
}

// Env gives the entry of an environment block, VAR=VALUE.
func (m Mark) Env() string { return m.Var + "=" + m.Value }
