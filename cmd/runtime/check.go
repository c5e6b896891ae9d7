package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/seed-f6977891/hearth/cmd/runtime/internal/render"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
)

func (a *app) check() *cobra.Command {
	const usage = "check FILE..."
	return &cobra.Command{
		Use:   usage,
		Short: "Print what the language server finds in files, as a compiler would; exit 1 if there are errors",
		Args:  arguments(cobra.MinimumNArgs(1), usage),
		RunE:  func(cmd *cobra.Command, files []string) error { return a.runCheck(cmd.Context(), files) },
	}
}

// checked is one file of a check. Positions in JSON are LSP's: from 0, in UTF-16.
type checked struct {
	File        string                  `json:"file"`        // as it was named
	Diagnostics []supervisor.Diagnostic `json:"diagnostics"` // null where there is an error
	Error       string                  `json:"error,omitempty"`

	doc supervisor.Document
	err error
}

func (a *app) runCheck(ctx context.Context, names []string) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	files := make([]checked, len(names))
	for i, name := range names {
		files[i].File = name
		if files[i].doc, err = a.locate(cfg, name); err != nil {
			return err
		}
	}
	return a.withShared(ctx, cfg, func(eng engine) error {
		done := a.progress(ctx, eng)
		var calls errgroup.Group
		for i := range files {
			calls.Go(func() error { return files[i].ask(ctx, eng) })
		}
		_ = calls.Wait() // each file keeps its own error
		done()
		if err := a.printChecked(files); err != nil {
			return err
		}
		return a.verdict(files)
	})
}

func (c *checked) ask(ctx context.Context, eng engine) error {
	report, err := eng.Diagnostics(ctx, c.doc)
	if err != nil {
		c.err, c.Error = err, err.Error()
		return err
	}
	c.Diagnostics = append([]supervisor.Diagnostic{}, report.Diagnostics...) // never null
	return nil
}

func (a *app) printChecked(files []checked) error {
	if a.json {
		return a.printJSON(files)
	}
	var text strings.Builder
	for _, c := range files {
		source, _ := os.ReadFile(c.doc.File) // gone meanwhile: columns stay as the server counts them
		text.WriteString(render.Diagnostics(c.File, source, c.Diagnostics))
	}
	return a.print(text.String())
}

// verdict gives the first error; the others are only printed. An error counts before
// findings, since with it not all of them are known.
func (a *app) verdict(files []checked) error {
	var first error
	findings := false
	for _, c := range files {
		findings = findings || slices.ContainsFunc(c.Diagnostics, func(d supervisor.Diagnostic) bool {
			return d.Severity == messages.SeverityError
		})
		switch {
		case c.err == nil:
		case first == nil:
			first = fmt.Errorf("%s: %w", c.File, c.err)
		default:
			a.complain(fmt.Errorf("%s: %w", c.File, c.err))
		}
	}
	if first == nil && findings {
		return errFindings
	}
	return first
}
