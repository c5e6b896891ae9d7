package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f6977891/hearth/cmd/runtime/internal/render"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

// Exit codes of a watched command that are not its own. 126 and 127 are those of
// shells, the others those of GNU timeout.
const (
	exitUnwatched = 125 // the build could not be monitored
	exitNotRun    = 126
	exitNotFound  = 127
)

// slowestShown is how many files the table at the end has.
const slowestShown = 10

// exitStatus ends the program with a code of its own, when all has been said.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func (a *app) watch() *cobra.Command {
	const usage = "watch [flags] -- COMMAND [ARGUMENT...]"
	build := supervisor.Build{PerFile: 600 * time.Second, Limit: time.Hour, Interval: 250 * time.Millisecond, Grace: 2 * time.Second}
	var report string
	cmd := &cobra.Command{
		Use:   usage,
		Short: "Run a build, and end it when one file's compile takes too long",
		Args:  arguments(cobra.MinimumNArgs(1), usage),
		RunE: func(cmd *cobra.Command, args []string) error {
			build.Argv = args
			return a.runWatch(cmd.Context(), build, report)
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // the command has flags of its own
	duration := func(at *time.Duration, name, help string) {
		flags.Func(name, fmt.Sprintf("%s (default %s)", help, config.FormatDuration(*at)), func(text string) (err error) {
			*at, err = config.ParseDuration(text)
			return err
		})
	}
	duration(&build.PerFile, "per-file", "how long one file's compile may take, 0 for no limit")
	duration(&build.Limit, "limit", "how long the whole command may take, 0 for no limit")
	duration(&build.Interval, "interval", "between two looks at its processes")
	duration(&build.Grace, "grace", "between SIGTERM and SIGKILL when it is ended")
	flags.StringVar(&build.Match, "match", "", "which processes are compiles: lean, cc, go, or a regular expression over the command line with one group for the file (default: the first three)")
	flags.StringVar(&report, "report", "", "write times and memory of the files there, as JSON")
	return cmd
}

func (a *app) runWatch(ctx context.Context, build supervisor.Build, reportFile string) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	if build.Dir, err = absolute(a.project); err != nil {
		return err
	}
	if build.Dir, err = config.CanonicalRoot(build.Dir); err != nil {
		return err
	}
	if _, err := procscan.LookPath(build.Argv[0], build.Dir, a.environ("PATH")); err != nil {
		return a.notRun(err)
	}
	build.Stdio = &procscan.Stdio{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	ctx, stop := interruptible(ctx)
	defer stop()
	rt, err := supervisor.Start(ctx, cfg, supervisor.WithLogger(a.logger(cfg)), supervisor.WithGuard())
	if err != nil {
		return a.unwatched(err)
	}
	w := watchLine{app: a, quiet: a.width > 0 && stopsWriters(os.Stderr)}
	report, failure := rt.WatchBuild(ctx, build, w.hear)
	w.end()
	// There is nothing that should still finish in order.
	if err := rt.Close(); err != nil && failure == nil {
		failure = err
	}
	if messages.KindOf(failure) == messages.KindUnreaped { // which changes nothing of what is known
		a.complain(failure)
		if report.ExitCode == 0 {
			report.ExitCode = exitUnwatched
		}
		failure = nil
	}
	if failure != nil {
		return a.watchFailed(ctx, report, failure)
	}
	return a.watched(report, build.Match, reportFile)
}

// watched says what a build that was watched to its end has taken.
func (a *app) watched(report supervisor.BuildReport, match, file string) error {
	fmt.Fprint(a.stderr, render.Slowest(report, slowestShown))
	if report.Compiles == 0 && match != "" {
		fmt.Fprintf(a.stderr, "hearth: no process was seen that --match %s fits\n", match)
	}
	var err error
	if a.json {
		err = a.printJSON(report)
	}
	if file != "" {
		err = errors.Join(err, writeReport(file, report))
	}
	if err != nil {
		a.complain(err)
		if report.ExitCode == 0 {
			return exitStatus(exitUnwatched)
		}
	}
	if report.ExitCode < 0 {
		return a.unwatched(messages.Errorf(messages.KindInternal, "the command's exit code is unknown: somebody else took it"))
	}
	return exitStatus(report.ExitCode)
}

func writeReport(file string, report supervisor.BuildReport) error {
	text, err := json.MarshalIndent(report, "", "  ")
	if err == nil {
		err = os.WriteFile(file, append(text, '\n'), 0o644)
	}
	if err != nil {
		return messages.Errorf(messages.KindInternal, "cannot write the report: %w", err)
	}
	return nil
}

// watchFailed gives the exit code of a build that was not watched to its end.
func (a *app) watchFailed(ctx context.Context, report supervisor.BuildReport, err error) error {
	switch messages.KindOf(err) {
	case messages.KindInvalid:
		return err
	case messages.KindProcess:
		return a.notRun(err)
	case messages.KindCancelled:
		a.complain(err)
		if report.ExitCode >= 0 {
			return exitStatus(report.ExitCode)
		}
		return exitStatus(interruptCode(ctx))
	}
	return a.unwatched(err)
}

// notRun says, with the codes of shells, why the command could not be run.
func (a *app) notRun(err error) error {
	a.complain(err)
	if errors.Is(err, fs.ErrNotExist) {
		return exitStatus(exitNotFound)
	}
	return exitStatus(exitNotRun)
}

// unwatched says why there is no watching a build. What is wrong with the user's
// input keeps the code that it has everywhere.
func (a *app) unwatched(err error) error {
	if messages.KindOf(err) == messages.KindInvalid {
		return err
	}
	a.complain(err)
	a.annotate("", err.Error())
	return exitStatus(exitUnwatched)
}
