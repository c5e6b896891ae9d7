// Package servers finds the real language servers that tests run against.
package servers

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Find gives the path of a program: from PATH, else from the directory that
// HEARTH_TEST_BIN names. Where it is in neither, the test is skipped, or fails if
// HEARTH_REQUIRE_REAL is set, so that CI can't turn green by testing nothing.
func Find(t testing.TB, program string) string {
	t.Helper()
	if path, err := exec.LookPath(program); err == nil {
		return path
	}
	if dir := os.Getenv("HEARTH_TEST_BIN"); dir != "" {
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path
		}
	}
	Missing(t, "no program "+program+" in PATH or HEARTH_TEST_BIN")
	return ""
}

// Network is for tests that download something.
func Network(t testing.TB) {
	t.Helper()
	if os.Getenv("HEARTH_REQUIRE_REAL") == "" {
		t.Skip("downloads; set HEARTH_REQUIRE_REAL=1 to run it")
	}
}

// Missing skips the test for want of something, or fails it if HEARTH_REQUIRE_REAL is
// set.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("HEARTH_REQUIRE_REAL") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}
