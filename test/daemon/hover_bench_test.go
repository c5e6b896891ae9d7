package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/client"
	"github.com/seed-f6977891/hearth/test/servers"
	"github.com/seed-f6977891/hearth/test/standins"
)

// BenchmarkHover compares a hover on a real gopls, over one kept connection, with the
// same one over gopls' bare pipes, and shows beside it what the least hop there can be
// costs on this machine.
func BenchmarkHover(b *testing.B) {
	gopls := servers.Find(b, "gopls")
	const text = "package p\n\n// Answer is it.\nfunc Answer() int { return 42 }\n"
	project, err := filepath.EvalSymlinks(b.TempDir())
	require.NoError(b, err)
	standins.WriteFile(b, filepath.Join(project, "go.mod"), "module example.org/p\n\ngo 1.26\n")
	file := standins.WriteFile(b, filepath.Join(project, "p.go"), text)
	at := messages.Position{Line: 3, Character: 6}

	over := func(server *standins.Bare) func() time.Duration {
		server.Notify(b, "textDocument/didOpen", map[string]any{"textDocument": map[string]any{
			"uri": "file://" + file, "languageId": "go", "version": 1, "text": text}})
		params := map[string]any{"textDocument": map[string]string{"uri": "file://" + file}, "position": at}
		return medianOf(b, 100, func() error {
			server.Call(b, "textDocument/hover", params)
			return nil
		})
	}
	pipes, hop := over(standins.StartBare(b, project, nil, gopls)), over(startRelay(b, project, gopls))

	h := newHome(b, options{})
	h.env = h.with("PATH=" + filepath.Dir(gopls) + string(os.PathListSeparator) + os.Getenv("PATH"))
	h.start()
	c := h.client(client.WithoutStart())
	daemon := medianOf(b, 100, func() error {
		report, err := c.Hover(b.Context(), messages.Document{Project: project, File: file}, at)
		if err == nil && report.Text == "" {
			err = fmt.Errorf("an empty hover")
		}
		return err
	})
	for _, warm := range []func() time.Duration{pipes, hop, daemon} {
		warm()
	}
	var daemons, hops []float64
	for b.Loop() {
		for range rounds {
			bare := float64(pipes())
			daemons, hops = append(daemons, float64(daemon())/bare), append(hops, float64(hop())/bare)
		}
	}
	b.ReportMetric(middle(daemons), "x-pipes")
	b.ReportMetric(middle(hops), "relay-x-pipes")
}

// medianOf makes n calls, one after the other, and gives the median time of one.
func medianOf(b *testing.B, n int, call func() error) func() time.Duration {
	return func() time.Duration {
		times := make([]time.Duration, n)
		for i := range times {
			began := time.Now()
			require.NoError(b, call())
			times[i] = time.Since(began)
		}
		slices.Sort(times)
		return times[n/2]
	}
}
