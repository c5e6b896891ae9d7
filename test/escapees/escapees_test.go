// Package escapees_test kills real language servers in mid-work and looks for what they
// had started: in sessions of their own, by a double fork, in great numbers, or late.
//
// No control groups help here: what is proved is that the marks alone find everything.
package escapees_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/test/leftovers"
	"github.com/seed-f6977891/hearth/test/servers"
	"github.com/seed-f6977891/hearth/test/standins"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// escape is one server in mid-work.
type escape struct {
	program  string
	needs    []string // other programs
	module   string   // a module of the program's Python
	language string
	command  func(t *testing.T, program string) []string // default: the program alone
	env      func(t *testing.T) map[string]string
	files    map[string]string
	check    string // the file that it is asked about
	atWork   string // part of the command line of the process that shows that it is in mid-work
	escaped  bool   // that process is in a session of its own
	complete config.Complete
}

func with(arguments ...string) func(*testing.T, string) []string {
	return func(_ *testing.T, program string) []string { return append([]string{program}, arguments...) }
}

// late is how long after the kill the slowest of them starts another process (tsserver).
const late = 2 * time.Second

var escapes = map[string]escape{
	"shellcheck of bash-language-server, in its own session": {
		program: "bash-language-server", needs: []string{"shellcheck"}, language: "bash", command: with("start"),
		files: map[string]string{".shellcheckrc": "", "long.sh": longScript()}, check: "long.sh",
		atWork: "shellcheck", escaped: true,
	},
	"dmypy of pylsp, by a double fork": {
		program: "pylsp", module: "pylsp_mypy", language: "python",
		files: map[string]string{"setup.cfg": "", "pylsp-mypy.cfg": `{"enabled": True, "live_mode": False, "dmypy": True}`,
			"a.py": "def f(x: int) -> str:\n    return x\n"}, check: "a.py",
		atWork: "pylsp", escaped: true,
	},
	"daemon of gopls -remote=auto, in its own session": {
		program: "gopls", language: "go", command: with("-remote=auto"),
		env:   func(t *testing.T) map[string]string { return map[string]string{"TMPDIR": shortDir(t)} },
		files: map[string]string{"go.mod": "module m\n\ngo 1.21\n", "a.go": "package m\n\nvar a int = \"a\"\n"}, check: "a.go",
		atWork: "serve\x00-listen", escaped: true,
	},
	"compilers of gopls' go list, about a hundred processes to come": {
		program: "gopls", needs: []string{"gcc"}, language: "go",
		env: func(t *testing.T) map[string]string {
			return map[string]string{"GOCACHE": t.TempDir(), "CGO_ENABLED": "1"}
		},
		files: map[string]string{"go.mod": "module m\n\ngo 1.21\n",
			"a.go": "package m\n\n// int one(void) { return 1; }\nimport \"C\"\nimport \"net\"\n\nvar A, B = C.one(), net.IPv4len\n"}, check: "a.go",
		atWork: "cc1",
	},
	"native server of tsc --lsp's wrapper": {
		program: "tsc7", language: "typescript", command: with("--lsp", "--stdio"),
		files: map[string]string{"tsconfig.json": "{}", "a.ts": manyTypes()}, check: "a.ts",
		atWork: "lib/tsc\x00--lsp",
	},
	"tsserver of typescript-language-server, which forks late": {
		program: "typescript-language-server", language: "typescript", command: with("--stdio"),
		env: func(t *testing.T) map[string]string {
			// The types that it looks for are never found, and it goes on trying.
			return map[string]string{"XDG_CACHE_HOME": t.TempDir(), "npm_config_registry": "http://127.0.0.1:9", "npm_config_fetch_retries": "5"}
		},
		files: map[string]string{"package.json": `{"dependencies":{"lodash":"*"}}`, "a.js": "const l = require('lodash');\n" + manyTypes()}, check: "a.js",
		atWork: "tsserver.js",
	},
	"lint command of efm that ignores SIGTERM": {
		program: "efm-langserver", language: "bash", command: func(t *testing.T, program string) []string {
			dir := t.TempDir()
			script := standins.WriteFile(t, filepath.Join(dir, "lint.sh"), "trap '' TERM\nsleep 300\n")
			return []string{program, "-c", standins.WriteFile(t, filepath.Join(dir, "config.yaml"),
				"version: 2\nroot-markers: [.shellcheckrc]\nlanguages:\n  shellscript:\n    - lint-command: 'sh "+script+"'\n      lint-stdin: true\n")}
		},
		files: map[string]string{".shellcheckrc": "", "a.sh": "echo a\n"}, check: "a.sh",
		atWork: "sleep\x00300", complete: config.CompleteVersion,
	},
}

