package watch_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sync/errgroup"

	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/leftovers"
)

const (
	// stormWord as the first argument makes the test binary a storm of processes.
	stormWord = "watch-storm"
	stormLife = 60 * time.Second
	// stormRate is how many processes each of the three loops starts in a second.
	stormRate = 40
	sweeps    = 200
)

// storm starts short processes for a time, three loops at once: in the watched tree
// and below another process of it.
func storm(args []string) int {
	life, err := time.ParseDuration(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	var started atomic.Int64
	var loops errgroup.Group
	end := time.Now().Add(life)
	for loop := range 3 {
		loops.Go(func() error {
			ticks := time.NewTicker(time.Second / stormRate)
			defer ticks.Stop()
			for time.Now().Before(end) {
				<-ticks.C
				file := fmt.Sprintf("f%d.c", started.Add(1))
				commands := [][]string{{"true", "-c", file}, {"sh", "-c", "true -c " + file + " & wait"}, {"sh", "-c", "(true -c " + file + " &)"}}
				if output, err := exec.Command(commands[loop][0], commands[loop][1:]...).CombinedOutput(); err != nil {
					return fmt.Errorf("%s: %w: %s", file, err, output)
				}
			}
			return nil
		})
	}
	if err := loops.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(started.Load())
	return 0
}

// Reported fault 30: a process that ended between the open and the read of its file in
// /proc was taken for an error, and healthy builds failed at random.
func TestReportedFault30ShortProcessesAreNoError(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	self, err := os.Executable()
	assert.NoError(t, err)
	w := watching(t, t.TempDir(), "--interval", "20ms", "--", self, stormWord, stormLife.String())
	assert.NoError(t, w.Start())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var sweepers errgroup.Group
	var swept atomic.Int64
	for range sweeps {
		sweepers.Go(func() error { return sweepAgainAndAgain(ctx, &swept) })
	}
	code := w.wait(t)
	cancel()
	assert.NoError(t, sweepers.Wait())
	assert.Zero(t, code, w.stderr.String())
	assert.NotContains(t, w.stderr.String(), "hearth:", "no complaint")
	started, err := strconv.Atoi(strings.TrimSpace(w.stdout.String()))
	assert.NoError(t, err)
	t.Logf("%d processes, %d sweeps, %d compiles seen", started, swept.Load(), w.read(t).Compiles)
	assert.GreaterOrEqual(t, swept.Load(), int64(sweeps), "each has swept")
	assert.NotZero(t, started)
}

// sweepAgainAndAgain ends trees that aren't there, as a busy runtime's sweepers do.
func sweepAgainAndAgain(ctx context.Context, swept *atomic.Int64) error {
	rest := time.NewTicker(time.Second)
	defer rest.Stop()
	for {
		target := procscan.Target{Mark: procscan.NewMark(procscan.SessionVar)}
		if err := procscan.Sweep(context.WithoutCancel(ctx), procscan.SystemTable(), target, leftovers.Patient); err != nil {
			return err
		}
		swept.Add(1)
		select {
		case <-rest.C:
		case <-ctx.Done():
			return nil
		}
	}
}
