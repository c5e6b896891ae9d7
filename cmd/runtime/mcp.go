package main

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/cmd/runtime/internal/mcp"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/client"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

func (a *app) mcp() *cobra.Command {
	return &cobra.Command{
		Use:         "mcp",
		Short:       "Serve the Model Context Protocol on standard input and output, until the input ends",
		Annotations: map[string]string{speaksProtocol: "mcp"},
		Args:        arguments(cobra.NoArgs, "mcp"),
		RunE:        func(cmd *cobra.Command, _ []string) error { return a.runMCP(cmd.Context()) },
	}
}

func (a *app) runMCP(ctx context.Context) error {
	return a.withDaemon(func(cfg config.Config, c *client.Client) error {
		input, output, err := ownStdio()
		if err != nil {
			return messages.Errorf(messages.KindInternal, "cannot take standard input and output: %w", err)
		}
		build, _ := debug.ReadBuildInfo() // nil where there is none
		return mcp.Serve(ctx, c, describeBuild(build).Version, input, output, a.logger(cfg))
	})
}

// ownStdio moves the protocol's two ends to descriptors that no child inherits, and puts
// harmless ones in their place: whatever else of this program reads standard input finds
// its end, and what it prints goes to standard error, not between two messages.
func ownStdio() (input, output *os.File, err error) {
	if input, err = moved(unix.Stdin, "stdin"); err != nil {
		return nil, nil, err
	}
	if output, err = moved(unix.Stdout, "stdout"); err != nil {
		return nil, nil, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	if err := unix.Dup2(int(null.Fd()), unix.Stdin); err != nil {
		return nil, nil, err
	}
	return input, output, unix.Dup2(unix.Stderr, unix.Stdout)
}

func moved(fd int, name string) (*os.File, error) {
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(own), name), nil
}
