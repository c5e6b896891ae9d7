package daemon_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/supervisor/wire"
	"github.com/seed-f6977891/hearth/test/servers"
	"github.com/seed-f6977891/hearth/test/standins"
)

// readme is README.md taken apart.
type readme struct {
	fences []fence
	blocks []string // the lines that are indented
	spans  []string // what stands in backquotes, on one line
}

// fence is a block between lines of three backquotes.
type fence struct{ kind, text string }

var (
	fenced   = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")
	indented = regexp.MustCompile(`(?m)^    (\S.*)$`)
	quoted   = regexp.MustCompile("`([^`]+)`")
)

func readReadme(t *testing.T) (r readme) {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	for _, match := range fenced.FindAllStringSubmatch(string(text), -1) {
		r.fences = append(r.fences, fence{match[1], match[2]})
	}
	prose := fenced.ReplaceAllString(string(text), "")
	for _, match := range indented.FindAllStringSubmatch(prose, -1) {
		r.blocks = append(r.blocks, match[1])
	}
	for _, match := range quoted.FindAllStringSubmatch(indented.ReplaceAllString(prose, ""), -1) {
		r.spans = append(r.spans, strings.Join(strings.Fields(match[1]), " "))
	}
	return r
}

// commands are all that a reader could type, each once: indented lines, spans that begin
// with the name of a program or of one of hearth's own commands, and the service's.
func (r readme) commands(own []string) []string {
	found := make(map[string]bool)
	for _, line := range r.blocks {
		if !strings.HasPrefix(line, "{") { // it is for the socket
			found[line] = true
		}
	}
	for _, span := range r.spans {
		switch first, _, _ := strings.Cut(span, " "); {
		case slices.Contains([]string{"go", "systemctl", ".ci/run"}, first), first == "hearth" && span != first:
			found[span] = true
		case slices.Contains(own, first):
			found["hearth "+span] = true
		}
	}
	for _, block := range r.fences {
		for line := range strings.Lines(block.text) {
			if command, ok := strings.CutPrefix(strings.TrimSpace(line), "ExecStart="); ok {
				found[command] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// ownCommands are those that hearth --help lists.
func (h *home) ownCommands() (names []string) {
	help := h.hearth("--help").stdout
	_, list, _ := strings.Cut(help, "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		names = append(names, strings.Fields(line)[0])
	}
	require.Greater(h.t, len(names), 10, help)
	return names
}

// TestEveryCommandOfTheReadmeWorks fails, too, when README.md has a command that proofs
// doesn't know, or has one no more.
func TestEveryCommandOfTheReadmeWorks(t *testing.T) {
	commands := readReadme(t).commands(newHome(t, options{}).ownCommands())
	require.Equal(t, slices.Sorted(maps.Keys(proofs)), commands)
	for _, command := range commands {
		t.Run(command, func(t *testing.T) { proofs[command](t) })
	}
}

// TestEveryOwnCommandIsInTheReadme has the other direction.
func TestEveryOwnCommandIsInTheReadme(t *testing.T) {
	own := newHome(t, options{}).ownCommands()
	commands := readReadme(t).commands(own)
	for _, name := range own {
		assert.True(t, name == "help" || slices.ContainsFunc(commands, func(command string) bool {
			return strings.HasPrefix(command+" ", "hearth "+name+" ")
		}), name)
	}
}

func TestEveryFlagOfTheReadmeExists(t *testing.T) {
	h := newHome(t, options{})
	known := h.hearth("config").stdout
	for _, name := range h.ownCommands() {
		known += h.hearth(name, "--help").stdout
	}
	for _, span := range readReadme(t).spans {
		for _, word := range strings.Fields(span) {
			word = strings.Trim(word, "[]")
			if name, ok := strings.CutPrefix(word, "--"); ok && name != "" && !strings.HasPrefix(span, "systemctl") {
				assert.Regexp(t, `(?m)(--|^)`+regexp.QuoteMeta(name)+`\b`, known, span)
			}
		}
	}
}

// TestEveryFenceOfTheReadmeIsTested says where; who adds one adds its test.
func TestEveryFenceOfTheReadmeIsTested(t *testing.T) {
	var kinds []string
	for _, block := range readReadme(t).fences {
		kinds = append(kinds, block.kind)
	}
	assert.Equal(t, []string{
		"",           // the demo's output: test/cli's demoSteps
		"toml",       // test/cli, by hearth config
		"ini", "ini", // below, by the service's command
		"json", // TestTheReadmesServerForAgentsStarts
		"go",   // test/cli, and the compiler
		"",     // the states: test, by the machines' own data
	}, kinds)
}

func TestEveryMethodOfTheReadmeIsTheDaemons(t *testing.T) {
	h := newHome(t, options{})
	h.start()
	method := regexp.MustCompile(`^(lsp|repl|build|daemon)\.[a-z]+$`)
	var methods []string
	for _, span := range readReadme(t).spans {
		if method.MatchString(span) && !slices.Contains([]string{"lsp.env", "lsp.complete"}, span) {
			methods = append(methods, span)
		}
	}
	assert.ElementsMatch(t, methods, []string{wire.MethodDiagnostics, wire.MethodHover, wire.MethodQuery, wire.MethodRun,
		wire.MethodREPLStatus, wire.MethodBuild, wire.MethodPing, wire.MethodStatus, wire.MethodTree, wire.MethodShutdown})
	for _, name := range methods {
		var reply struct{ Error struct{ Message string } }
		require.NoError(t, json.Unmarshal([]byte(h.ask(`{"v":1,"id":1,"method":"`+name+`","params":{}}`)), &reply))
		assert.NotContains(t, reply.Error.Message, "method", name)
	}
}

// TestTheReadmesLineForTheSocketGetsTheReplyBelowIt has them to the letter, but for the
// project's place.
func TestTheReadmesLineForTheSocketGetsTheReplyBelowIt(t *testing.T) {
	gopls := servers.Find(t, "gopls")
	h := newHome(t, options{})
	h.env = h.with("PATH=" + filepath.Dir(gopls) + string(os.PathListSeparator) + os.Getenv("PATH"))
	standins.WriteFile(t, filepath.Join(h.project, "go.mod"), "module m\n")
	standins.WriteFile(t, filepath.Join(h.project, "a.go"), "package a\n\nfunc f() int { return 1 }\n")
	h.start()
	lines := slices.DeleteFunc(readReadme(t).blocks, func(line string) bool { return !strings.HasPrefix(line, "{") })
	require.Len(t, lines, 2)
	assert.Equal(t, lines[1], h.ask(strings.Replace(lines[0], `"/p"`, `"`+h.project+`"`, 1)))
}

func TestTheReadmesServerForAgentsStarts(t *testing.T) {
	h := newHome(t, options{})
	var file struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	for _, block := range readReadme(t).fences {
		if block.kind == "json" {
			require.NoError(t, json.Unmarshal([]byte(block.text), &file))
		}
	}
	server, ok := file.Servers["hearth"]
	require.True(t, ok)
	require.Equal(t, "hearth", server.Command, "as it is in PATH")
	c := h.command(server.Args...)
	c.Stdin = strings.NewReader(initialize + listTools)
	got := h.run(c)
	assert.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stdout, `"run_lean_code"`)
}
