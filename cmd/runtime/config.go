package main

import (
	"github.com/spf13/cobra"

	"github.com/seed-f6977891/hearth/cmd/runtime/internal/render"
)

func (a *app) config() *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Print every setting, its value in force and where that came from",
		Long: `Print every setting, its value in force and where that came from.

A flag of a setting's name (--idle 5m) counts before the environment, that before
the configuration file, and that before the default. With --json each setting shows
its environment variables, what it may be and what it means, too.`,
		Args: arguments(cobra.NoArgs, "config"),
		RunE: func(*cobra.Command, []string) error {
			cfg, err := a.load()
			if err != nil {
				return err
			}
			rows := cfg.Table(a.origins)
			if a.json {
				return a.printJSON(rows)
			}
			return a.print(render.Settings(rows))
		},
	}
}
