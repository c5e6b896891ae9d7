package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f6977891/hearth/messages"
)

// stubbornLife ends a demo's child that, against all that the demo is to show, was
// left behind.
const stubbornLife = 10 * time.Minute

// wait is the child that the demo makes a language server start: the worst that real
// ones leave behind. It moves into a session of its own, where no signal to the
// server's process group reaches it, and ignores SIGTERM.
func (a *app) wait() *cobra.Command {
	return &cobra.Command{
		Use:    "wait PIDFILE",
		Hidden: true,
		Args:   arguments(cobra.MinimumNArgs(1), "wait PIDFILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
			if _, err := syscall.Setsid(); err != nil {
				return messages.Errorf(messages.KindInternal, "cannot leave the session: %w", err)
			}
			if err := writePID(args[0]); err != nil {
				return messages.Errorf(messages.KindInternal, "%w", err)
			}
			select {
			case <-cmd.Context().Done():
			case <-time.After(stubbornLife):
			}
			return nil
		},
	}
}

// writePID makes the file appear with all of its content.
func writePID(file string) error {
	part := filepath.Join(filepath.Dir(file), fmt.Sprintf(".pid-%d", os.Getpid()))
	if err := os.WriteFile(part, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return err
	}
	return os.Rename(part, file)
}
