package lsp_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/test/servers"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

// way does a thing once, and gives the time that counts of it.
type way func() time.Duration

// whole counts all of the time.
func whole(call func()) way {
	return func() time.Duration {
		began := time.Now()
		call()
		return time.Since(began)
	}
}

// medianOf goes a way n times and gives the median.
func medianOf(n int, once way) time.Duration {
	times := make([]time.Duration, n)
	for i := range times {
		times[i] = once()
	}
	slices.Sort(times)
	return times[n/2]
}

// compared measures ways of one thing, turn by turn, so that a busy machine slows all
// of them down, and gives the median of each way's rounds.
func compared(b *testing.B, rounds, n int, ways ...way) (medians []time.Duration) {
	b.Helper()
	took := make([][]time.Duration, len(ways))
	for b.Loop() {
		for range rounds {
			for i, once := range ways {
				took[i] = append(took[i], medianOf(n, once))
			}
		}
	}
	for _, times := range took {
		slices.Sort(times)
		medians = append(medians, times[len(times)/2])
	}
	return medians
}

// goplsBench is gopls twice over one project: behind a runtime, and bare.
type goplsBench struct {
	*rig
	bare *standins.Bare
	uri  string
	path string
}

const goplsText = "package p\n\n// Answer is it.\nfunc Answer() int { return 42 }\n"

func startGopls(b *testing.B) *goplsBench {
	b.Helper()
	path := servers.Find(b, "gopls")
	r := start(b, "go", map[string]string{"go.mod": "module example.org/p\n\ngo 1.21\n", "p.go": goplsText},
		func(_ *supervisor.Config, l *config.Language) { l.Server.Commands = []config.Command{{path}} })
	g := &goplsBench{rig: r, path: filepath.Join(r.root, "p.go"), uri: "file://" + filepath.Join(r.root, "p.go")}
	g.bare = standins.StartBare(b, r.root, map[string]bool{"pullDiagnostics": true}, path)
	g.bare.Notify(b, "textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": g.uri, "languageId": "go", "version": 1, "text": goplsText}})
	return g
}

// BenchmarkWarmHover compares a hover in an unchanged file with the bare request. What
// the runtime does for it on the caller's behalf, finding the project and reading the
// files' bytes, is shown apart.
func BenchmarkWarmHover(b *testing.B) {
	g := startGopls(b)
	at := supervisor.Position{Line: 3, Character: 6}
	params := map[string]any{"textDocument": map[string]string{"uri": g.uri}, "position": at}
	cfg := supervisor.DefaultConfig()
	hover := func() {
		report, err := g.Hover(b.Context(), g.doc("p.go"), at)
		require.NoError(b, err)
		require.NotEmpty(b, report.Text)
	}
	bareHover := func() { g.bare.Call(b, "textDocument/hover", params) }
	reading := func() time.Duration { // as cold as a caller is that had to wait for a server
		hover() // both, so that neither server is warmer than the other
		bareHover()
		began := time.Now()
		found, err := config.Resolve(cfg, config.Request{Project: g.root, File: "p.go", NeedFile: true})
		require.NoError(b, err)
		text, err := os.ReadFile(found.File)
		require.NoError(b, err)
		sha256.Sum256(text)
		return time.Since(began)
	}
	hover()
	took := compared(b, 40, 50, whole(hover), whole(bareHover), reading)
	ours, bare, apart := took[0], took[1], took[2]
	b.ReportMetric(float64(ours-apart)/float64(bare), "x-pipes")
	b.ReportMetric(float64(bare.Nanoseconds()), "ns-pipes")
	b.ReportMetric(float64(ours.Nanoseconds()), "ns-hover")
	b.ReportMetric(float64(apart.Nanoseconds()), "ns-resolving")
}

// BenchmarkDiagnosticsAfterEdit compares the findings in a file that was just written
// with what a bare client does for them: write, didChange, ask.
func BenchmarkDiagnosticsAfterEdit(b *testing.B) {
	g := startGopls(b)
	turn := 1
	edited := func() string {
		turn++
		return fmt.Sprintf("%s\nvar v%d string = Answer()\n", goplsText, turn)
	}
	took := compared(b, 12, 10, whole(func() {
		g.write("p.go", edited())
		assert.Len(b, g.found("p.go"), 1)
	}), whole(func() {
		text := edited()
		g.write("p.go", text)
		g.bare.Notify(b, "textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": g.uri, "version": turn},
			"contentChanges": []any{map[string]string{"text": text}}})
		result := g.bare.Call(b, "textDocument/diagnostic", map[string]any{"textDocument": map[string]string{"uri": g.uri}})
		var report struct{ Items []json.RawMessage }
		require.NoError(b, json.Unmarshal(result, &report))
		assert.Len(b, report.Items, 1)
	}))
	b.ReportMetric(float64(took[0])/float64(took[1]), "x-bare")
	b.ReportMetric(float64(took[1].Nanoseconds()), "ns-bare")
}

// BenchmarkEightAgents compares eight files checked at once on one session with the
// slowest of them alone: the server takes a second for each.
func BenchmarkEightAgents(b *testing.B) {
	l := startLean(b, nil)
	text := 0
	write := func(name string) {
		text++
		l.write(name, fmt.Sprintf("-- fake: sleep 1s\ndef x%d := 1\n", text))
	}
	var names []string
	for n := range 8 {
		names = append(names, fmt.Sprintf("F%d.lean", n))
	}
	alone := func(name string) time.Duration {
		began := time.Now()
		assert.Empty(b, l.found(name))
		return time.Since(began)
	}
	for _, name := range names { // their workers start
		write(name)
		alone(name)
	}
	for b.Loop() {
		slowest := time.Duration(0)
		for _, name := range names {
			write(name)
			slowest = max(slowest, alone(name))
		}
		for _, name := range names {
			write(name)
		}
		var agents sync.WaitGroup
		began := time.Now()
		for _, name := range names {
			agents.Go(func() { alone(name) })
		}
		agents.Wait()
		b.ReportMetric(float64(time.Since(began))/float64(slowest), "x-slowest")
	}
}

// BenchmarkClose compares the end of a runtime with one warm, well-behaved server, which
// is proved empty by two scans, with the server's own.
func BenchmarkClose(b *testing.B) {
	written, bin := standins.WriteLSP(b, script.LSP{}), standins.Build(b)
	var over []time.Duration
	for b.Loop() {
		b.StopTimer()
		bare := standins.StartBare(b, b.TempDir(), nil, written.Command(bin.LSP)...)
		own := medianOf(1, whole(func() { bare.Exit(b) }))
		s := startScripted(b, script.LSP{})
		require.Equal(b, "alpha", s.hovered("A.lean"))
		b.StartTimer()
		over = append(over, medianOf(1, whole(func() { require.NoError(b, s.Shutdown(s.bounded())) }))-own)
	}
	slices.Sort(over)
	b.ReportMetric(float64(over[len(over)/2].Microseconds())/1000, "over-ms")
}

// TestSecondHoverInAnUnchangedFileSendsNothingElse: what makes it as quick as the bare
// request.
func TestSecondHoverInAnUnchangedFileSendsNothingElse(t *testing.T) {
	s := startScripted(t, script.LSP{})
	for range 3 {
		assert.Equal(t, "alpha", s.hovered("A.lean"))
	}
	assert.Equal(t, []int{1, 0, 0, 3}, []int{s.received("textDocument/didOpen"), s.received("textDocument/didChange"),
		s.received("textDocument/didClose"), s.received("textDocument/hover")})
	assert.True(t, strings.HasSuffix(s.session().State, "ready"))
}
