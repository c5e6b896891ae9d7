//go:build linux

package chaos_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/seed-f6977891/hearth/procscan"
	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/journal"
)

// nested is a runtime inside of another one's tree: beside the language server, its
// wrapper starts a host.
type nested struct {
	outer, inner         *remote
	outerLean, innerLean lean
	host                 procscan.Identity // the inner one's
}

func newNested(t *testing.T) nested {
	t.Helper()
	n := nested{outerLean: newLean(t), innerLean: newLean(t, standins.At(build, "ignore-term"))}
	text, err := json.Marshal(n.innerLean.setup(setup{Guard: true}))
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	in, out, pid := fifo(t, dir+"/in"), fifo(t, dir+"/out"), dir+"/pid"
	wrapper := fmt.Sprintf(`%s='%s' setsid '%s' <'%s' >'%s' & echo $! >'%s'; exec "$0" serve`,
		hostVar, text, self, in.Name(), out.Name(), pid)
	lake := n.outerLean.setup(setup{}).Lake
	n.outer = startHost(t, n.outerLean.setup(setup{Guard: true, Command: []string{"sh", "-c", wrapper, lake}}))
	n.outer.order(order{Do: "check", Project: n.outerLean.project, File: n.outerLean.write(t, true)})
	n.outerLean.await(t, build)
	n.inner = converse(t, in, out)
	started, ok := n.inner.await("started")
	require.True(t, ok)
	require.Empty(t, started.Error)
	n.inner.awaitGuard(procscan.Identity{})
	n.inner.order(order{Do: "check", Project: n.innerLean.project, File: n.innerLean.write(t, true)})
	n.innerLean.await(t, build)
	number, err := os.ReadFile(pid)
	require.NoError(t, err)
	var leader int
	_, err = fmt.Sscan(string(number), &leader)
	require.NoError(t, err)
	n.host, err = procscan.Read(leader)
	require.NoError(t, err)
	return n
}

// fifo is opened for both ways, so that nobody waits for the other end.
func fifo(t *testing.T, path string) *os.File {
	t.Helper()
	require.NoError(t, unix.Mkfifo(path, 0o600))
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	return file
}

func TestReportedFault34ANestedRuntimeEndsWithTheOuterTree(t *testing.T) {
	n := newNested(t)
	n.outer.shut(byClose)
	_, err := procscan.Read(n.host.PID)
	assert.True(t, procscan.IsGone(err), "it carries the outer tree's mark")
	// Its own trees carry its own marks: they are its guard's.
	assert.True(t, standins.Until(standins.Bound, func() bool { return len(alive(n.innerLean.journal)) == 0 }))
	n.outer.leave()
}

func TestReportedFault34ClosingANestedRuntimeLeavesTheOuterAlone(t *testing.T) {
	n := newNested(t)
	before := alive(n.outerLean.journal)
	n.inner.shut(byClose)
	n.inner.leave()
	assert.Empty(t, alive(n.innerLean.journal))
	assert.Equal(t, before, alive(n.outerLean.journal))
	assert.Empty(t, standins.Select(t, n.outerLean.journal, standins.Is("", journal.Signal, "")))
	n.outer.shut(byClose)
	n.outer.leave()
}
