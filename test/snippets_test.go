package test_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func snippet(t *testing.T, path, text string) source {
	t.Helper()
	s, err := parse(path, []byte(text))
	require.NoError(t, err)
	return s
}

func TestAnImportAgainstAnArrowIsFound(t *testing.T) {
	for _, c := range []struct {
		path, pkg, imports string
		want               bool
	}{
		{"procscan/a.go", "procscan", module + "/messages", true},
		{"messages/a.go", "messages", module + "/procscan", false},
		{"messages/a.go", "messages", module + "/actors", true},
		{"actors/a.go", "actors", module + "/actors/lsp", true},
		{"actors/lsp/a.go", "lsp", module + "/actors", false},
		{"actors/lsp/a.go", "lsp", module + "/actors/repl", true},
		{"actors/lsp/a.go", "lsp", module + "/supervisor/config", true},
		{"actors/lsp/a_test.go", "lsp", module + "/test/fakes", true},
		{"actors/lsp/a_test.go", "lsp_test", module + "/test/fakes", false},
		{"actors/lsp/a_test.go", "lsp_test", module + "/actors/lsp", false},
		{"actors/lsp/a_test.go", "lsp_test", module + "/actors/cache", true},
		{"supervisor/a.go", "supervisor", module + "/actors/lsp", false},
		{"supervisor/a.go", "supervisor", module + "/supervisor/wire", true},
		{"supervisor/wire/a.go", "wire", module + "/supervisor/config", true},
		{"supervisor/client/a.go", "client", module + "/supervisor", true},
		{"cmd/runtime/a.go", "main", module + "/supervisor", false},
		{"cmd/runtime/a.go", "main", module + "/actors/lsp", true},
		{"cmd/runtime/internal/rpc/a.go", "rpc", module + "/supervisor/wire", false},
		{"supervisor/new/a.go", "new", module + "/messages", true},
		{"test/fakes/a.go", "fakes", module + "/actors/lsp", false},
	} {
		s := snippet(t, c.path, "package "+c.pkg+"\n\nimport _ \""+c.imports+"\"\n")
		assert.Equal(t, c.want, len(wrongArrows(s)) == 1, "%s imports %s", c.path, c.imports)
	}
	assert.False(t, known("supervisor/new"))
	assert.True(t, known("actors/new"))
}

func TestAReservedPackageIsFound(t *testing.T) {
	for _, c := range []struct {
		path, imports string
		want          bool
	}{
		{"procscan/a.go", hollywood, true},
		{"supervisor/wire/a_test.go", hollywood, true},
		{"messages/a.go", hollywood, false},
		{"actors/lsp/session.go", "go.lsp.dev/jsonrpc2", true},
		{"actors/lsp/wire.go", "go.lsp.dev/jsonrpc2", false},
		{"supervisor/a.go", "os/exec", true},
		{"supervisor/a.go", "syscall", true},
		{"supervisor/a_test.go", "syscall", false},
		{"procscan/a.go", "os/exec", false},
		{"cmd/runtime/internal/rpc/a.go", "syscall", false},
		{"supervisor/a.go", "os/signal", true},
		{"supervisor/a.go", "github.com/spf13/cobra", true},
		{"messages/a.go", "github.com/stretchr/testify/assert", true},
		{"test/fakes/a.go", "testing", false},
	} {
		s := snippet(t, c.path, "package p\n\nimport _ \""+c.imports+"\"\n")
		assert.Equal(t, c.want, len(wrongPackages(s)) == 1, "%s imports %s", c.path, c.imports)
	}
}

func TestAGoStatementIsFound(t *testing.T) {
	const text = "package p\n\nfunc f() {\n\tgo f()\n}\n"
	for path, want := range map[string]bool{
		"actors/lsp/a.go": true, "supervisor/a.go": true, "supervisor/wire/a.go": true, "messages/a.go": true,
		"actors/work.go": false, "procscan/a.go": false, "cmd/runtime/internal/rpc/a.go": false,
		"actors/lsp/a_test.go": false, "test/fakes/a.go": false,
	} {
		found := wrongGoroutines(snippet(t, path, text))
		assert.Equal(t, want, len(found) == 1, path)
		if want {
			assert.Equal(t, 4, found[0].line)
		}
	}
}

