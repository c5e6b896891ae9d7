//go:build linux

package soak_test

import (
	"flag"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"
)

var (
	minutes = flag.Float64("soak.minutes", 0.25, "how long the agents work")
	seed    = flag.Uint64("soak.seed", uint64(time.Now().UnixNano()), "what all draws come from")
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// build makes one of the two builds of the program, which differ in nothing but their
// build ids. They take turns in being the newer one.
func build(file string, number int) error {
	output, err := exec.Command("go", "build", "-o", file, fmt.Sprintf("-ldflags=-X main.build=%d", number), "../../cmd/runtime").CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build: %w\n%s", err, output)
	}
	return nil
}
