package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// runFlags are those of one `hearth run`.
type runFlags struct {
	language string
	timeout  time.Duration
}

func (a *app) run() *cobra.Command {
	const usage = "run [FILE]"
	var flags runFlags
	cmd := &cobra.Command{
		Use:   usage,
		Short: "Run code in the project's REPL pool; - or no FILE: standard input",
		Args:  arguments(cobra.MaximumNArgs(1), usage),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runRun(cmd.Context(), flags, slices.Concat(args, []string{"-"})[0])
		},
	}
	cmd.Flags().StringVar(&flags.language, "language", "", "the code's language (default: by the file's extension, else by the project's markers)")
	cmd.Flags().Func("timeout", "for waiting for a worker and running together, such as 90s (default: repl.timeout)", func(text string) error {
		var err error
		flags.timeout, err = config.ParseDuration(text)
		return err
	})
	return cmd
}

func (a *app) runRun(ctx context.Context, flags runFlags, file string) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	snippet, err := a.snippet(cfg, flags, file)
	if err != nil {
		return err
	}
	return a.withShared(ctx, cfg, func(eng engine) error {
		done := a.progress(ctx, eng)
		report, err := eng.RunCode(ctx, snippet)
		done()
		if err != nil {
			return a.unfinished(err)
		}
		if a.json {
			err = a.printJSON(wire.Run(report, wire.FormatJSON))
		} else {
			err = a.print(wire.RunText(report) + "\n")
		}
		if err == nil && hasErrors(report) {
			return errFindings
		}
		return err
	})
}

// unfinished prints what code had printed whose time ended. For a program that is part
// of the error.
func (a *app) unfinished(err error) error {
	if ran := (*messages.RunError)(nil); !a.json && errors.As(err, &ran) {
		if report, known := ran.SoFar(); known {
			return cmp.Or(a.print(wire.RunText(report)+"\n"), err)
		}
	}
	return err
}

// snippet reads the code and finds the project that it is to run in.
func (a *app) snippet(cfg config.Config, flags runFlags, file string) (supervisor.Snippet, error) {
	snippet := supervisor.Snippet{Language: flags.language, Timeout: flags.timeout}
	dir := "."
	if file != "-" {
		dir = filepath.Dir(file)
		if language, ok := cfg.LanguageOf(file); ok && snippet.Language == "" {
			snippet.Language = language.Name
		}
	}
	var err error
	if snippet.Project, err = a.projectAt(cfg, snippet.Language, dir, true); err != nil {
		return snippet, err
	}
	request := config.Request{Project: snippet.Project, Language: snippet.Language, NeedREPL: true}
	if _, err := config.Resolve(cfg, request); err != nil {
		return snippet, err
	}
	snippet.Code, err = a.read(file)
	return snippet, err
}

// projectAt is the directory that --project names, else the nearest project of the
// language at or above dir; of any language, where none is named.
func (a *app) projectAt(cfg config.Config, language, dir string, needREPL bool) (string, error) {
	if a.project != "" {
		return absolute(a.project)
	}
	dir, err := absolute(dir)
	if err != nil {
		return "", err
	}
	if profile, ok := cfg.Languages[language]; ok {
		return config.Nearest(dir, profile)
	}
	project, _, err := cfg.NearestOfAny(dir, needREPL)
	return project, err
}

func (a *app) read(file string) (string, error) {
	var code []byte
	var err error
	if file == "-" {
		code, err = io.ReadAll(a.stdin)
	} else {
		code, err = os.ReadFile(file)
	}
	if err != nil {
		return "", messages.Invalidf("cannot read the code: %w", err)
	}
	return string(code), nil
}

func hasErrors(r supervisor.RunReport) bool {
	return r.Error != "" || slices.ContainsFunc(r.Messages, func(m messages.Message) bool { return m.Severity == "error" })
}
