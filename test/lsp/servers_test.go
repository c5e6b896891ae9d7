package lsp_test

import (
	"testing"

	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
	"github.com/seed-f6977891/hearth/test/servers"
)

// real is a server that people use, over a project of two files of which the second,
// use, needs what the first, def, defines.
type real struct {
	language string
	program  string   // as it is to be found
	args     []string // behind it
	profile  func(*config.Language)
	extra    map[string]string // other files of the project
	def, use string            // names
	defText  string
	gone     string // a text of def without what use needs; empty: the server checks each file alone
	good     string // a text of use
	bad      string // one with an error
	word     string // in good: what is hovered over, and asked about
	hover    string // what the hover says, in part
	astral   string // a text of use in which characters beyond the BMP stand before word
	asks     []asked
}

// asked is a request about word, or about another place of use.
type asked struct {
	name   string // short, or LSP's
	at     string // word where the request is about; "-": the whole file, "/": the project
	params string
	want   string // what the result holds; notOffered: see there
}

// notOffered in place of a result: the server lacks the request, and it is said so.
const notOffered = "not offered"

func (s real) start(t testing.TB, changes ...change) *rig {
	t.Helper()
	path := servers.Find(t, s.program)
	files := map[string]string{s.def: s.defText, s.use: s.good}
	for name, text := range s.extra {
		files[name] = text
	}
	own := func(_ *supervisor.Config, l *config.Language) {
		l.Server.Commands = []config.Command{append(config.Command{path}, s.args...)}
		if s.profile != nil {
			s.profile(l)
		}
	}
	return start(t, s.language, files, append([]change{own}, changes...)...)
}

