//go:build linux

package chaos_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/play"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

// world is what goes on beside the rounds, and must not notice them.
type world struct {
	journals []string // of what must stay as it is
	started  map[string][]string
	other    *remote // a runtime with a tree
}

// newWorld starts a canary, processes of nobody's that a scan can't judge easily, and
// another runtime with a tree.
func newWorld(t *testing.T) *world {
	standins.NewCanary(t)
	w := &world{started: map[string][]string{}}
	w.journals = append(w.journals, foreigners(t))
	lean := newLean(t, standins.At(server, "re-session for="+longest, "spawn setsid for="+longest))
	w.other = startHost(t, lean.setup(setup{Guard: true, RuntimeDir: runtimeDir(t), Idle: longest}))
	w.other.order(order{Do: "check", Project: lean.project, File: lean.write(t, false)})
	answered, ok := w.other.await("answered")
	require.True(t, ok)
	require.Empty(t, answered.Error)
	standins.AwaitEvents(t, lean.journal, standins.Is(play.ReSession, journal.Start, ""), 2, standins.Bound)
	lean.await(t, play.Sleeper)
	w.journals = append(w.journals, lean.journal)
	for _, path := range w.journals {
		w.started[path] = lasting(path)
		require.Greater(t, len(w.started[path]), 2)
	}
	return w
}

// lasting are the living processes of a journal but for a Lean worker, which ends with its
// document when nobody has asked about that for some minutes.
func lasting(path string) (found []string) {
	for _, e := range alive(path) {
		if e.Role != worker && e.Role != "setup" {
			found = append(found, fmt.Sprintf("%s %d@%d", e.Role, e.PID, e.StartTicks))
		}
	}
	return found
}

// foreigners starts a process that executes itself for ever and one without any
// environment.
func foreigners(t *testing.T) (journalPath string) {
	lsp := standins.WriteLSP(t, script.LSP{Rules: []script.Rule{script.When(script.OnStart,
		script.Start(play.Spawn{Kind: play.ExecLoop, Setsid: true, Every: "1ms", For: longest}),
		script.Start(play.Spawn{Setsid: true, ClearEnv: true, For: longest}))}})
	standins.Launch(t, t.TempDir(), nil, lsp.Command(standins.Build(t).LSP)...)
	for _, kind := range []string{play.ExecLoop, play.Sleeper} {
		lsp.Await(t, standins.Is(kind, journal.Start, ""))
	}
	return lsp.Journal
}

// unharmed says whether everything of the world lives, and got no signal.
func (w *world) unharmed(t *testing.T) {
	for _, path := range w.journals {
		assert.Empty(t, standins.Select(t, path, standins.Is("", journal.Signal, "")))
		assert.Equal(t, w.started[path], lasting(path), "all of them live")
	}
	w.other.shut(byClose)
	w.other.leave()
}

// runtimeDir is short enough for a socket's path, which a configuration is held to.
func runtimeDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "chaos")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// lean is a project of Lean's stand-in with the journal of what runs in it.
type lean struct {
	project, journal string
	bin              standins.Bin
}

func newLean(t *testing.T, knobs ...string) lean {
	l := lean{project: standins.Project(t, "lean"), journal: standins.JournalPath(t), bin: standins.Build(t)}
	standins.WriteKnobs(t, l.project, l.bin.LeanEnv(l.journal, knobs...)...)
	standins.EndSurvivors(t, l.journal)
	return l
}

// setup completes a host's setup for the project.
func (l lean) setup(s setup) setup {
	s.Journal, s.Lake = l.journal, filepath.Join(l.bin.LeanDir(), "lake")
	if s.Command == nil {
		s.Command = []string{s.Lake, "serve"}
	}
	return s
}

// direct is the command of a server without the wrapper that it usually has.
func (l lean) direct() []string { return []string{filepath.Join(l.bin.LeanDir(), "lean"), "--server"} }

// longest is longer than any run of the rounds.
const longest = "12h"

// write writes a file to be checked; a busy one waits for a build that takes the longest.
func (l lean) write(t *testing.T, busy bool) (name string) {
	text := "#check Nat\n"
	if busy {
		text = "-- fake: import-slow Slow " + longest + "\n"
	}
	standins.WriteFile(t, filepath.Join(l.project, "A.lean"), text)
	return "A.lean"
}

// reusers are untagged processes that were given the number of one that died.
type reusers struct {
	mu     sync.Mutex
	placed int
}

// newcomersTime is like no other sleep's here.
const newcomersTime = "86399"

// isNewcomer tells a process that was given the number of one that had lived for less than
// a tick of the clock that starts are counted in: both have the same identity. Until it
// executes its program it is a copy of this one, and while it does it shows no command.
func isNewcomer(pid int) bool {
	own, err := os.ReadFile("/proc/self/cmdline")
	if err != nil {
		return false
	}
	for {
		command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			return false
		}
		if _, err := procscan.Read(pid); len(command) > 0 || err != nil {
			return string(command) == "sleep\x00"+newcomersTime+"\x00" || string(command) == string(own)
		}
		time.Sleep(time.Millisecond)
	}
}

// place gives the dead process's number to a canary, as soon as it is free. It may not be
// possible: without a namespace of our own, or when the number stays a zombie's.
func (r *reusers) place(t *testing.T, pid int, bound time.Duration) (placed bool) {
	if os.Getenv(insideVar) == "" {
		return false
	}
	r.mu.Lock() // the kernel has one next number
	defer r.mu.Unlock()
	for deadline := time.Now().Add(bound); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); err == nil {
			continue
		}
		if os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(strconv.Itoa(pid-1)), 0) != nil {
			return false
		}
		newcomer := exec.Command("sleep", newcomersTime)
		newcomer.Env = []string{"PATH=/usr/bin:/bin"}
		if newcomer.Start() != nil {
			return false
		}
		kill := func() string { _ = newcomer.Process.Kill(); return newcomer.Wait().Error() }
		if newcomer.Process.Pid != pid { // somebody else was faster
			kill()
			continue
		}
		r.placed++
		id, err := procscan.Read(pid)
		require.NoError(t, err)
		t.Cleanup(func() {
			assert.False(t, standins.Gone(pid, id.StartTicks), "the process that was given %d was ended", pid)
			kill()
		})
		return true
	}
	return false
}
