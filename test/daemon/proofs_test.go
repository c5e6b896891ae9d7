package daemon_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/test/servers"
	"github.com/seed-f6977891/hearth/test/standins"
)

// proofs has a test for each command of README.md, by the text that it has there.
var proofs = map[string]func(*testing.T){
	"hearth check FILE...": prints(`^$`, "check", "a.fake"),
	"hearth check":         prints(`^$`, "check", "a.fake"),
	"hearth hover FILE:LINE:COLUMN": prints(`^another\n$`,
		"hover", "a.fake:1:6"),
	"hearth hover": prints(`^word\n$`, "hover", "a.fake:1:1"),
	"hearth lsp METHOD [FILE[:LINE:COLUMN]]": func(t *testing.T) {
		prints(`^a\.fake:1:1: function word\n`, "lsp", "symbols", "a.fake")(t)
		prints(`^a\.fake:1:`, "lsp", "definition", "a.fake:1:1")(t)
		prints(`definition, .*references, .*rename, .*symbols`, "lsp", "--help")(t)
	},
	"hearth lsp": prints(`^a\.fake:1:`, "lsp", "references", "a.fake:1:1"),
	"hearth run [FILE]": func(t *testing.T) {
		h := newHome(t, options{repl: slowly(0)})
		assert.Equal(t, outcome{0, "Result: slow is done\n", ""}, h.hearth("run", writeCode(t, "slow")))
	},
	"hearth run": func(t *testing.T) {
		h := newHome(t, options{repl: slowly(0)})
		assert.Equal(t, outcome{0, "Result: slow is done\n", ""}, <-h.begin("slow"))
	},
	"hearth start":                     prints(`"running": true`, "start"),
	"hearth status":                    ofADaemon(`^hearth +pid \d+`, "status"),
	"hearth status --json":             ofADaemon(`"settings": \{`, "status", "--json"),
	"hearth tree":                      ofADaemon(`main`, "tree"),
	"hearth stop":                      ofADaemon(`^stopped \(pid \d+\)\n$`, "stop"),
	"hearth stop --now":                ofADaemon(`^stopped \(pid \d+\)\n$`, "stop", "--now"),
	"hearth mcp":                       TestTheReadmesServerForAgentsStarts,
	"hearth watch -- COMMAND...":       prints(`^built\n$`, "watch", "--", "echo", "built"),
	"hearth sweep":                     prints(`^No runtime that died has left anything in `, "sweep"),
	"hearth sweep [--dry-run]":         prints(`^No runtime that died has left anything in `, "sweep", "--dry-run"),
	"hearth doctor":                    prints(`(?m)^Languages\n(?s:.*) fake server `, "doctor"),
	"hearth config":                    prints(`(?m)^idle +30m +default$`, "config"),
	"hearth version":                   prints(`^hearth .* go1\.`, "version"),
	"hearth completion":                prints(`complete .*hearth`, "completion", "bash"),
	"hearth demo":                      func(t *testing.T) { proveDemo(t, program, "demo") },
	"go run ./cmd/runtime demo":        func(t *testing.T) { proveDemo(t, "go", "run", "./cmd/runtime", "demo") },
	"go run":                           func(t *testing.T) { assert.Regexp(t, `^hearth `, atRoot(t, "go", "run", "./cmd/runtime", "version")) },
	"go build -o hearth ./cmd/runtime": proveBuild,
	"go test ./...":                    proveTests,
	".ci/run":                          proveTests,
	"go run ./test/bench": func(t *testing.T) {
		assert.Contains(t, atRoot(t, "go", "run", "./test/bench", "-only", "^$"), "figure")
	},
	"go doc ./supervisor": func(t *testing.T) { assert.Contains(t, atRoot(t, "go", "doc", "./supervisor"), "package supervisor") },

	"hearth watch --per-file 10m --limit 1h -- make -j8": func(t *testing.T) {
		servers.Find(t, "make")
		h := newHome(t, options{})
		standins.WriteFile(t, filepath.Join(h.project, "Makefile"), "all:\n\t@echo made\n")
		got := h.hearth("watch", "--per-file", "10m", "--limit", "1h", "--", "make", "-j8")
		assert.Equal(t, "made\n", got.stdout, got.stderr)
		assert.Zero(t, got.code)
	},
	"hearth serve": func(t *testing.T) {
		daemon := newHome(t, options{}).serve()
		require.NoError(t, daemon.Process.Signal(syscall.SIGTERM))
		assert.NoError(t, daemon.Wait())
	},
	"%h/bin/hearth --socket %t/hearth/hearth.sock serve": proveService,
	"systemctl --user enable --now hearth.socket":        proveService,
}

