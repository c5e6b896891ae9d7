package main

import (
	"context"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

func (a *app) hover() *cobra.Command {
	const usage = "hover FILE:LINE:COLUMN"
	return &cobra.Command{
		Use:   usage,
		Short: "Print the type and documentation of what stands at a place, counted from 1 as compilers print it",
		Args:  arguments(cobra.ExactArgs(1), usage),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.runHover(cmd.Context(), args[0]) },
	}
}

func (a *app) runHover(ctx context.Context, place string) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	file, line, column, err := splitPlace(place)
	if err != nil {
		return err
	}
	doc, err := a.locate(cfg, file)
	if err != nil {
		return err
	}
	source, err := os.ReadFile(doc.File)
	if err != nil {
		return messages.Invalidf("%w", err)
	}
	at, err := supervisor.CharacterPosition(source, line, column)
	if err != nil {
		return messages.Invalidf("%s: %w", place, err)
	}
	return a.withShared(ctx, cfg, func(eng engine) error {
		done := a.progress(ctx, eng)
		report, err := eng.Hover(ctx, doc, at)
		done()
		switch {
		case err != nil:
			return err
		case a.json:
			return a.printJSON(wire.Hover(report, wire.FormatJSON))
		}
		return a.print(wire.HoverText(report) + "\n")
	})
}

// splitPlace takes a place apart from its end: a file's name may have colons.
func splitPlace(place string) (file string, line, column int, err error) {
	parts := strings.Split(place, ":")
	if len(parts) >= 3 {
		last := len(parts) - 1
		line, errLine := strconv.Atoi(parts[last-1])
		column, errColumn := strconv.Atoi(parts[last])
		file := strings.Join(parts[:last-1], ":")
		if errLine == nil && errColumn == nil && file != "" {
			return file, line, column, nil
		}
	}
	return "", 0, 0, messages.Invalidf("%q is not a place; want FILE:LINE:COLUMN, such as main.go:12:5", place)
}
