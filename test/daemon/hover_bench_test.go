package daemon_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/client"
	"github.com/seed-f6977891/hearth/test/servers"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/lspwire"
)

// bareGopls is a language server with nothing between it and its caller.
type bareGopls struct {
	in  *lspwire.Writer
	out *lspwire.Reader
	id  int
}

// call makes one request, and answers what the server asks meanwhile as it wants it.
func (g *bareGopls) call(method string, params any) error {
	g.id++
	if err := g.in.Request(g.id, method, params); err != nil {
		return err
	}
	for {
		m, _, err := g.out.Read()
		switch {
		case err != nil:
			return err
		case m.IsRequest() && m.Method == "workspace/configuration":
			err = g.in.Reply(m.ID, []any{map[string]any{}})
		case m.IsRequest():
			err = g.in.Reply(m.ID, nil)
		case m.Method == "" && string(m.ID) == fmt.Sprint(g.id):
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func startGopls(b *testing.B, program, project, file, text string) *bareGopls {
	b.Helper()
	c := exec.Command(program)
	c.Dir = project
	input, err := c.StdinPipe()
	require.NoError(b, err)
	output, err := c.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, c.Start())
	b.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	g := &bareGopls{in: lspwire.NewWriter(input), out: lspwire.NewReader(output)}
	require.NoError(b, g.call("initialize", map[string]any{"processId": os.Getpid(), "rootUri": "file://" + project,
		"capabilities": map[string]any{"textDocument": map[string]any{"hover": map[string]any{"contentFormat": []string{"markdown"}}}}}))
	require.NoError(b, g.in.Notify("initialized", struct{}{}))
	require.NoError(b, g.in.Notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": "file://" + file, "languageId": "go", "version": 1, "text": text}}))
	return g
}

// BenchmarkHover compares a hover on a real gopls, over one kept connection, with the
// same one over gopls' bare pipes.
func BenchmarkHover(b *testing.B) {
	gopls := servers.Find(b, "gopls")
	const text = "package p\n\n// Answer is it.\nfunc Answer() int { return 42 }\n"
	project, err := filepath.EvalSymlinks(b.TempDir())
	require.NoError(b, err)
	standins.WriteFile(b, filepath.Join(project, "go.mod"), "module example.org/p\n\ngo 1.26\n")
	file := standins.WriteFile(b, filepath.Join(project, "p.go"), text)
	at := messages.Position{Line: 3, Character: 6}

	bare := startGopls(b, gopls, project, file, text)
	params := map[string]any{"textDocument": map[string]string{"uri": "file://" + file}, "position": at}
	overPipes := func() error { return bare.call("textDocument/hover", params) }

	h := newHome(b, options{})
	h.env = h.with("PATH=" + filepath.Dir(gopls) + string(os.PathListSeparator) + os.Getenv("PATH"))
	h.start()
	c := h.client(client.WithoutStart())
	throughDaemon := func() error {
		report, err := c.Hover(b.Context(), messages.Document{Project: project, File: file}, at)
		if err == nil && report.Text == "" {
			err = fmt.Errorf("an empty hover")
		}
		return err
	}
	require.NoError(b, overPipes())
	require.NoError(b, throughDaemon())
	for b.Loop() {
		b.ReportMetric(ratio(medianOf(b, 100, throughDaemon), medianOf(b, 100, overPipes)), "x-pipes")
	}
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
