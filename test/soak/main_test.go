package soak_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

var (
	minutes = flag.Float64("soak.minutes", 0.25, "how long the agents work")
	seed    = flag.Uint64("soak.seed", uint64(time.Now().UnixNano()), "what all draws come from")
)

// builds are two builds of the program that differ in nothing but their build ids. They
// take turns in being the newer one.
var builds [2]string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "hearth-soak-")
	for i := range builds {
		builds[i] = filepath.Join(dir, fmt.Sprintf("hearth-%d", i))
		if err == nil && !testing.Short() {
			err = build(builds[i], i)
		}
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

func build(file string, number int) error {
	output, err := exec.Command("go", "build", "-o", file, fmt.Sprintf("-ldflags=-X main.build=%d", number), "../../cmd/runtime").CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build: %w\n%s", err, output)
	}
	return nil
}
