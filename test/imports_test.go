package test_test

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arrows lists, for the files at a place, all of hearth that they may import. The
// first row that fits counts.
var arrows = []struct {
	place string
	may   []string
	why   string
}{
	{"procscan", nil,
		"it talks to the kernel and must be usable, and testable, without anything above it"},
	{"messages", []string{"procscan"},
		"what everybody sends must not depend on anybody"},
	{"actors", []string{"messages", "procscan"},
		"the kit knows no actor"},
	{"actors/...", []string{"actors", "messages", "procscan"},
		"actors talk by messages alone: one that can't import another can't call its methods; factories are passed in"},
	{"supervisor/config", []string{"messages", "procscan"},
		"clients read the settings too, and must not get the engine with them"},
	{"supervisor/wire", []string{"messages", "procscan"},
		"both ends of the socket are made of it; it knows no actor and no settings"},
	{"supervisor/client", []string{"supervisor/wire", "supervisor/config", "messages", "procscan"},
		"a client of the shared daemon must not link the engine"},
	{"supervisor", []string{"supervisor/config", "actors", "actors/cache", "actors/lsp", "actors/repl", "actors/sweeper",
		"actors/observer", "actors/buildwatch", "messages", "procscan"},
		"it puts the tree together; the socket is not its business"},
	{"cmd/runtime/...", []string{"cmd/runtime/internal/mcp", "cmd/runtime/internal/render", "cmd/runtime/internal/rpc",
		"supervisor", "supervisor/client", "supervisor/wire", "supervisor/config", "messages", "procscan"},
		"the program uses the embedding API as any host does, and no actor"},
}

// reserved are packages from elsewhere that only some places may import.
var reserved = []struct {
	packages []string // an import path, also as the beginning of longer ones
	places   []string
	tests    bool // tests may, wherever they are
	why      string
}{
	{[]string{"github.com/anthdm/hollywood"}, []string{"actors/...", "supervisor", "messages"}, false,
		"it is used narrowly, behind the kit; messages need its addresses"},
	{[]string{"go.lsp.dev/jsonrpc2"},
		[]string{"actors/lsp/wire.go", "actors/lsp/stream.go", "actors/lsp/requests.go", "actors/lsp/notifications.go",
			"supervisor/wire", "cmd/runtime/internal/rpc"}, true,
		"sessions see lsp.Wire: the library must never run in a bubble (requests.go and notifications.go are wire.go's handlers)"},
	{[]string{"os/exec", "syscall"}, []string{"procscan", "cmd/runtime/..."}, true,
		"every process has a mark and an owner only if one package starts and signals all"},
	{[]string{"os/signal"}, []string{"cmd/runtime/...", "supervisor/guard.go"}, true,
		"an embedded engine installs no signal handler in its host; a guard process has none"},
	{[]string{"github.com/spf13/cobra", "github.com/modelcontextprotocol/go-sdk", "gopkg.in/natefinch/lumberjack.v2"},
		[]string{"cmd/runtime/..."}, true,
		"a host that embeds the engine doesn't want a command line"},
	{[]string{"github.com/stretchr/testify", "go.uber.org/goleak", "testing"}, []string{"test/..."}, true,
		"a program holds nothing that is for tests"},
}

func TestImportsFollowTheArrows(t *testing.T) {
	for _, s := range sources(t) {
		for _, b := range append(wrongArrows(s), wrongPackages(s)...) {
			t.Error(b)
		}
	}
}

// wrongArrows finds imports of hearth's own packages that point the wrong way. The
// stand-ins of test/ may import anything.
func wrongArrows(s source) (found []breach) {
	if within(s.path, []string{"test", "test/..."}) {
		return nil
	}
	may, why := allowed(s)
	for at, imported := range imports(s) {
		own, ok := strings.CutPrefix(imported, module+"/")
		if ok && !slices.Contains(may, own) {
			found = append(found, breach{s.path, at, "imports " + own + ": " + why})
		}
	}
	return found
}

func allowed(s source) (may []string, why string) {
	why = "no row of the table is for this package: the architecture doesn't know it"
	for _, row := range arrows {
		if within(s.path, []string{row.place, strings.TrimSuffix(row.place, "/...")}) {
			may, why = slices.Clone(row.may), row.why
			break
		}
	}
	if s.isExternalTest() { // in-package tests would make a cycle of them
		may = append(may, s.dir(), "test/actortest", "test/actortest/explore", "test/fakes")
	}
	return may, why
}

func wrongPackages(s source) (found []breach) {
	for at, imported := range imports(s) {
		for _, row := range reserved {
			if row.tests && s.isTest() || within(s.path, row.places) {
				continue
			}
			for _, p := range row.packages {
				if imported == p || strings.HasPrefix(imported, p+"/") {
					found = append(found, breach{s.path, at, "imports " + imported + ": " + row.why})
				}
			}
		}
	}
	return found
}

// imports gives the imported paths by their lines.
func imports(s source) map[int]string {
	found := make(map[int]string)
	for _, spec := range s.file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err == nil { // the parser has seen to that
			found[s.line(spec.Pos())] = name
		}
	}
	return found
}

// TestEveryPackageHasARow sees to it that a new package is thought about, also one
// that imports nothing.
func TestEveryPackageHasARow(t *testing.T) {
	dirs := make(map[string]bool)
	for _, s := range sources(t) {
		dirs[s.dir()] = true
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		if !known(dir) {
			t.Errorf("%s: the architecture doesn't know this package", dir)
		}
	}
}

func known(dir string) bool {
	for _, row := range arrows {
		if within(path.Join(dir, "x.go"), []string{row.place, strings.TrimSuffix(row.place, "/...")}) {
			return true
		}
	}
	return dir == "test" || strings.HasPrefix(dir, "test/")
}
