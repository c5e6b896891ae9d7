package procscan

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tree is a launched node with what its processes have told.
type tree struct {
	Child
	mark  Mark
	lines *bufio.Scanner
	pids  map[string]int
	told  []string // what came before the last PID
}

// plant launches a tree and waits until the processes named have told their PID.
func plant(t testing.TB, launcher Launcher, root node, names ...string) *tree {
	t.Helper()
	mark := NewMark(SessionVar)
	child, err := launcher.Launch(t.Context(), Spec{Argv: root.argv(), Dir: "/", Env: os.Environ(), Marks: []Mark{mark}})
	require.NoError(t, err)
	tr := &tree{Child: child, mark: mark, pids: map[string]int{}}
	t.Cleanup(tr.cut)
	require.NoError(t, child.Stdout().SetReadDeadline(time.Now().Add(time.Minute)))
	tr.lines = bufio.NewScanner(child.Stdout())
	var told []string
	for len(tr.pids) < len(names) {
		name, rest := tr.next(t)
		if pid, err := strconv.Atoi(rest); err == nil {
			tr.pids[name] = pid
		} else {
			told = append(told, name+" "+rest)
		}
	}
	tr.told = told
	for _, name := range names {
		require.Contains(t, tr.pids, name)
	}
	return tr
}

// next reads a line "name rest".
func (tr *tree) next(t testing.TB) (name, rest string) {
	t.Helper()
	var line string
	if len(tr.told) > 0 {
		line, tr.told = tr.told[0], tr.told[1:]
	} else {
		require.True(t, tr.lines.Scan(), "no line came: %v, %s", tr.lines.Err(), tr.Diagnose())
		line = tr.lines.Text()
	}
	name, rest, _ = strings.Cut(line, " ")
	return name, rest
}

// finish waits for a leader that ends by itself, and ends the tree.
func (tr *tree) finish(t testing.TB) Status {
	t.Helper()
	_, err := tr.Exited(t.Context())
	require.NoError(t, err)
	return tr.end(t)
}

// end runs the whole end of a tree, as its owner does.
func (tr *tree) end(t testing.TB) Status {
	t.Helper()
	require.NoError(t, RetireGroup(t.Context(), tr, patient))
	require.NoError(t, Sweep(t.Context(), SystemTable(), tr.target(), patient))
	status, err := tr.Reap(t.Context())
	require.NoError(t, err)
	return status
}

func (tr *tree) target() Target { return Target{Mark: tr.mark, Leader: tr.Identity(), Cage: tr.Cage()} }

// cut ends what a failed test left.
func (tr *tree) cut() {
	if tr.Stage() == Reaping {
		return
	}
	ctx := context.Background()
	_ = RetireGroup(ctx, tr, patient)
	_ = Sweep(ctx, SystemTable(), tr.target(), patient)
	_, _ = tr.Reap(ctx)
}

// alive reports whether the PID belongs to a process that runs. Zombies don't: this
// machine's first process may take seconds to reap an orphan.
func alive(pid int) bool {
	_, err := Read(pid)
	return err == nil
}

// canary starts a process without a mark that has to live as long as the test.
func canary(t testing.TB) {
	cmd := exec.Command(executablePath(), node{Name: "canary"}.argv()[1:]...)
	require.NoError(t, cmd.Start())
	id, err := Read(cmd.Process.Pid)
	require.NoError(t, err)
	t.Cleanup(func() {
		now, err := Read(id.PID)
		if err != nil || now != id {
			t.Errorf("the canary %v died", id)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// eventually asks until done says so. It is for what the kernel or another
// process does in its own time.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	require.Eventually(t, done, time.Minute, 5*time.Millisecond, what)
}