// longScript keeps shellcheck busy for many seconds.
func longScript() string {
	var text strings.Builder
	text.WriteString("#!/bin/bash\n")
	for n := range 3000 {
		fmt.Fprintf(&text, "if [ $a%d = b ]; then c%d=`ls $a%d | grep $b`; for i in $c%d; do echo $i; done; fi\n", n, n, n, n)
	}
	return text.String()
}

// manyTypes keeps a TypeScript server busy: every element has a shape of its own.
func manyTypes() string {
	var text strings.Builder
	for array := range 20 {
		fmt.Fprintf(&text, "const a%d = [", array)
		for n := range 300 {
			fmt.Fprintf(&text, "{p%d: %d, q%d: 'x'},", n, n, n*array)
		}
		text.WriteString("];\n")
	}
	return text.String()
}

func shortDir(t *testing.T) string { // a socket's path has a limit
	dir, err := os.MkdirTemp("", "e")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	return dir
}

func TestWhatARealServerStartedEndsAlsoWhenTheServerIsKilledInMidWork(t *testing.T) {
	for name, e := range escapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.program = servers.Find(t, e.program)
			for _, other := range e.needs {
				servers.Find(t, other)
			}
			if e.module != "" {
				needModule(t, e.program, e.module)
			}
			r := start(t, e)
			answer := make(chan error, 1)
			go func() {
				_, err := r.rt.Diagnostics(context.Background(), supervisor.Document{Project: r.project, File: e.check, Language: e.language})
				answer <- err
			}()
			leader := r.awaitWork(e)
			standins.Kill(t, standins.Event{Role: "leader", PID: leader.PID, StartTicks: leader.StartTicks}, unix.SIGKILL)
			require.NoError(t, r.rt.Close())
			assert.Empty(t, r.carriers(), "closed, and these live")
			<-answer
			assert.Never(t, func() bool { return len(r.carriers()) > 0 }, late, 50*time.Millisecond, "somebody was started afterwards")
		})
	}
}

// needModule looks whether a Python program's own interpreter has a module.
func needModule(t *testing.T, program, module string) {
	t.Helper()
	text, err := os.ReadFile(program)
	require.NoError(t, err)
	interpreter, _, _ := strings.Cut(strings.TrimPrefix(string(text), "#!"), "\n")
	if err := exec.Command(interpreter, "-c", "import "+module).Run(); err != nil {
		servers.Missing(t, fmt.Sprintf("%s has no module %s: %v", interpreter, module, err))
	}
}

// running is an engine over one server.
type running struct {
	t       *testing.T
	rt      *supervisor.Runtime
	project string
	mark    procscan.Mark // of this test, in everything that the server starts
}

func start(t *testing.T, e escape) *running {
	t.Helper()
	standins.NewCanary(t)
	project, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, text := range e.files {
		standins.WriteFile(t, filepath.Join(project, name), text)
	}
	r := &running{t: t, project: project, mark: procscan.NewMark("ESCAPEES_TEST")}
	cfg := supervisor.DefaultConfig()
	language := cfg.Languages[e.language]
	command := []string{e.program}
	if e.command != nil {
		command = e.command(t, e.program)
	}
	language.Server.Commands = []config.Command{command}
	language.Server.Env = map[string]string{r.mark.Var: r.mark.Value}
	if e.env != nil {
		for name, value := range e.env(t) {
			language.Server.Env[name] = value
		}
	}
	if e.complete != "" {
		language.Server.Complete = e.complete
	}
	cfg.Languages[e.language] = language
	r.rt, err = supervisor.Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, r.rt.Close())
		leftovers.End(t, r.mark)
	})
	return r
}

// awaitWork waits until the process is there that shows the server in mid-work, and gives
// the leader of the server's tree.
func (r *running) awaitWork(e escape) (leader procscan.Identity) {
	r.t.Helper()
	var seen map[int]string
	require.True(r.t, standins.Until(standins.Bound, func() bool {
		status, err := r.rt.Status(context.Background())
		if err != nil || len(status.Trees) == 0 {
			return false
		}
		leader, seen = status.Trees[0].Leader, map[int]string{}
		for _, p := range r.carriers() {
			command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
			seen[p.PID] = string(command)
			escaped := p.SID != leader.PID
			if leader.PID != 0 && p.PID != leader.PID && escaped == e.escaped && strings.Contains(string(command), e.atWork) {
				return true
			}
		}
		return false
	}), "no process with %q; there are %q", e.atWork, seen)
	return leader
}

// carriers are the living processes that the server started, and itself.
func (r *running) carriers() (found []procscan.Info) {
	scan, err := procscan.SystemTable().Scan(context.Background(), r.mark)
	if !assert.NoError(r.t, err) {
		return nil
	}
	defer scan.Close()
	infos, err := procscan.SystemTable().Walk(context.Background())
	if !assert.NoError(r.t, err) {
		return nil
	}
	for _, hit := range scan.Hits {
		for _, p := range infos {
			if p.Identity == hit.Identity() {
				found = append(found, p)
			}
		}
	}
	return found
}
