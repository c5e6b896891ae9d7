package config

import "encoding/json"

// builtinOrder is the order in which languages are tried by a project's markers: the
// most telling markers first, since a Makefile or .git is in projects of every kind.
var builtinOrder = []string{"lean", "go", "python", "typescript", "c", "bash"}

// Weights of one worker by protocol, where a profile names none.
var defaultWeights = map[Protocol]Size{ProtocolLean: 16 * GiB, ProtocolJSONL: GiB}

// BuiltinLanguages gives the profiles that hearth brings, each time anew.
func BuiltinLanguages() map[string]Language {
	languages := map[string]Language{}
	for _, l := range []Language{lean(), golang(), clang(), python(), typescript(), bash()} {
		languages[l.Name] = l
	}
	return languages
}

func lean() Language {
	return Language{
		Name:        "lean",
		Markers:     []string{"lakefile.lean", "lakefile.toml", "lake-manifest.json"},
		Fingerprint: []string{"lean-toolchain", "lake-manifest.json", "lakefile.toml", "lakefile.lean"},
		Extensions:  []string{".lean"},
		ID:          "lean4",
		Install:     map[string]string{"lake": "install elan, Lean's toolchain manager: https://lean-lang.org/install"},
		Server: Server{
			Commands: []Command{{"lake", "serve"}},
			Complete: CompleteWait,
		},
		REPL: Worker{
			Command:  Command{"lake", "exe", "@repl/repl"},
			Protocol: ProtocolLean,
			// $LEAN_SYSROOT is Lake's, so only a shell below `lake env` can read it.
			HeaderCommand:  Command{"lake", "env", "sh", "-c", `exec "$LEAN_SYSROOT/bin/lean" --deps-json /dev/stdin`},
			WarmUp:         []string{"Mathlib"},
			Weight:         defaultWeights[ProtocolLean],
			AllowedImports: []string{"Mathlib", "Aesop", "Batteries", "LeanSearchClient"},
		},
	}
}

func golang() Language {
	return Language{
		Name:        "go",
		Markers:     []string{"go.mod", "go.work"},
		Fingerprint: []string{"go.mod", "go.sum", "go.work"},
		Extensions:  []string{".go"},
		ID:          "go",
		Install:     map[string]string{"gopls": "go install golang.org/x/tools/gopls@latest"},
		Server: Server{Commands: []Command{{"gopls"}}, Complete: CompleteVersion,
			// Without it gopls holds deeper findings back for a second, and what it has
			// published says nothing about a change in another file.
			InitializationOptions: json.RawMessage(`{"pullDiagnostics":true}`)},
		REPL: Worker{Protocol: ProtocolNone},
	}
}

func clang() Language {
	return Language{
		Name:        "c",
		Markers:     []string{"compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt", "Makefile"},
		Fingerprint: []string{"compile_commands.json", "compile_flags.txt", ".clangd"},
		Extensions:  []string{".c", ".h", ".cc", ".cpp", ".hpp", ".cxx"},
		ID:          "cpp",
		IDs:         map[string]string{".c": "c", ".h": "c"},
		Install: map[string]string{
			"clangd":    "apt-get install clangd, or https://clangd.llvm.org/installation",
			"clangd-19": "apt-get install clangd-19",
		},
		Server: Server{Commands: []Command{{"clangd"}, {"clangd-19"}}, Complete: CompleteVersion},
		REPL:   Worker{Protocol: ProtocolNone},
	}
}

func python() Language {
	return Language{
		Name:        "python",
		Markers:     []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"},
		Fingerprint: []string{"pyproject.toml", "setup.cfg", "requirements.txt"},
		Extensions:  []string{".py", ".pyi"},
		ID:          "python",
		Install: map[string]string{
			"pyright-langserver": "npm install -g pyright",
			"pylsp":              "pip install 'python-lsp-server[all]'",
			"python3":            "apt-get install python3, or https://www.python.org/downloads",
		},
		Server: Server{
			Commands: []Command{{"pyright-langserver", "--stdio"}, {"pylsp"}},
			// pylsp publishes no versions; pyright offers pull diagnostics, which come first.
			Complete:  CompleteQuiet,
			Unwatched: []string{"__pycache__", ".venv", "venv", ".mypy_cache", ".pytest_cache"},
		},
		REPL: Worker{
			Command:  Command{"python3"},
			Protocol: ProtocolJSONL,
			Driver:   "python",
			Weight:   defaultWeights[ProtocolJSONL],
		},
	}
}

func typescript() Language {
	return Language{
		Name:        "typescript",
		Markers:     []string{"tsconfig.json", "package.json"},
		Fingerprint: []string{"tsconfig.json", "package.json", "package-lock.json"},
		Extensions:  []string{".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs"},
		ID:          "typescript",
		IDs: map[string]string{
			".tsx": "typescriptreact", ".js": "javascript", ".jsx": "javascriptreact",
			".mjs": "javascript", ".cjs": "javascript",
		},
		Install: map[string]string{
			// typescript 7 has no tsserver.js, which typescript-language-server needs.
			"typescript-language-server": "npm install -g typescript-language-server typescript@5",
			"tsc":                        "npm install -g typescript@7",
		},
		Server: Server{
			Commands: []Command{{"typescript-language-server", "--stdio"}, {"tsc", "--lsp", "--stdio"}},
			Complete: CompleteQuiet,
			// It then hears of changed files from the runtime before it is asked about any,
			// instead of watching them itself, some time later.
			InitializationOptions: json.RawMessage(`{"tsserver":{"useClientFileWatcher":true}}`),
		},
		REPL: Worker{Protocol: ProtocolNone},
	}
}

func bash() Language {
	return Language{
		Name:        "bash",
		Markers:     []string{gitMarker, ".shellcheckrc"},
		Fingerprint: []string{".shellcheckrc"},
		Extensions:  []string{".sh", ".bash"},
		ID:          "shellscript",
		Install: map[string]string{
			"bash-language-server": "npm install -g bash-language-server, with shellcheck for diagnostics: apt-get install shellcheck",
		},
		Server: Server{Commands: []Command{{"bash-language-server", "start"}}, Complete: CompleteVersion},
		REPL:   Worker{Protocol: ProtocolNone},
	}
}
