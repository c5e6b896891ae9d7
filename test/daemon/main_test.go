// Package daemon_test runs the built program as clients of every kind would: by its
// commands, by its socket, and by the Model Context Protocol.
package daemon_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// built is the directory of the built programs.
var built string

// program is the built hearth.
var program string

func TestMain(m *testing.M) {
	if path := os.Getenv(lineEcho); path != "" {
		serveLineEcho(path)
	}
	if server := os.Getenv(relay); server != "" {
		serveRelay(server)
	}
	dir, err := os.MkdirTemp("", "hearth-daemon-")
	if err == nil {
		built, program = dir, filepath.Join(dir, "hearth")
		err = build(program)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

func build(file string, flags ...string) error {
	args := append([]string{"build", "-o", file}, flags...)
	output, err := exec.Command("go", append(args, "../../cmd/runtime")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build: %w\n%s", err, output)
	}
	return nil
}

// secondBuild is another build of the same source.
var secondBuild = sync.OnceValues(func() (string, error) {
	file := filepath.Join(built, "hearth-2")
	return file, build(file, "-ldflags=-X main.second=build")
})
