package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// key is one metric of one benchmark.
type key struct{ bench, metric string }

// runner runs the named top-level benchmarks of a package and gives their metrics.
type runner func(pkg string, benchmarks []string) (map[key]float64, error)

// measure fills in the results. A package is run as long as one of its figures is
// missed, at most tries times, and only for the benchmarks of those.
func measure(results []measured, tries int, run runner) error {
	for try := 1; try <= tries; try++ {
		for _, pkg := range missedPackages(results) {
			metrics, err := run(pkg, missedBenchmarks(results, pkg))
			if err != nil {
				return err
			}
			for i := range results {
				r := &results[i]
				if r.Package != pkg || r.Held {
					continue
				}
				value, found := metrics[key{r.Bench, r.Metric}]
				if !found {
					return fmt.Errorf("%s: Benchmark%s reports no %s", pkg, r.Bench, r.Metric)
				}
				if r.Tries == 0 || value < r.Value {
					r.Value = value
				}
				r.Tries, r.Held = try, r.Value <= r.Limit
			}
		}
	}
	return nil
}

func missedPackages(results []measured) []string {
	var packages []string
	for _, r := range results {
		if !r.Held && !slices.Contains(packages, r.Package) {
			packages = append(packages, r.Package)
		}
	}
	return packages
}

func missedBenchmarks(results []measured, pkg string) []string {
	var names []string
	for _, r := range results {
		top, _, _ := strings.Cut(r.Bench, "/")
		if r.Package == pkg && !r.Held && !slices.Contains(names, top) {
			names = append(names, top)
		}
	}
	return names
}

// runBenchmarks runs them through the go command, in the repository's root.
func runBenchmarks(pkg string, benchmarks []string) (map[key]float64, error) {
	pattern := "^Benchmark(" + strings.Join(benchmarks, "|") + ")$"
	benchtime := cmp.Or(benchtimes[pkg], "1s")
	cmd := exec.Command("go", "test", "-run=^$", "-bench="+pattern, "-benchtime="+benchtime, "-timeout=20m", "./"+pkg)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	metrics, parseErr := parse(out)
	if parseErr != nil {
		return nil, parseErr
	}
	if err != nil && len(metrics) == 0 {
		return nil, fmt.Errorf("%s: %w\n%s", pkg, err, out)
	}
	return metrics, nil // a benchmark that judged itself has reported before it failed
}

// procs is the suffix by which the testing package tells GOMAXPROCS.
var procs = regexp.MustCompile(`-\d+$`)

func parse(output []byte) (map[key]float64, error) {
	metrics := make(map[key]float64)
	reader := benchfmt.NewReader(bytes.NewReader(output), "go test")
	for reader.Scan() {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue // what tests print between the results
		}
		for _, value := range result.Values {
			unit, number := value.Unit, value.Value
			if value.OrigUnit != "" { // benchfmt has turned ns into sec, for example
				unit, number = value.OrigUnit, value.OrigValue
			}
			metrics[key{procs.ReplaceAllString(result.Name.String(), ""), unit}] = number
		}
	}
	return metrics, reader.Err()
}
