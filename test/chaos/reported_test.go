//go:build linux

package chaos_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/play"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

// busyHost is a host whose tree is in mid-work: a worker waits for a build that ignores
// SIGTERM.
func busyHost(t *testing.T, s setup, env []string, knobs ...string) (*remote, lean) {
	t.Helper()
	l := newLean(t, append(knobs, standins.At(build, "ignore-term"))...)
	r := startHost(t, l.setup(s), env...)
	r.order(order{Do: "check", Project: l.project, File: l.write(t, true)})
	l.await(t, build)
	return r, l
}

// await waits for the start of a process of that role.
func (l lean) await(t *testing.T, role string) standins.Event {
	t.Helper()
	return standins.AwaitEvent(t, l.journal, standins.Is(role, journal.Start, ""), standins.Bound)
}

// environ reads the environment that a process was started with.
func environ(t *testing.T, pid int) map[string]string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	require.NoError(t, err)
	env := map[string]string{}
	for entry := range strings.SplitSeq(string(text), "\x00") {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	return env
}

// Reported fault 28: the wrong process is killed after its number was reused.
func TestReportedFault28TheWrongProcessIsKilledAfterItsNumberWasReused(t *testing.T) {
	if os.Getenv(insideVar) == "" {
		t.Skip("numbers come around at will only in a PID namespace, which takes root")
	}
	r, l := busyHost(t, setup{}, nil, standins.At(worker, "spawn setsid ignore-term"))
	found := l.await(t, play.Sleeper)
	r.order(order{Do: byClose})
	// The scan has found it, and the sweep waits for what SIGTERM does.
	standins.AwaitEvent(t, l.journal, standins.Is(play.Sleeper, journal.Signal, "SIGTERM"), standins.Bound)
	require.NoError(t, r.Cmd.Process.Signal(unix.SIGSTOP))
	standins.Kill(t, found, unix.SIGKILL)
	standins.AwaitGone(t, found.PID, found.StartTicks)
	var all reusers
	require.True(t, all.place(t, found.PID, standins.Bound), "its number came around")
	require.NoError(t, r.Cmd.Process.Signal(unix.SIGCONT))
	r.closed(byClose)
	r.leave() // the newcomer is looked for at the end of the test
}

// Reported fault 30: a process ends between the open and the read of its file in /proc.
func TestReportedFault30AProcessEndsWhileItIsLookedAt(t *testing.T) {
	foreign := standins.WriteLSP(t, script.LSP{Rules: []script.Rule{script.When(script.OnStart,
		script.Start(play.Spawn{Kind: play.ForkLoop, Every: "3ms"}),
		script.Start(play.Spawn{Kind: play.ForkLoop, Every: "3ms", Setsid: true}))}})
	standins.Launch(t, t.TempDir(), nil, foreign.Command(standins.Build(t).LSP)...)
	standins.AwaitEvents(t, foreign.Journal, standins.Is(play.ForkLoop, journal.Start, ""), 2, standins.Bound)

	l := newLean(t, standins.At(worker, "fork-loop every=3ms", "fork-loop setsid every=3ms"))
	rt := embedded(t, l)
	file := l.write(t, false)
	for n := range 20 {
		_, err := rt.Diagnostics(t.Context(), supervisor.Document{Project: l.project, File: file})
		require.NoError(t, err)
		servers := standins.Select(t, l.journal, standins.Is(server, journal.Start, ""))
		require.Len(t, servers, n+1)
		standins.Kill(t, servers[n], unix.SIGKILL) // so the tree is swept, and the next call gets another
		// What has started may not have said so yet: that all of it ended is the runtime's to tell.
		require.True(t, standins.Until(standins.Bound, func() bool { return reaped(t, rt) == n+1 }))
		require.Empty(t, alive(l.journal))
	}
}

// reaped is how many trees have ended, none of them after a sweep that failed.
func reaped(t *testing.T, rt *supervisor.Runtime) (trees int) {
	status, err := rt.Status(t.Context())
	require.NoError(t, err)
	for _, e := range status.Events {
		require.NotEqual(t, messages.EventSweepFailed, e.Kind, e.Detail)
		if e.Kind == messages.EventReaped {
			trees++
		}
	}
	return trees
}

// embedded is a runtime in this process.
func embedded(t *testing.T, l lean, options ...supervisor.Option) *supervisor.Runtime {
	t.Helper()
	cfg, err := l.setup(setup{}).config()
	require.NoError(t, err)
	rt, err := supervisor.Start(t.Context(), cfg, options...)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, rt.Close())
		assert.Empty(t, alive(l.journal))
	})
	return rt
}