// prints runs a command in a home of its own.
func prints(want string, args ...string) func(*testing.T) {
	return func(t *testing.T) {
		got := newHome(t, options{}).hearth(args...)
		assert.Zero(t, got.code, got.stderr)
		assert.Regexp(t, want, got.stdout)
	}
}

// ofADaemon runs one that asks a running daemon.
func ofADaemon(want string, args ...string) func(*testing.T) {
	return func(t *testing.T) {
		h := newHome(t, options{})
		h.start()
		got := h.hearth(args...)
		assert.Zero(t, got.code, got.stderr)
		assert.Regexp(t, want, got.stdout)
	}
}

// atRoot runs a program in the checkout, as README's reader does, and gives its output.
func atRoot(t *testing.T, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir, c.Env = "../..", append(cleanEnvironment(), "HEARTH_CONFIG=/dev/null")
	if dir := os.Getenv("HEARTH_TEST_BIN"); dir != "" {
		c.Env = append(c.Env, "PATH="+os.Getenv("PATH")+string(os.PathListSeparator)+dir)
	}
	output, err := c.Output()
	exit, _ := err.(*exec.ExitError)
	if exit != nil {
		t.Log(string(exit.Stderr))
	}
	require.NoError(t, err, "%s", output)
	return string(output)
}

func proveDemo(t *testing.T, name string, args ...string) {
	t.Helper()
	servers.Find(t, "gopls")
	assert.Regexp(t, `(?m)^proof +no process on this machine carries `, atRoot(t, name, args...))
}

// proveBuild has the program built elsewhere: the checkout may have one.
func proveBuild(t *testing.T) {
	built := filepath.Join(t.TempDir(), "hearth")
	atRoot(t, "go", "build", "-o", built, "./cmd/runtime")
	h := newHome(t, options{})
	h.program = built
	assert.Regexp(t, `^hearth `, h.hearth("version").stdout)
}

// proveTests can't run what runs it: .ci/run does, and takes the command from README.
func proveTests(t *testing.T) {
	assert.Equal(t, "go test ./...", strings.TrimSpace(atRoot(t, "sh", "-c", `sed -n 's/^    \(go test .*\)$/\1/p' README.md`)))
	text, err := os.ReadFile("../../.ci/run")
	require.NoError(t, err)
	assert.Contains(t, string(text), "\neval \"$(readme_tests)\"\n")
	atRoot(t, "bash", "-n", ".ci/run")
}

// proveService does what systemd does with the two units, of which no part is here.
func proveService(t *testing.T) {
	units := make(map[string]string)
	for _, block := range readReadme(t).fences {
		for line := range strings.Lines(block.text) {
			if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && block.kind == "ini" {
				units[key] = value
			}
		}
	}
	h := newHome(t, options{})
	at := strings.NewReplacer("%h", filepath.Dir(h.dir), "%t", filepath.Dir(h.dir))
	require.NoError(t, os.Mkdir(filepath.Join(filepath.Dir(h.dir), "bin"), 0o700))
	require.NoError(t, os.Symlink(h.program, filepath.Join(filepath.Dir(h.dir), "bin", "hearth")))
	socket := at.Replace(units["ListenStream"])
	require.Equal(t, "0700", units["DirectoryMode"])
	require.NoError(t, os.Mkdir(filepath.Dir(socket), 0o700))
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	require.NoError(t, err)
	defer listener.Close()
	file, err := listener.File()
	require.NoError(t, err)
	defer file.Close()
	require.Equal(t, "notify", units["Type"])
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(filepath.Dir(socket), "notify"), Net: "unixgram"})
	require.NoError(t, err)
	defer manager.Close()

	argv := strings.Fields(at.Replace(units["ExecStart"]))
	c := exec.Command("sh", append([]string{"-c", `LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" "$@"`}, argv...)...)
	c.Dir, c.ExtraFiles = h.project, []*os.File{file}
	c.Env = h.with("NOTIFY_SOCKET="+manager.LocalAddr().String(), "HEARTH_RUNTIME_DIR=", "XDG_RUNTIME_DIR="+filepath.Dir(h.dir))
	require.NoError(t, c.Start())
	text := make([]byte, 100)
	require.NoError(t, manager.SetReadDeadline(time.Now().Add(bound)))
	n, err := manager.Read(text)
	require.NoError(t, err)
	assert.Equal(t, "READY=1", string(text[:n]))
	got := h.hearth("--socket", socket, "check", "a.fake")
	assert.Zero(t, got.code, got.stderr)
	require.NoError(t, c.Process.Signal(syscall.SIGTERM))
	assert.NoError(t, c.Wait())
	assert.FileExists(t, socket)
}
