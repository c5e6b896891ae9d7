//go:build linux

package chaos_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/test/standins"
)

// remote is a host as a test sees it.
type remote struct {
	*standins.Child // nil for one that was started by a tree
	t               *testing.T
	in, out         *os.File
	lines           chan told
	kept            []told // came before they were asked for
}

// startHost starts a host with env beside its environment, and waits until its runtime
// is there.
func startHost(t *testing.T, s setup, env ...string) *remote {
	t.Helper()
	r := launchHost(t, s, env...)
	started, ok := r.await("started")
	require.True(t, ok, r.Stderr(t))
	require.Empty(t, started.Error)
	return r
}

func launchHost(t *testing.T, s setup, env ...string) *remote {
	t.Helper()
	text, err := json.Marshal(s)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	env = append(env, hostVar+"="+string(text), "GORACE=atexit_sleep_ms=0")
	child := standins.Launch(t, t.TempDir(), env, self)
	r := converse(t, child.Stdin, child.Stdout)
	r.Child = child
	return r
}

// converse talks with a host by its streams.
func converse(t *testing.T, in, out *os.File) *remote {
	r := &remote{t: t, in: in, out: out, lines: make(chan told, 64)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(r.lines)
		lines := bufio.NewScanner(r.out)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var line told
			if json.Unmarshal(lines.Bytes(), &line) == nil {
				r.lines <- line
			}
		}
	}()
	t.Cleanup(func() {
		if r.Child != nil {
			_ = r.Cmd.Process.Kill()
		}
		_ = r.out.SetReadDeadline(time.Now().Add(time.Second))
		<-ended
	})
	return r
}

func (r *remote) order(o order) {
	r.t.Helper()
	line, err := json.Marshal(o)
	require.NoError(r.t, err)
	_, _ = r.in.Write(append(line, '\n')) // one that was killed hears nothing
}

// await waits for a line of that kind. It is false when the host has ended, or takes
// longer than any machine does.
func (r *remote) await(what string) (told, bool) {
	for i, line := range r.kept {
		if line.What == what {
			r.kept = append(r.kept[:i:i], r.kept[i+1:]...)
			return line, true
		}
	}
	limit := time.After(standins.Bound)
	for {
		select {
		case line, ok := <-r.lines:
			if !ok || line.What == what {
				return line, ok
			}
			r.kept = append(r.kept, line)
		case <-limit:
			return told{}, false
		}
	}
}

func (r *remote) status() (supervisor.Status, bool) {
	r.order(order{Do: "status"})
	line, ok := r.await("status")
	if !ok || line.Error != "" {
		return supervisor.Status{}, false
	}
	return *line.Status, true
}

// guard gives the guard process that watches now.
func (r *remote) guard() (procscan.Identity, bool) {
	status, ok := r.status()
	pid, watches := strings.CutPrefix(status.Runtime.Guard, "watching (process ")
	number, _ := strconv.Atoi(strings.TrimSuffix(pid, ")"))
	if !ok || !watches {
		return procscan.Identity{}, false
	}
	guard, err := procscan.Read(number)
	// The guard may have died, and its number be a newcomer's, before the runtime noticed.
	command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", number))
	return guard, err == nil && strings.Contains(string(command), "\x00hearth-guard\x00")
}

// awaitGuard waits for a guard other than the one before.
func (r *remote) awaitGuard(before procscan.Identity) (guard procscan.Identity) {
	r.t.Helper()
	require.True(r.t, standins.Until(standins.Bound, func() bool {
		var ok bool
		guard, ok = r.guard()
		return ok && guard != before
	}), "no guard watches")
	return guard
}

// shut ends the runtime and then the host, and gives what the host said of each.
func (r *remote) shut(how string) (closed told) {
	r.t.Helper()
	r.order(order{Do: how})
	return r.closed(how)
}

// closed waits for the end that was ordered. One that took longer than abort_grace is
// asked for again.
func (r *remote) closed(how string) told {
	r.t.Helper()
	closed, ok := r.await("closed")
	for took := closed.Took; ok && closed.Error != "" && took < standins.Bound; took += closed.Took {
		r.order(order{Do: how})
		closed, ok = r.await("closed")
		closed.Took += took
	}
	require.True(r.t, ok, "the host died")
	require.Empty(r.t, closed.Error)
	require.Empty(r.t, closed.Alive, "closed, and these live")
	return closed
}

// leave ends the host. Everything that the runtime took must be given back.
func (r *remote) leave() {
	r.t.Helper()
	r.order(order{Do: "leave"})
	left, ok := r.await("left")
	require.True(r.t, ok, "the host died")
	require.Empty(r.t, left.Kept, "kept by a runtime that has ended")
	if r.Child != nil {
		require.Zero(r.t, r.ExitCode(r.t))
	}
}