// TestAForbiddenCallIsFound has each function of the table once, under names that a
// search for text would miss, and one that may be called.
func TestAForbiddenCallIsFound(t *testing.T) {
	const imports = `package p
import (
	act "` + hollywood + `"
	"golang.org/x/sync/errgroup"
	"log"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"
)
var (
	e act.Engine
	c *act.Context
	_ = errgroup.Group{}
	_, _, _, _, _, _ = log.Flags, slog.New, os.Getpid, runtime.GC, sync.OnceFunc, time.Now
	_ = (&e).Send
)
type engine struct{ *act.Engine }
func use(...any) {}
func f(self engine, g errgroup.Group, w *sync.WaitGroup) {
`
	for _, call := range []string{
		`w.Go(nil)`, `start := w.Go; use(start)`, `g.Go(nil)`, `g.TryGo(nil)`, `time.AfterFunc(0, nil)`,
		`e.SpawnProc(nil)`, `self.Spawn(nil, "")`, `e.SpawnFunc(nil, "")`, `c.SpawnChild(nil, "")`, `c.Respond(nil)`,
		`e.Request(nil, nil, 0)`, `e.Subscribe(nil)`, `e.BroadcastEvent(nil)`, `self.Engine.Poison(nil)`, `e.PoisonCtx(nil, nil)`,
		`e.Stop(nil)`, `e.SendRepeat(nil, nil, 0)`, `os.Chdir("")`, `slog.SetDefault(nil)`, `os.Exit(1)`, `log.Fatalf("")`,
		`runtime.Goexit()`,
	} {
		p := check(t, "p", []source{snippet(t, "actors/lsp/a.go", imports+call+"\n}\n")})
		assert.Len(t, wrongCalls(p), 1, call)
	}
	p := check(t, "p", []source{snippet(t, "actors/lsp/a.go", imports+"e.Send(nil, nil)\n}\n")})
	assert.Empty(t, wrongCalls(p))
	p = check(t, "p", []source{snippet(t, "actors/spawn.go", imports+"e.SpawnProc(nil); w.Go(nil)\n}\n")})
	assert.Empty(t, wrongCalls(p), "where they may")
}

func TestALongFileIsFound(t *testing.T) {
	long := "package p\n" + strings.Repeat("\n", longest)
	assert.Equal(t, 300, tooLong(snippet(t, "actors/a.go", long)))
	assert.Zero(t, tooLong(snippet(t, "actors/a.go", long[:len(long)-1])))
	assert.Zero(t, tooLong(snippet(t, "actors/a_test.go", long)))
}

func TestAStrangeEntryIsFound(t *testing.T) {
	assert.False(t, belongs("scripts", topLevel))
	assert.True(t, belongs("actors", topLevel))
	assert.True(t, belongs(".ci", topLevel))
}

func TestAnUnfinishedWordIsFound(t *testing.T) {
	for text, want := range map[string]int{
		"// TO" + "DO: later": 1, "a\n# FIX" + "ME": 1, "X" + "XX": 1, "todo lists, METHODO" + "LOGY": 0,
	} {
		assert.Len(t, unfinishedWords("a", text), want, text)
	}
	assert.Equal(t, 2, unfinishedWords("a", "x\nHA"+"CK")[0].line)
}

func TestAPackageWithoutACommentIsFound(t *testing.T) {
	assert.Equal(t, []string{"a", "d"}, undocumented([]source{
		snippet(t, "a/a.go", "package a\n"),
		snippet(t, "a/a_test.go", "// Package a is documented at the wrong place.\npackage a\n"),
		snippet(t, "b/a.go", "package b\n"),
		snippet(t, "b/doc.go", "// Package b is documented.\npackage b\n"),
		snippet(t, "test/c/c_test.go", "// Package c has tests alone.\npackage c\n"),
		snippet(t, "d/d.go", "package d\n"),
	}))
}

func TestPlacesAreDirectoriesSubtreesAndFiles(t *testing.T) {
	for _, c := range []struct {
		file, place string
		want        bool
	}{
		{"actors/a.go", "actors", true}, {"actors/lsp/a.go", "actors", false}, {"actors/lsp/a.go", "actors/...", true},
		{"actors2/a.go", "actors/...", false}, {"actors/a.go", "actors/a.go", true}, {"actors/b.go", "actors/a.go", false},
	} {
		assert.Equal(t, c.want, within(c.file, []string{c.place}), "%s at %s", c.file, c.place)
	}
}
