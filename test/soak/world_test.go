//go:build linux

package soak_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor/client"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/test/leftovers"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

// world is a user's machine: a program that is installed anew now and then, a runtime
// directory, projects, and what is known of all that goes on there.
type world struct {
	dir      string
	builds   [2]string
	program  string // one of the builds; upgrades replace it
	settings string // the configuration file
	mark     procscan.Mark
	projects []*project
	journals *journals
	figures  figures
	shared   shared

	started, finished atomic.Int64 // upgrades

	mu       sync.Mutex
	breaches []string
	promises map[string][2]int // label of a run: how often it may have run, at least and at most
	lives    []*life           // the last is the present daemon's
}

const configuration = `
max_projects = 4
idle = "4s"
repl.total_workers = 4
repl.max_timeout = "4m"
log_level = "warn"
[languages.lean]
repl.allowed_imports = []
[languages.fake]
markers = ["fake.toml"]
extensions = [".fake"]
lsp.command = %q
lsp.complete = "version"
repl.command = %q
repl.protocol = "jsonl"
`

// newWorld makes a world with six projects, of which every third is sheltered.
func newWorld(t *testing.T) *world {
	dir, err := os.MkdirTemp("", "soak") // a socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	bin := standins.Build(t)
	lsp := standins.Scripted{Script: filepath.Join(dir, "lsp.json"), Journal: filepath.Join(dir, "lsp.journal")}
	lsp.RewriteLSP(t, script.LSP{Diagnostics: script.Hash, Hover: script.Hash,
		Rules: []script.Rule{script.When(slowMethod, script.Delay(3*time.Second), script.Default())}})
	repl := standins.Scripted{Script: filepath.Join(dir, "repl.json"), Journal: filepath.Join(dir, "repl.journal")}
	repl.RewriteREPL(t, script.REPL{Protocol: "jsonl"})
	leans := filepath.Join(dir, "lean.journal")
	w := &world{
		dir: filepath.Join(dir, "rt"), program: filepath.Join(dir, "hearth"), settings: filepath.Join(dir, "config.toml"),
		mark: procscan.NewMark("HEARTH_SOAK_MARK"), journals: newJournals(lsp.Journal, repl.Journal, leans),
		figures: figures{kinds: map[string]*outcomes{}}, promises: map[string][2]int{},
	}
	for i := range w.builds {
		w.builds[i] = filepath.Join(dir, fmt.Sprintf("build-%d", i))
		require.NoError(t, build(w.builds[i], i))
	}
	standins.WriteFile(t, w.settings, fmt.Sprintf(configuration,
		strings.Join(lsp.Command(bin.LSP), " "), strings.Join(repl.Command(bin.REPL), " ")))
	for i := range 6 {
		language, dir := fake, t.TempDir()
		if i%2 == 1 {
			language, dir = lean, standins.Project(t, "lean")
			standins.WriteKnobs(t, dir, bin.LeanEnv(leans)...)
		} else {
			standins.WriteFile(t, filepath.Join(dir, "fake.toml"), "")
		}
		dir, err := filepath.EvalSymlinks(dir)
		require.NoError(t, err)
		p, err := newProject(dir, language, i >= 4)
		require.NoError(t, err)
		w.projects = append(w.projects, p)
	}
	// What a client starts has the client's environment.
	t.Setenv(w.mark.Var, w.mark.Value)
	t.Setenv("PATH", bin.LeanDir()+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Cleanup(func() { leftovers.End(t, w.mark) })
	return w
}

// client is one of the program as it is installed now.
func (w *world) client(opts ...client.Option) (*client.Client, error) {
	cfg := config.Default()
	cfg.RuntimeDir = w.dir
	return client.New(cfg, append(opts, client.WithProgram(w.program), client.WithArguments("--config", w.settings))...)
}

// mostBreaches is how many are kept: further ones say nothing new.
const mostBreaches = 20

func (w *world) breach(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.breaches) < mostBreaches {
		w.breaches = append(w.breaches, fmt.Sprintf("%s: ", time.Now().Format("15:04:05.000"))+fmt.Sprintf(format, args...))
	}
}

func (w *world) broken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.breaches) > 0
}

func (w *world) promise(label string, least, most int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.promises[label] = [2]int{least, most}
}

// kept compares what callers were told of their code with what the REPLs got.
func (w *world) kept() (broken []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for label, p := range w.promises {
		if n := w.journals.runs[label]; n < p[0] || n > p[1] {
			broken = append(broken, fmt.Sprintf("%s ran %d times, want %d to %d", label, n, p[0], p[1]))
		}
	}
	return broken
}

// left lists what was started from here and lives.
func (w *world) left() (lines []string, err error) {
	scan, err := procscan.SystemTable().Scan(context.Background(), w.mark)
	if err != nil {
		return nil, err
	}
	defer scan.Close()
	for _, hit := range scan.Hits {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", hit.Identity().PID))
		if err == nil {
			lines = append(lines, fmt.Sprint(hit.Identity().PID, " ", strings.ReplaceAll(string(line), "\x00", " ")))
		}
	}
	return lines, nil
}
