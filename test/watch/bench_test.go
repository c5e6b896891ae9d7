package watch_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	costCompiles = 2000
	// costLimit is how much longer a watched build may take, as a median of pairs; with
	// fewer pairs than costPairs it is only reported, since the machine is shared.
	costLimit = 1.03
	costPairs = 5
)

// cost is what one build took.
type cost struct{ wall, cpu float64 } // seconds

// BenchmarkWatchCost builds 2,000 files that take no time to compile, once watched and
// once not, by turns. Run it with -benchtime=7x or more, on a machine that has nothing
// else to do: the ratio of processor time says what the watcher does, that of time on
// the clock also what others did.
func BenchmarkWatchCost(b *testing.B) {
	need(b, "make", "gcc")
	dir := b.TempDir()
	var objects strings.Builder
	for i := range costCompiles {
		fmt.Fprintf(&objects, " o/%d.o", i)
	}
	write(b, 0o644, "all:"+objects.String()+"\no/%.o: one.c\n\t@gcc -c -o $@ one.c\n", dir, "Makefile")
	write(b, 0o644, "int one;\n", dir, "one.c")
	var wall, cpu []float64
	for turn := 0; b.Loop(); turn++ {
		var watched, alone cost
		if turn%2 == 0 {
			alone, watched = build(b, dir, false), build(b, dir, true)
		} else {
			watched, alone = build(b, dir, true), build(b, dir, false)
		}
		b.Logf("alone %.2f, watched %.2f", alone, watched)
		wall, cpu = append(wall, watched.wall/alone.wall), append(cpu, watched.cpu/alone.cpu)
	}
	b.ReportMetric(median(wall), "time-ratio")
	b.ReportMetric(median(cpu), "cpu-ratio")
	b.ReportMetric(0, "ns/op") // of a pair, which says nothing
	if len(wall) >= costPairs && median(wall) > costLimit {
		b.Errorf("a watched build takes %.3f times as long, want at most %.2f (%.3f)", median(wall), costLimit, wall)
	}
}

// build builds everything anew.
func build(b *testing.B, dir string, watched bool) cost {
	b.Helper()
	objects := filepath.Join(dir, "o")
	require.NoError(b, os.RemoveAll(objects))
	require.NoError(b, os.Mkdir(objects, 0o755))
	command := exec.Command("make", "-j2")
	command.Dir = dir
	if watched {
		command = watching(b, dir, "--", "make", "-j2").Cmd
	}
	began := time.Now()
	require.NoError(b, command.Run())
	wall := time.Since(began)
	return cost{wall.Seconds(), (command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Seconds()}
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
