package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// app is one run of the program.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        func(string) string
	start          func(context.Context, config.Config, *slog.Logger) (engine, error)
	connect        func(context.Context, config.Config) (engine, error) // to the shared daemon; nil: it can't be had
	width          int                                                  // of the terminal that shows stderr; 0: it shows on none
	colour         bool                                                 // stdout is a terminal that shows colours
	inherited      []int                                                // descriptors that the program was started with

	json       bool
	project    string
	configFile string
	socket     string
	embedded   bool
	settings   map[string]string // from flags, by key
	origins    config.Origins    // of the settings, once they are loaded
}

// errFindings ends a command that has said already what is wrong with the code.
var errFindings = errors.New("the code has errors")

// execute runs one command and gives the program's exit code. An interrupt of the program
// ends its context.
func (a *app) execute(program context.Context, args []string) int {
	ctx, leave := context.WithCancel(program)
	defer leave()
	out := &output{to: a.stdout, left: leave}
	a.stdout = out
	root := a.root()
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	switch status := exitStatus(0); {
	case errors.As(err, &status):
		return int(status)
	case out.unread:
		return exitUnread
	case errors.Is(err, errFindings):
		return 1
	case err != nil:
		a.complain(err)
		if !out.used && command.Annotations[speaksProtocol] == "" && asksJSON(args) {
			_ = a.printJSON(failureOf(err)) // the code says it too
		}
	}
	if program.Err() != nil && messages.KindOf(err) == messages.KindOutcomeUnknown {
		return wire.ExitCode(context.Cause(program)) // interrupted, and a busy machine did not say in time what became of the call
	}
	return wire.ExitCode(err)
}

// complain prints an error as one line, however many it has.
func (a *app) complain(err error) {
	lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' })
	fmt.Fprintln(a.stderr, "hearth:", strings.Join(lines, " | "))
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "hearth",
		Short:         "Shared, warm, bounded language servers and REPLs that leave no process behind",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return messages.Invalidf("%w", err) })
	a.globalFlags(root)
	root.AddCommand(a.serve(), a.startDaemon(), a.status(), a.tree(), a.stop(), a.mcp(), a.check(), a.hover(), a.lsp(), a.run(), a.watch(), a.demo(), a.doctor(), a.sweep(), a.config(), a.version(), a.wait())
	return root
}

// globalFlags are those of every command. A setting's flag has the setting's key for
// its name; help doesn't list these, since `hearth config` does.
func (a *app) globalFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "print one JSON value instead of text")
	flags.StringVar(&a.project, "project", "", "the project's directory (default: the nearest above the file with a marker of its language)")
	flags.StringVar(&a.configFile, "config", "", "the configuration file; every setting in it is a flag too, such as --idle: see hearth config")
	flags.StringVar(&a.socket, "socket", "", "the daemon's socket (default: in runtime_dir, with a name for each installation and build)")
	flags.BoolVar(&a.embedded, "embedded", false, "run check, hover, lsp and run on an engine in this process, not on the shared daemon")
	a.settings = map[string]string{}
	for _, row := range config.Default().Table(nil) {
		flags.Func(row.Key, row.Help, func(text string) error {
			a.settings[row.Key] = text
			return nil
		})
		flags.Lookup(row.Key).Hidden = true
	}
}

// load computes the settings in force.
func (a *app) load() (config.Config, error) {
	cfg, origins, err := config.Load(a.sources())
	a.origins = origins
	return cfg, err
}

func (a *app) sources() config.Sources {
	return config.Sources{Flags: a.settings, ConfigFile: a.configFile, Environ: a.environ}
}

// knownCommand refuses a command that doesn't exist; without one there is help.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q; hearth --help lists them", args[0])
	if similar := root.SuggestionsFor(args[0]); len(similar) > 0 {
		text = fmt.Sprintf("unknown command %q; did you mean %s?", args[0], strings.Join(similar, " or "))
	}
	return messages.Invalidf("%s", text)
}

// arguments makes cobra's refusal of arguments one of bad input.
func arguments(check cobra.PositionalArgs, usage string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return messages.Invalidf("%w; usage: hearth %s", err, usage)
		}
		return nil
	}
}
