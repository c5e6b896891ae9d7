package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"text/tabwriter"
	"time"
)

// measured is a figure with what was found.
type measured struct {
	figure
	Value float64 `json:"value"` // the best of the tries
	Tries int     `json:"tries"`
	Held  bool    `json:"held"`
}

func main() {
	asJSON := flag.Bool("json", false, "print JSON")
	tries := flag.Int("tries", 3, "how often a missed figure is measured before it counts as missed")
	only := flag.String("only", "", "measure only figures that this regular expression matches")
	flag.Parse()
	wanted, err := regexp.Compile(*only)
	if err != nil || *tries < 1 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	results := make([]measured, 0, len(figures))
	for _, f := range figures {
		if wanted.MatchString(f.What) {
			results = append(results, measured{figure: f})
		}
	}
	if err := measure(results, *tries, runBenchmarks); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	if err := report(os.Stdout, results, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	for _, r := range results {
		if !r.Held {
			os.Exit(1)
		}
	}
}

// report prints the results as a table with the machine and the date, or as JSON.
func report(w io.Writer, results []measured, asJSON bool) error {
	machine := fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	date := time.Now().UTC().Format(time.DateOnly)
	if asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(map[string]any{"date": date, "machine": machine, "figures": results})
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s\t%s\n\nfigure\tmeasured\tlimit\ttries\t\n", date, machine)
	for _, r := range results {
		verdict := ""
		if !r.Held {
			verdict = "MISSED"
		}
		fmt.Fprintf(table, "%s\t%.3g\t%g\t%d\t%s\n", r.What, r.Value, r.Limit, r.Tries, verdict)
	}
	return table.Flush()
}
