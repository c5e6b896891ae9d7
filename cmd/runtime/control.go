package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f6977891/hearth/cmd/runtime/internal/render"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/client"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/supervisor/wire"
)

// answerTimeout is for what a daemon answers from memory.
const answerTimeout = 10 * time.Second

func (a *app) startDaemon() *cobra.Command {
	return &cobra.Command{
		Use:   "start",
		Short: "Make sure that the daemon runs, and print which one that is",
		Args:  arguments(cobra.NoArgs, "start"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withDaemon(func(_ config.Config, c *client.Client) error {
				ping, err := c.Ping(cmd.Context())
				if err != nil {
					return err
				}
				return a.printJSON(ping)
			})
		},
	}
}

func (a *app) status() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Print what the daemon has running; exit 1 if none runs",
		Args:  arguments(cobra.NoArgs, "status"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			project := a.project
			if project != "" {
				var err error
				if project, err = absolute(project); err != nil {
					return err
				}
			}
			var status wire.Status
			return a.show(cmd.Context(), wire.MethodStatus, wire.StatusParams{Project: project}, &status,
				func(socket string) string { return render.Daemon(status, socket, a.colour) })
		},
	}
}

func (a *app) tree() *cobra.Command {
	return &cobra.Command{
		Use:   "tree",
		Short: "Print the daemon's supervision tree: actors, states, processes, ages, memory",
		Args:  arguments(cobra.NoArgs, "tree"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var top []wire.Actor
			return a.show(cmd.Context(), wire.MethodTree, nil, &top, func(string) string { return render.Tree(top) })
		},
	}
}

// show prints what a running daemon says, as it said it or as text.
func (a *app) show(ctx context.Context, method string, params, result any, text func(socket string) string) error {
	return a.withRunning(func(_ config.Config, flaw error, c *client.Client) error {
		ctx, cancel := context.WithTimeout(ctx, answerTimeout)
		defer cancel()
		var raw json.RawMessage
		err := c.Call(ctx, method, params, &raw)
		switch {
		case errors.Is(err, client.ErrNotRunning) && flaw != nil:
			return flaw
		case errors.Is(err, client.ErrNotRunning):
			return a.noDaemon(c.Socket())
		case err != nil:
			return err
		case a.json:
			return a.printJSON(raw)
		}
		if err := json.Unmarshal(raw, result); err != nil {
			return &messages.ProtocolError{Method: method, Message: "the daemon's result can't be read: " + err.Error()}
		}
		return a.print(text(c.Socket()))
	})
}

// noDaemon says that none runs, which isn't an error and has an exit code.
func (a *app) noDaemon(socket string) error {
	var err error
	if a.json {
		err = a.printJSON(struct {
			Running bool   `json:"running"`
			Socket  string `json:"socket"`
		}{false, socket})
	} else {
		err = a.print("no daemon runs (it would listen on " + socket + "); hearth start starts one\n")
	}
	if err != nil {
		return err
	}
	return errFindings
}

func (a *app) stop() *cobra.Command {
	var now bool
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "End the daemon once it has finished what it has begun, and return when nothing of it is left",
		Args:  arguments(cobra.NoArgs, "stop [--now]"),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.runStop(cmd.Context(), now) },
	}
	cmd.Flags().BoolVar(&now, "now", false, "abort what runs instead of waiting for it")
	return cmd
}

func (a *app) runStop(ctx context.Context, now bool) error {
	return a.withRunning(func(cfg config.Config, flaw error, c *client.Client) error {
		ctx, cancel := context.WithTimeout(ctx, cfg.StopTimeout+cfg.AbortGrace+answerTimeout)
		defer cancel()
		done := a.progress(ctx, c)
		stopped, err := c.StopDaemon(ctx, now)
		done()
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return messages.Errorf(messages.KindTimeout, "the daemon still drains; hearth status shows what, hearth stop --now ends it")
		case err != nil:
			return err
		case stopped.Running != nil && flaw != nil:
			return flaw
		case a.json:
			return a.printJSON(stopped)
		}
		return a.print(stoppedText(stopped) + "\n")
	})
}

func stoppedText(s client.Stopped) string {
	switch {
	case s.Stopping:
		return fmt.Sprintf("stopped (pid %d)", s.PID)
	case len(s.Previous) > 0:
		return "stopped daemons of other builds: pid " + strings.Trim(fmt.Sprint(s.Previous), "[]")
	}
	return "no daemon runs"
}

// withDaemon gives a command its client.
func (a *app) withDaemon(do func(config.Config, *client.Client) error) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	c, err := a.client(cfg)
	if err != nil {
		return err
	}
	defer c.Close()
	return do(cfg, c)
}

// withRunning gives a command the client of a daemon that runs already, which has its
// settings: what is wrong with the configuration file is a flaw, told beside the result.
// Where no daemon is found it is the answer, since the file may have had another place.
func (a *app) withRunning(do func(cfg config.Config, flaw error, c *client.Client) error) error {
	cfg, flaw, err := config.Salvage(a.sources())
	if err != nil {
		return err
	}
	c, err := a.client(cfg, client.WithoutStart())
	if err != nil {
		return err
	}
	defer c.Close()
	err = do(cfg, flaw, c)
	if flaw != nil && err != flaw {
		a.complain(fmt.Errorf("%w; the daemon at %s was asked all the same", flaw, c.Socket()))
	}
	return err
}
