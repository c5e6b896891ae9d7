package daemon_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor/client"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/supervisor/wire"
	"github.com/seed-f6977891/hearth/test/leftovers"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

// bound is how long anything may take on a slow, shared machine.
const bound = standins.Bound

// home is a user's world of its own: a runtime directory, a configuration and a project
// whose server and REPL are stand-ins.
type home struct {
	t       testing.TB
	program string
	dir     string // the runtime directory
	env     []string
	mark    procscan.Mark // in the environment of all that is started from here
	project string
	lsp     standins.Scripted
	repl    standins.Scripted
}

type options struct {
	lsp      script.LSP
	repl     script.REPL
	settings string // more of the configuration file
}

// newHome makes a home; when the test ends, its daemon is stopped and nothing may be
// left of it.
func newHome(t testing.TB, o options) *home {
	t.Helper()
	dir, err := os.MkdirTemp("", "hd") // a socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	o.repl.Protocol = "jsonl"
	h := &home{t: t, program: program, dir: filepath.Join(dir, "rt"), mark: procscan.NewMark("HEARTH_TEST_MARK"),
		lsp: standins.WriteLSP(t, o.lsp), repl: standins.WriteREPL(t, o.repl)}
	h.project, err = filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	standins.WriteFile(t, filepath.Join(h.project, "fake.toml"), "")
	standins.WriteFile(t, h.file(), "word another\n")
	bin := standins.Build(t)
	settings := filepath.Join(dir, "config.toml")
	standins.WriteFile(t, settings, fmt.Sprintf(`%s
[languages.fake]
markers = ["fake.toml"]
extensions = [".fake"]
lsp.command = %q
repl.command = %q
repl.protocol = "jsonl"
`, o.settings, strings.Join(h.lsp.Command(bin.LSP), " "), strings.Join(h.repl.Command(bin.REPL), " ")))
	h.env = append(cleanEnvironment(), "HEARTH_RUNTIME_DIR="+h.dir, "HEARTH_CONFIG="+settings, "HOME="+dir, h.mark.Env())
	t.Cleanup(h.end)
	return h
}

// cleanEnvironment is this process's without what configures hearth.
func cleanEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, "HEARTH_") || strings.HasPrefix(entry, "AUTOFORM_") || strings.HasPrefix(entry, "XDG_")
	})
}

func (h *home) file() string { return filepath.Join(h.project, "a.fake") }

// end stops the daemon and waits until nothing that was started from here is left.
func (h *home) end() {
	if got := h.hearth("stop", "--now"); !assert.Zero(h.t, got.code, "stop: %s", got.stderr) {
		h.t.Log(h.logs())
	}
	if !standins.Until(bound, func() bool { return len(h.left()) == 0 }) {
		h.t.Errorf("processes left: %v", h.left())
	}
	leftovers.End(h.t, h.mark)
}

// left lists the processes that were started from here, with their command lines.
func (h *home) left() map[int]string {
	scan, err := procscan.SystemTable().Scan(context.Background(), h.mark)
	if !assert.NoError(h.t, err) {
		return nil
	}
	defer scan.Close()
	found := make(map[int]string)
	for _, hit := range scan.Hits {
		pid := hit.Identity().PID
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil {
			found[pid] = strings.ReplaceAll(string(text), "\x00", " ")
		}
	}
	return found
}

// daemons are the processes of this home that are a daemon. A child of one that is just
// being started looks like its parent until it executes its own program. One whose parent
// was killed meanwhile is told by its single thread, and waited for.
func (h *home) daemons() (pids []int) {
	h.t.Helper()
	require.True(h.t, standins.Until(bound, func() bool {
		pids = nil
		left := h.left()
		for pid, line := range left {
			if _, child := left[parent(pid)]; !strings.Contains(line, " serve ") || child {
				continue
			}
			if threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid)); len(threads) == 1 {
				return false
			}
			pids = append(pids, pid)
		}
		return true
	}))
	return pids
}