// Reported fault 34: the mark is inherited where it should not be.
func TestReportedFault34MarksAreFreshInEveryTreeAndNowhereElse(t *testing.T) {
	env := []string{procscan.SessionVar + "=inherited", procscan.RuntimeVar + "=inherited"}
	r, l := busyHost(t, setup{Guard: true}, env)
	r.order(order{Do: "run", Project: l.project, Code: "-- fake: sleep 10m"})
	l.await(t, repl)
	other, o := busyHost(t, setup{}, env)
	own := environ(t, r.PID)
	assert.Equal(t, "inherited", own[procscan.SessionVar], "it ends with the tree that it is in")
	guard := environ(t, r.awaitGuard(procscan.Identity{}).PID)
	assert.NotContains(t, guard, procscan.SessionVar)
	assert.NotContains(t, guard, procscan.RuntimeVar)

	sessions, runtimes := map[string]bool{"inherited": true}, map[string]bool{"inherited": true}
	for _, e := range []standins.Event{l.await(t, build), l.await(t, repl), o.await(t, build)} {
		marks := environ(t, e.PID)
		assert.Len(t, marks[procscan.SessionVar], 32)
		assert.Len(t, marks[procscan.RuntimeVar], 32)
		sessions[marks[procscan.SessionVar]], runtimes[marks[procscan.RuntimeVar]] = true, true
	}
	assert.Len(t, sessions, 4, "each tree has its own")
	assert.Len(t, runtimes, 3, "and each runtime")
	for _, one := range []*remote{r, other} {
		one.shut(byClose)
		one.leave()
	}
}

// Reported fault 45: zombies that nobody waits for are counted as alive.
func TestReportedFault45AZombieOfAForeignParentHoldsUpNoClose(t *testing.T) {
	r, l := busyHost(t, setup{}, nil)
	marks := environ(t, l.await(t, worker).PID)
	tagged := exec.Command("sleep", "600")
	tagged.Env = []string{procscan.SessionVar + "=" + marks[procscan.SessionVar]}
	require.NoError(t, tagged.Start())
	ticks := journal.StartTicks(tagged.Process.Pid)
	r.shut(byClose)
	assert.True(t, standins.IsZombie(tagged.Process.Pid, ticks), "we are its parent, and have not waited")
	assert.Regexp(t, "^signal: (terminated|killed)$", tagged.Wait().Error(), "killed: it had no time to obey")
	r.leave()
}

// Reported fault 45: as the first process of a container, orphans are waited for, and no
// exit status is lost.
func TestReportedFault45TheFirstProcessOfAContainerReapsOrphansAndKeepsStatuses(t *testing.T) {
	if os.Getenv(insideVar) == "" {
		t.Skip("a PID namespace takes root")
	}
	l := newLean(t, standins.At(server, "re-session", "crash kill"))
	r := launchHost(t, l.setup(setup{Subreaper: true, Guard: true, Command: l.direct()}), firstVar+"=1")
	started, ok := r.await("started")
	require.True(t, ok, r.Stderr(t))
	require.Empty(t, started.Error)
	file := l.write(t, false)
	for range 50 {
		r.order(order{Do: "check", Project: l.project, File: file})
		answered, ok := r.await("answered")
		require.True(t, ok)
		require.Contains(t, answered.Error, "signal: killed")
	}
	require.True(t, standins.Until(standins.Bound, func() bool {
		r.order(order{Do: "zombies"})
		told, ok := r.await("zombies")
		return ok && told.Zombies < 5
	}))
	r.shut(byShutdown)
	r.leave()
}

// What clears its environment can't be found by any mark. Without control groups it is
// seen as soon as its parent has ended, and it is ended with the runtime.
func TestAnOrphanThatNoSweepFindsIsShownAndEndsWithTheRuntime(t *testing.T) {
	l := newLean(t, standins.At(worker, "clear-env"))
	r := startHost(t, l.setup(setup{Subreaper: true, Idle: "100ms"}))
	r.order(order{Do: "check", Project: l.project, File: l.write(t, false)})
	bare := l.await(t, play.Sleeper)
	require.True(t, standins.Until(standins.Bound, func() bool {
		status, ok := r.status()
		return ok && status.Runtime.Trees == 0 && len(status.Runtime.Adopted) == 1 &&
			status.Runtime.Adopted[0].PID == bare.PID
	}))
	r.shut(byShutdown)
	r.leave()
}

// An embedded engine takes no exit status of its host's own children.
func TestHostsOwnChildrenKeepTheirExitStatuses(t *testing.T) {
	l := newLean(t, standins.At(worker, "re-session", "zombie"), standins.At(server, "crash kill"))
	rt := embedded(t, l, supervisor.WithGuard(), supervisor.WithContainment())
	file := l.write(t, false)
	ctx, stop := context.WithCancel(t.Context())
	var engine sync.WaitGroup
	engine.Go(func() {
		for ctx.Err() == nil { // trees that come and go
			_, _ = rt.Diagnostics(ctx, supervisor.Document{Project: l.project, File: file})
		}
	})
	l.await(t, server) // the engine is at work
	var host sync.WaitGroup
	for lane := range 6 {
		host.Go(func() {
			for n := range 50 {
				want := (lane*50 + n) % 200
				how := fmt.Sprintf("exit %d", want)
				if n%10 == 0 {
					how = "kill -9 $$"
				}
				cmd := exec.Command("sh", "-c", how)
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: n%2 == 0}
				err := cmd.Run()
				state := cmd.ProcessState
				if !assert.NotNil(t, state, "%v", err) {
					continue
				}
				if n%10 == 0 {
					assert.Equal(t, "signal: killed", state.String())
				} else {
					assert.Equal(t, want, state.ExitCode(), "%v", err)
				}
			}
		})
	}
	host.Wait()
	stop()
	engine.Wait()
}
