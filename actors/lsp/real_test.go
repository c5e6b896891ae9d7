package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// realServer is a server that people use, and two files of a project of which the
// second needs what the first defines.
type realServer struct {
	command    []string
	version    string // what --version must begin with; empty: any
	profile    Profile
	languageID string
	extra      map[string]string // other files of the project
	def, use   string            // file names
	good, bad  string            // texts of use
	gone       string            // a text of def without what use needs; empty: the server checks files alone
	defText    string
	hover      Position // in good
}

var realServers = map[string]realServer{
	"gopls": {
		command: []string{"gopls"}, languageID: "go",
		profile: Profile{Complete: CompleteVersion, InitializationOptions: json.RawMessage(`{"pullDiagnostics":true}`)},
		extra:   map[string]string{"go.mod": "module m\n\ngo 1.21\n"},
		def:     "def.go", use: "use.go",
		defText: "package m\n\nfunc Def() int { return 1 }\n", gone: "package m\n\nfunc Other() int { return 1 }\n",
		good: "package m\n\nvar Use = Def()\n", bad: "package m\n\nvar Use string = Def()\n",
		hover: Position{Line: 2, Character: 11},
	},
	"clangd": {
		command: []string{"clangd"}, languageID: "c",
		profile: Profile{Complete: CompleteVersion, Sources: []string{"**/*.{c,h}"}},
		extra:   map[string]string{"compile_flags.txt": "-I.\n"},
		def:     "def.h", use: "use.c",
		defText: "#define DEF 1\n", gone: "#define OTHER 1\n",
		good: "#include \"def.h\"\nint use(void) { return DEF; }\n", bad: "#include \"def.h\"\nint use(void) { return nothing; }\n",
		hover: Position{Line: 1, Character: 24},
	},
	"pyright": {
		command: []string{"pyright-langserver", "--stdio"}, languageID: "python",
		extra: map[string]string{"pyrightconfig.json": "{}"},
		def:   "define.py", use: "use.py",
		defText: "def define() -> int:\n    return 1\n", gone: "def other() -> int:\n    return 1\n",
		good: "from define import define\n\nused: int = define()\n", bad: "from define import define\n\nused: str = define()\n",
		hover: Position{Line: 2, Character: 13},
	},
	"pylsp": {
		command: []string{"pylsp"}, languageID: "python",
		def: "define.py", use: "use.py",
		defText: "def define():\n    return 1\n",
		good:    "from define import define\n\nused = define()\n", bad: "from define import define\n\nused = nothing\n",
		hover: Position{Line: 2, Character: 8},
	},
	"typescript-language-server": {
		command: []string{"typescript-language-server", "--stdio"}, languageID: "typescript",
		profile: Profile{Sources: []string{"**/*.ts"}},
		extra:   map[string]string{"tsconfig.json": `{"include":["*.ts"]}`},
		def:     "def.ts", use: "use.ts",
		defText: "export function def(): number { return 1 }\n", gone: "export function other(): number { return 1 }\n",
		good: "import { def } from './def';\nexport const use: number = def();\n", bad: "import { def } from './def';\nexport const use: string = def();\n",
		hover: Position{Line: 1, Character: 27},
	},
	"tsc": {
		command: []string{"tsc", "--lsp", "--stdio"}, version: "Version 7", languageID: "typescript",
		extra: map[string]string{"tsconfig.json": `{"include":["*.ts"]}`},
		def:   "def.ts", use: "use.ts",
		defText: "export function def(): number { return 1 }\n", gone: "export function other(): number { return 1 }\n",
		good: "import { def } from './def';\nexport const use: number = def();\n", bad: "import { def } from './def';\nexport const use: string = def();\n",
		hover: Position{Line: 1, Character: 27},
	},
	"bash-language-server": {
		command: []string{"bash-language-server", "start"}, profile: Profile{Complete: CompleteVersion}, languageID: "shellscript",
		def: "def.sh", use: "use.sh",
		defText: "#!/bin/sh\ndef() { :; }\n",
		good:    "#!/bin/sh\necho \"$HOME\"\n", bad: "#!/bin/sh\nif true; then\n",
		hover: Position{Line: 1, Character: 1},
	},
}

// realPath finds a program in the directories of HEARTH_TEST_BIN or PATH, and skips the
// test without it unless HEARTH_REQUIRE_REAL=1 makes that a failure.
func realPath(t *testing.T, program string) string {
	for _, dir := range filepath.SplitList(os.Getenv("HEARTH_TEST_BIN")) {
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path
		}
	}
	path, err := exec.LookPath(program)
	if err != nil && os.Getenv("HEARTH_REQUIRE_REAL") == "1" {
		require.NoError(t, err)
	}
	if err != nil {
		t.Skipf("%s is not installed", program)
	}
	return path
}

// realProject is a running server with a client and a watcher over a project.
type realProject struct {
	*testing.T
	realServer
	*Client
	root    string
	docs    *Documents[int]
	watcher *Watcher
	mu      sync.Mutex
	last    int
}