// parent is a process's, 0 when it has ended.
func parent(pid int) (ppid int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	var state string
	_, _ = fmt.Sscan(rest, &state, &ppid)
	return ppid
}

// outcome is what one run of the program left.
type outcome struct {
	code           int
	stdout, stderr string
}

// with is the home's environment and more.
func (h *home) with(more ...string) []string { return slices.Concat(h.env, more) }

// command prepares a run of the program.
func (h *home) command(args ...string) *exec.Cmd {
	c := exec.Command(h.program, args...)
	c.Dir, c.Env = h.project, h.env
	return c
}

// hearth runs the program to its end. It may be called on any goroutine.
func (h *home) hearth(args ...string) outcome {
	return h.run(h.command(args...))
}

func (h *home) run(c *exec.Cmd) outcome {
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Start(); !assert.NoError(h.t, err) {
		return outcome{code: -1}
	}
	timer := time.AfterFunc(2*bound, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	err := c.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		assert.NoError(h.t, err)
	}
	return outcome{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// start makes sure that a daemon runs and gives its identity.
func (h *home) start() wire.Ping {
	h.t.Helper()
	ping, got := h.tryStart()
	require.Zero(h.t, got.code, "%s\n%s", got.stderr, h.logs())
	return ping
}

func (h *home) tryStart(args ...string) (ping wire.Ping, got outcome) {
	got = h.hearth(append(args, "start")...)
	if got.code == 0 {
		assert.NoError(h.t, json.Unmarshal([]byte(got.stdout), &ping))
	}
	return ping, got
}

// status asks a running daemon.
func (h *home) status() wire.Status {
	h.t.Helper()
	got := h.hearth("status", "--json")
	require.Zero(h.t, got.code, got.stderr)
	var status wire.Status
	require.NoError(h.t, json.Unmarshal([]byte(got.stdout), &status))
	return status
}

// socket is where the home's daemon listens, or would.
func (h *home) socket() string { return h.paths().Socket }

func (h *home) paths() config.Paths {
	install, err := config.ReadInstall(h.program)
	require.NoError(h.t, err)
	return config.PathsIn(h.dir, install)
}

// held tells whether somebody has a lock.
func held(t *testing.T, path string) bool {
	t.Helper()
	lock, free, err := client.TryLock(path)
	require.NoError(t, err)
	if free {
		lock.Release()
	}
	return !free
}

// logs is what all daemons of the home logged.
func (h *home) logs() string {
	files, err := filepath.Glob(filepath.Join(h.dir, "*.log"))
	assert.NoError(h.t, err)
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if !errors.Is(err, fs.ErrNotExist) { // rotated meanwhile
			assert.NoError(h.t, err)
		}
		all.Write(text)
	}
	return all.String()
}

// slowly makes the REPL say "slow is done" after a time for code that has the word slow.
func slowly(d time.Duration) script.REPL { return slow(script.Delay(d)) }

// untilReleased makes it say that once it is released.
func untilReleased(t testing.TB) (repl script.REPL, release func()) {
	file := filepath.Join(t.TempDir(), "released")
	return slow(script.AwaitFile(file)), func() { standins.WriteFile(t, file, "") }
}

func slow(wait script.Action) script.REPL {
	return script.REPL{Rules: []script.Rule{script.Match("slow", wait,
		script.Reply(map[string]any{"ok": true, "stdout": "", "stderr": "", "result": "slow is done", "error": nil}))}}
}

// begin starts a run of slow code and gives its outcome when it ends. It returns when
// the REPL has the code.
func (h *home) begin(code string) <-chan outcome {
	h.t.Helper()
	done := make(chan outcome, 1)
	c := h.command("run")
	c.Stdin = strings.NewReader(code)
	go func() { done <- h.run(c) }()
	require.True(h.t, standins.Until(bound, func() bool { return h.received(code) > 0 }), "the REPL has got the code")
	return done
}

// received counts how often the REPLs got this code.
func (h *home) received(code string) int {
	return len(h.repl.Select(h.t, standins.Is("", journal.Received, code)))
}