var reals = map[string]real{
	"gopls": {
		language: "go", program: "gopls",
		extra: map[string]string{"go.mod": "module m\n\ngo 1.21\n"},
		def:   "def.go", use: "use.go",
		defText: "package m\n\n// Def defines.\nfunc Def() int { return 1 }\n\n// T is a type.\ntype T interface{ M() }\n",
		gone:    "package m\n\nfunc Other() int { return 1 }\n\ntype T interface{ M() }\n",
		good:    "package m\n\nvar Use = Def()\n\ntype U struct{}\n\nfunc (U) M() {}\n",
		bad:     "package m\n\nvar Use string = Def()\n\ntype U struct{}\n\nfunc (U) M() {}\n",
		word:    "Def", hover: "Def defines", astral: "package m\n\nvar S, Use = \"𝕏𝕏𝕏𝕏𝕏𝕏𝕏𝕏\", Def()\n",
		asks: []asked{
			{"definition", "Def", "", "def.go"}, {"references", "Def", "", "def.go"}, {"symbols", "-", "", `"Use"`},
			{"workspace-symbols", "/", `{"query":"Use"}`, "use.go"}, {"completion", "Def", "", `"label":"Def"`},
			{"signature", ")\n", "", "Def() int"}, {"actions", "-", "", "source"}, {"rename", "Def", `{"newName":"New"}`, `"New"`},
			{"format", "-", "", "["}, {"supertypes", "U struct", "", `"T"`}, {"callers", "Def", "", "use.go"},
			{"textDocument/documentHighlight", "Def", "", `"range"`}, {"type-definition", "Use", "", "builtin"},
			{"goal", "Def", "", notOffered},
		},
	},
	"clangd": {
		language: "c", program: "clangd",
		extra: map[string]string{"compile_flags.txt": "-I.\n"},
		def:   "def.h", use: "use.c",
		defText: "int define(void);\n", gone: "int other(void);\n",
		good: "#include \"def.h\"\nint use(void) { return define(); }\n",
		bad:  "#include \"def.h\"\nint use(void) { return nothing; }\n",
		word: "define", hover: "int define", astral: "#include \"def.h\"\nint use(void) { const char *s = \"𝕏𝕏𝕏𝕏𝕏𝕏𝕏𝕏\"; return define(); }\n",
		asks: []asked{
			{"definition", "define()", "", "def.h"}, {"references", "define()", "", "use.c"}, {"symbols", "-", "", `"use"`},
			{"completion", "define()", "", `"define`}, {"signature", ");", "", "define("}, {"actions", "-", "", "["},
			{"rename", "use(", `{"newName":"new"}`, `"new"`}, {"format", "-", "", "["}, {"goal", "use(", "", notOffered}, // type hierarchies: since 15, Debian 12 has 14
		},
	},
	"pyright": {
		language: "python", program: "pyright-langserver", args: []string{"--stdio"},
		extra: map[string]string{"pyproject.toml": "[project]\nname = \"m\"\n"},
		def:   "define.py", use: "use.py",
		defText: "def define() -> int:\n    return 1\n", gone: "def other() -> int:\n    return 1\n",
		good: "from define import define\n\nused: int = define()\n",
		bad:  "from define import define\n\nused: str = define()\n",
		word: "define()", hover: "define", astral: "from define import define\n\ns = \"𝕏𝕏𝕏𝕏𝕏𝕏𝕏𝕏\"; used: int = define()\n",
		asks: []asked{
			{"definition", "define()", "", "define.py"}, {"references", "define()", "", "use.py"}, {"symbols", "-", "", `"used"`},
			{"workspace-symbols", "/", `{"query":"define"}`, "define.py"}, {"completion", "define()", "", `"define"`},
			{"signature", ")\n", "", "() ->"}, {"actions", "-", "", "["}, {"rename", "used", `{"newName":"new"}`, `"new"`},
			{"format", "-", "", notOffered}, {"supertypes", "used", "", notOffered}, {"callers", "define()", "", "["},
		},
	},
	"pylsp": {
		language: "python", program: "pylsp",
		extra: map[string]string{"setup.cfg": "[metadata]\nname = m\n"},
		def:   "define.py", use: "use.py",
		defText: "def define():\n    return 1\n",
		good:    "from define import define\n\nused = define()\n",
		bad:     "from define import define\n\nused = nothing\n",
		word:    "define()", hover: "define", astral: "from define import define\n\ns = \"𝕏𝕏𝕏𝕏𝕏𝕏𝕏𝕏\"; used = define()\n",
		asks: []asked{
			{"definition", "define()", "", "define.py"}, {"references", "define()", "", "use.py"}, {"symbols", "-", "", `"used"`},
			{"completion", "define()", "", `define`}, {"signature", ")\n", "", "define()"}, {"actions", "-", "", "["},
			{"workspace-symbols", "/", `{"query":"define"}`, notOffered}, {"supertypes", "used", "", notOffered},
		},
	},
	"typescript-language-server": {
		language: "typescript", program: "typescript-language-server", args: []string{"--stdio"},
		extra: map[string]string{"tsconfig.json": `{"include":["*.ts"]}`},
		def:   "def.ts", use: "use.ts",
		defText: "export function def(): number { return 1 }\n", gone: "export function other(): number { return 1 }\n",
		good: "import { def } from './def';\nexport const use: number = def();\n",
		bad:  "import { def } from './def';\nexport const use: string = def();\n",
		word: "def()", hover: "def(): number", astral: "import { def } from './def';\nexport const s = '𝕏𝕏𝕏𝕏𝕏𝕏𝕏𝕏', use = def();\n",
		asks: []asked{
			{"definition", "def()", "", "def.ts"}, {"references", "def()", "", "use.ts"}, {"symbols", "-", "", `"use"`},
			{"workspace-symbols", "/", `{"query":"use"}`, "use.ts"}, {"completion", "def()", "", `"def"`},
			{"signature", ");", "", "def()"}, {"actions", "-", "", "["}, {"rename", "use:", `{"newName":"renamed"}`, `"renamed"`},
			{"format", "-", "", "["}, {"supertypes", "use:", "", notOffered}, {"callers", "use:", "", "["},
		},
	},
	"tsc of typescript 7": {
		language: "typescript", program: "tsc7", args: []string{"--lsp", "--stdio"},
		extra: map[string]string{"tsconfig.json": `{"include":["*.ts"]}`},
		def:   "def.ts", use: "use.ts",
		defText: "export function def(): number { return 1 }\n", gone: "export function other(): number { return 1 }\n",
		good: "import { def } from './def';\nexport const use: number = def();\n",
		bad:  "import { def } from './def';\nexport const use: string = def();\n",
		word: "def()", hover: "def", astral: "import { def } from './def';\nexport const s = '𝕏𝕏𝕏𝕏𝕏𝕏𝕏𝕏', use = def();\n",
		asks: []asked{
			{"definition", "def()", "", "def.ts"}, {"references", "def()", "", "use.ts"}, {"symbols", "-", "", `"use"`},
			{"workspace-symbols", "/", `{"query":"use"}`, "use.ts"}, {"completion", "def()", "", `"def"`},
			{"signature", ");", "", "def()"}, {"actions", "-", "", "["}, {"rename", "use:", `{"newName":"renamed"}`, `"renamed"`},
			{"format", "-", "", "["}, {"supertypes", "use:", "", notOffered}, {"callers", "use:", "", "["},
		},
	},
	"bash-language-server": {
		language: "bash", program: "bash-language-server", args: []string{"start"},
		extra: map[string]string{".shellcheckrc": ""},
		def:   "def.sh", use: "use.sh",
		defText: "#!/bin/sh\ndefine() { :; }\n",
		good:    "#!/bin/sh\nuse() { echo \"$HOME\"; }\nuse\n", bad: "#!/bin/sh\nif true; then\n",
		word: "use\n", hover: "use",
		asks: []asked{
			{"definition", "use\n", "", "use.sh"}, {"references", "use\n", "", "use.sh"}, {"symbols", "-", "", `"use"`},
			{"workspace-symbols", "/", `{"query":"define"}`, "def.sh"}, {"completion", "use\n", "", `"use"`},
			{"signature", "use\n", "", notOffered}, {"actions", "-", "", "["}, {"rename", "use\n", `{"newName":"new"}`, `"new"`},
			{"supertypes", "use\n", "", notOffered},
		},
	},
	"efm-langserver": {
		language: "efm", program: "efm-langserver", args: []string{"-c", "efm.yaml"}, profile: efm,
		extra: map[string]string{"Makefile": "", "efm.yaml": efmConfig},
		def:   "def.efm", use: "use.efm",
		defText: "nothing\n", good: "nothing\n", bad: "fine\nBAD word\n", word: "nothing", hover: "nothing",
		asks: []asked{
			{"symbols", "-", "", "["}, {"format", "-", "", "NOTHING"},
			{"references", "nothing", "", notOffered}, // definition: where there is a ctags
			{"completion", "nothing", "", notOffered}, {"rename", "nothing", `{"newName":"x"}`, notOffered},
		},
	},
}

// efm runs commands for a language, which nothing but this test has.
const efmConfig = `version: 2
lint-debounce: 10ms # without a pause it mixes up the files
languages:
  efm:
    - lint-command: grep -n BAD
      lint-stdin: true
      lint-formats: ["%l:%m"]
      lint-ignore-exit-code: true
      hover-command: cat
      hover-stdin: true
      symbol-command: grep -n nothing
      symbol-stdin: true
      symbol-formats: ["%l:%m"]
      format-command: tr a-z A-Z
      format-stdin: true
`

// A check that efm is asked for while another waits is forgotten, and one that a newer
// text ends is published as that of the newer, so the first publication of a version
// need not be the last.
func efm(l *config.Language) {
	l.Markers, l.Extensions, l.ID = []string{"Makefile"}, []string{".efm"}, "efm"
	l.Server.Complete, l.Server.Serial, l.REPL.Protocol = config.CompleteQuiet, true, config.ProtocolNone
}