func launch(t *testing.T, s realServer) *realProject {
	p := &realProject{T: t, realServer: s, root: t.TempDir(), docs: NewDocuments[int](8, time.Minute)}
	for name, text := range s.extra {
		p.write(name, text)
	}
	p.write(s.def, s.defText)
	program := realPath(t, s.command[0])
	if said, err := exec.Command(program, "--version").Output(); s.version != "" && !strings.HasPrefix(string(said), s.version) {
		t.Skipf("%s is %q (%v), not %s", program, said, err, s.version)
	}
	command := exec.Command(program, s.command[1:]...)
	command.Dir = p.root
	in, toServer, err := os.Pipe()
	require.NoError(t, err)
	fromServer, out, err := os.Pipe()
	require.NoError(t, err)
	command.Stdin, command.Stdout = in, out
	require.NoError(t, command.Start())
	require.NoError(t, errors.Join(in.Close(), out.Close()))
	p.Client = NewClient(NewWire(fromServer, toServer, 10*time.Second, AnswersFor(s.profile, p.root)), s.profile, p.root, func() {})
	ctx, stop := context.WithTimeout(context.Background(), generous)
	defer stop()
	require.NoError(t, p.Initialize(ctx))
	endWatching := p.watch()
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), generous)
		defer stop()
		assert.NoError(t, p.Shutdown(ctx))
		_ = command.Wait() // exit codes prove nothing
		assert.NoError(t, p.Close(ctx))
		endWatching()
	})
	return p
}

// watch goes by what changes from here on, as a session does.
func (p *realProject) watch() (end func()) {
	notifier, err := NewNotifier()
	require.NoError(p, err)
	p.watcher = NewWatcher(p.root, nil, notifier)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.watcher.Run(ctx, p.changed) }()
	return func() { cancel(); assert.NoError(p, <-ended) }
}

func (p *realProject) changed(ctx context.Context, changes []FileChange) error {
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	registered := len(p.WatchPatterns()) > 0
	p.mu.Lock()
	p.docs.FilesChanged(paths, !registered)
	p.mu.Unlock()
	if !registered {
		return nil
	}
	return p.FilesChanged(ctx, changes)
}

func (p *realProject) write(name, text string) {
	require.NoError(p, os.WriteFile(filepath.Join(p.root, name), []byte(text), 0o600))
}

// with sends the document what it lacks and asks something about it.
func (p *realProject) with(name string, ask func(context.Context, Source)) {
	ctx, stop := context.WithTimeout(context.Background(), generous)
	defer stop()
	patterns := p.WatchPatterns()
	if len(patterns) == 0 {
		patterns = p.SourcePatterns()
	}
	p.watcher.SetPatterns(patterns)
	assert.Eventually(p, func() bool { return p.watcher.Flush(ctx) == nil }, generous, time.Millisecond)
	path := filepath.Join(p.root, name)
	text, err := os.ReadFile(path)
	require.NoError(p, err)
	p.mu.Lock()
	p.last++
	id := p.last
	p.docs.Enter(id, Claim{Path: path, LanguageID: p.languageID, Diagnoses: true}, time.Now())
	plan, ok := p.docs.Found(id, path, text)
	assert.True(p, ok)
	n, err := p.Sync(ctx, plan, text)
	p.docs.Sent(id, plan, n)
	p.mu.Unlock()
	assert.NoError(p, err)
	ask(ctx, Source{Path: path, Text: text})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.docs.Leave(id, path, time.Now())
}

func (p *realProject) errors(name string) (found []string) {
	p.with(name, func(ctx context.Context, doc Source) {
		f, err := p.Diagnostics(ctx, doc)
		assert.NoError(p, err)
		for _, d := range f.Diagnostics {
			if d.Severity == 1 {
				found = append(found, d.Message)
			}
		}
	})
	return found
}

func TestRealServersAreAnsweredTruthfully(t *testing.T) {
	for name, server := range realServers {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they mostly wait for a second of quiet
			p := launch(t, server)
			p.write(p.use, p.bad)
			assert.NotEmpty(t, p.errors(p.use), "an error")
			p.write(p.use, p.good)
			assert.Empty(t, p.errors(p.use), "the error is gone")
			assert.Empty(t, p.errors(p.use), "and stays so")
			p.asks()
			if p.gone == "" {
				return
			}
			assert.Empty(t, p.errors(p.def), "it is open now, and the server goes by what it was sent")
			p.write(p.def, p.gone)
			assert.NotEmpty(t, p.errors(p.use), "another file changed")
			p.write(p.def, p.defText)
			assert.Empty(t, p.errors(p.use))
		})
	}
}

// asks makes requests side by side, one of them cancelled.
func (p *realProject) asks() {
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			p.with(p.use, func(ctx context.Context, doc Source) {
				if n == 7 {
					cancelled, cancel := context.WithCancel(ctx)
					cancel()
					_, err := p.Hover(cancelled, doc, p.hover)
					assert.ErrorIs(p, err, context.Canceled)
					return
				}
				h, err := p.Hover(ctx, doc, p.hover)
				assert.NoError(p, err)
				assert.NotEmpty(p, h.Text)
			})
		})
	}
	all.Wait()
	p.with(p.use, func(ctx context.Context, doc Source) {
		result, err := p.Request(ctx, "textDocument/documentSymbol", map[string]any{"textDocument": map[string]string{"uri": PathToURI(doc.Path)}})
		assert.NoError(p, err)
		assert.True(p, strings.HasPrefix(string(result), "["), "%s", result)
	})
}
