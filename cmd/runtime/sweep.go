package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f6977891/hearth/cmd/runtime/internal/render"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

// leftover is what one dead runtime left, as --json prints it.
type leftover struct {
	PID       int    `json:"pid"` // the runtime's own
	File      string `json:"file"`
	Processes []int  `json:"processes"`
	Error     string `json:"error,omitempty"`
}

func (a *app) sweep() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "End the process trees that runtimes of yours left when they were killed",
		Args:  arguments(cobra.NoArgs, "sweep [--dry-run]"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.runSweep(cmd.Context(), dryRun)
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be ended")
	return cmd
}

func (a *app) runSweep(ctx context.Context, dryRun bool) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	found, failure := supervisor.SweepLeftovers(ctx, cfg.Dir(), dryRun)
	if failure != nil && len(found) == 0 {
		return failure
	}
	if a.json {
		err = a.printJSON(leftoversJSON(found))
	} else {
		err = a.print(leftoversText(found, dryRun, cfg.Dir()))
	}
	if err != nil {
		return err
	}
	return failure // which the output tells too, but not by an exit code
}

func leftoversJSON(found []supervisor.Leftover) []leftover {
	list := make([]leftover, len(found))
	for i, left := range found {
		list[i] = leftover{PID: left.PID, File: left.File, Processes: pids(left)}
		if left.Err != nil {
			list[i].Error = left.Err.Error()
		}
	}
	return list
}

func leftoversText(found []supervisor.Leftover, dryRun bool, dir string) string {
	if len(found) == 0 {
		return "No runtime that died has left anything in " + dir + ".\n"
	}
	var text strings.Builder
	for _, left := range found {
		fmt.Fprintln(&text, leftoverText(left, dryRun))
	}
	return text.String()
}

func leftoverText(left supervisor.Leftover, dryRun bool) string {
	whose := fmt.Sprintf("runtime %d", left.PID)
	if left.PID == 0 {
		whose = left.File // it couldn't be read
	}
	did := "ended"
	if dryRun {
		did = "would be ended"
	}
	switch {
	case left.Err != nil:
		return fmt.Sprintf("%s: %v", whose, left.Err)
	case len(left.Processes) == 0:
		return whose + ": no process of it is left"
	}
	return fmt.Sprintf("%s: %s: %s", whose, did, strings.Trim(fmt.Sprint(pids(left)), "[]"))
}

func pids(left supervisor.Leftover) []int {
	list := make([]int, len(left.Processes))
	for i, p := range left.Processes {
		list[i] = p.PID
	}
	return list
}

// leftoverFacts is doctor's view: what there is to sweep, without touching it.
func leftoverFacts(ctx context.Context, cfg config.Config) []render.Fact {
	found, err := supervisor.SweepLeftovers(ctx, cfg.Dir(), true)
	if err != nil && len(found) == 0 {
		return []render.Fact{{Name: "of dead runtimes", Text: err.Error()}}
	}
	if len(found) == 0 {
		return []render.Fact{{Name: "of dead runtimes", OK: true, Text: "none"}}
	}
	var facts []render.Fact
	for _, left := range found {
		facts = append(facts, render.Fact{Name: "of dead runtimes", Text: leftoverText(left, true) + " (run hearth sweep)"})
	}
	return facts
}
