package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/client"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
)

// client connects a Go program to the home's daemon.
func (h *home) client(opts ...client.Option) *client.Client {
	h.t.Helper()
	cfg := config.Default()
	cfg.RuntimeDir = h.dir
	c, err := client.New(cfg, append([]client.Option{client.WithProgram(h.program)}, opts...)...)
	require.NoError(h.t, err)
	h.t.Cleanup(func() { assert.NoError(h.t, c.Close()) })
	return c
}

func (h *home) snippet(code string) messages.Snippet {
	return messages.Snippet{Project: h.project, Code: code}
}

func (h *home) document() messages.Document {
	return messages.Document{Project: h.project, File: h.file()}
}

func TestAClientHasTheMethodsOfARuntime(t *testing.T) {
	h := newHome(t, options{})
	standins.WriteFile(t, h.file(), "word\nERROR here\n")
	h.start()
	c := h.client(client.WithoutStart())
	ctx := t.Context()
	report, err := c.Diagnostics(ctx, h.document())
	require.NoError(t, err)
	require.Len(t, report.Diagnostics, 1)
	assert.Equal(t, messages.SeverityError, report.Diagnostics[0].Severity)
	assert.Equal(t, h.file(), report.File)
	hover, err := c.Hover(ctx, h.document(), messages.Position{Character: 1})
	require.NoError(t, err)
	assert.Equal(t, "word", hover.Text)
	query, err := c.Query(ctx, h.document(), "textDocument/hover", &messages.Position{Character: 1}, nil)
	require.NoError(t, err)
	assert.Contains(t, string(query.Result), "word")
	run, err := c.RunCode(ctx, h.snippet("x"))
	require.NoError(t, err)
	assert.Equal(t, messages.ReportJSONL, run.Protocol)
	assert.Contains(t, run.Result, "generation 1")
	status, err := c.Status(ctx)
	require.NoError(t, err)
	assert.Len(t, status.Entries, 2)
	status, err = c.ProjectStatus(ctx, t.TempDir())
	require.NoError(t, err)
	assert.Empty(t, status.Entries)

	require.NoError(t, c.Shutdown(ctx))
	_, err = c.Status(ctx)
	assert.ErrorIs(t, err, messages.ErrClosed)
	assert.NotEmpty(t, h.status().Processes, "the daemon goes on")
}

func TestAClientsErrorsAreThoseOfARuntime(t *testing.T) {
	h := newHome(t, options{repl: slowly(time.Hour)})
	h.start()
	c := h.client(client.WithoutStart())
	_, err := c.Hover(t.Context(), messages.Document{Project: "/no/such/project", File: "a.fake"}, messages.Position{})
	assert.Equal(t, messages.KindInvalid, messages.KindOf(err))
	run, snippet := new(messages.RunError), h.snippet("slow 1")
	for snippet.Timeout = 100 * time.Millisecond; !run.Sent; snippet.Timeout *= 2 { // until that is enough to send it
		require.Less(t, snippet.Timeout, bound)
		if _, err = c.RunCode(t.Context(), snippet); !errors.As(err, &run) {
			require.Contains(t, []messages.Kind{messages.KindBusy, messages.KindTimeout}, messages.KindOf(err), "%v", err)
		}
	}
	assert.ErrorAs(t, err, new(*messages.TimeoutError))

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.RunCode(ctx, h.snippet("slow 2"))
		ended <- err
	}()
	h.repl.Await(t, standins.Is("", journal.Received, "slow 2"))
	cancel()
	assert.Contains(t, []messages.Kind{messages.KindCancelled, messages.KindOutcomeUnknown}, messages.KindOf(<-ended),
		"the second where a slow machine does not say it in time")
	worker := h.startOf("slow 2")
	standins.AwaitGone(t, worker.PID, worker.StartTicks)
}

func TestOneClientServesManyCallers(t *testing.T) {
	h := newHome(t, options{})
	h.start()
	c := h.client(client.WithoutStart())
	var callers sync.WaitGroup
	for range 64 {
		callers.Go(func() {
			for range 5 {
				hover, err := c.Hover(t.Context(), h.document(), messages.Position{Character: 1})
				assert.NoError(t, err)
				assert.Equal(t, "word", hover.Text)
			}
		})
	}
	callers.Wait()
}

func TestACallWhoseDaemonDiesIsNotSentAgain(t *testing.T) {
	h := newHome(t, options{repl: slowly(time.Hour)})
	pid := h.start().PID
	c := h.client(client.WithoutStart())
	ended := make(chan error, 1)
	go func() {
		_, err := c.RunCode(t.Context(), h.snippet("slow"))
		ended <- err
	}()
	h.repl.Await(t, standins.Is("", journal.Received, "slow"))
	kill(t, pid)
	err := <-ended
	assert.Equal(t, messages.KindOutcomeUnknown, messages.KindOf(err))
	assert.ErrorContains(t, err, "closed after request dispatch; the request was not retried")
	_, err = c.Status(t.Context())
	assert.ErrorIs(t, err, client.ErrNotRunning)
	next := h.start().PID
	ping, err := c.Ping(t.Context())
	require.NoError(t, err, "a client finds the next daemon")
	assert.Equal(t, next, ping.PID)
	assert.Equal(t, 1, h.received("slow"))
}

func TestAClientStartsADaemonWhichOutlivesIt(t *testing.T) {
	h := newHome(t, options{})
	for _, entry := range h.env { // what a client starts has the client's environment
		for _, name := range []string{"HEARTH_TEST_MARK", "HEARTH_CONFIG"} {
			if value := valueOf(entry, name); value != "" {
				t.Setenv(name, value)
			}
		}
	}
	pids := make([]int, 8)
	var clients sync.WaitGroup
	for i := range pids {
		c := h.client()
		clients.Go(func() {
			ping, err := c.Ping(t.Context())
			assert.NoError(t, err)
			pids[i] = ping.PID
		})
	}
	clients.Wait()
	for _, pid := range pids {
		assert.Equal(t, pids[0], pid)
	}
	c := h.client()
	require.NoError(t, c.Close())
	stopped, err := h.client(client.WithoutStart()).StopDaemon(t.Context(), false)
	require.NoError(t, err)
	assert.Equal(t, client.Stopped{Stopping: true, PID: pids[0]}, stopped)
}

func valueOf(entry, name string) string {
	if prefix := name + "="; len(entry) > len(prefix) && entry[:len(prefix)] == prefix {
		return entry[len(prefix):]
	}
	return ""
}

func TestADaemonThatCannotStartSaysWhy(t *testing.T) {
	h := newHome(t, options{})
	broken := standins.WriteFile(t, t.TempDir()+"/broken.toml", "idle = \"soon\"\n")
	c := h.client(client.WithArguments("--config", broken))
	_, err := c.Ping(t.Context())
	require.Error(t, err)
	assert.Contains(t, err.Error(), fmt.Sprintf("idle (%s)", broken), "the log's last line is in the error")
	assert.Contains(t, err.Error(), "exit status 2")
}
