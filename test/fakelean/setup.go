package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Exit codes of lake setup-file.
const (
	setupNoLakefile = 2
	setupStale      = 3
)

// setupFile builds what the file at PATH imports: lake setup-file PATH - [--no-build --no-cache] with the header as JSON on
// standard input, or with the names of the imports in place of the dash (older).
func setupFile(args []string) {
	p := begin("setup")
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "error: missing file path")
		p.Exit(1)
	}
	if !hasLakefile() {
		p.Exit(setupNoLakefile)
	}
	setLakeEnv()
	imports := importsFor(args[1:])
	if slices.Contains(args, "--no-build") {
		if needed := stale(imports); len(needed) > 0 {
			fmt.Println(directImports(needed))
			p.Exit(setupStale)
		}
	} else if err := buildModules(p, imports); err != nil {
		fmt.Fprintln(os.Stderr, "error: build failed")
		p.Exit(1)
	}
	path, err := filepath.Abs(args[0])
	if err != nil {
		p.Misused(err)
	}
	answer := setupAnswer{Name: moduleOf(workDir(), path), Package: "example", Imports: imports}
	answer.Dynlibs, answer.Plugins = []string{}, []string{}
	text, err := json.Marshal(answer)
	if err != nil {
		p.Misused(err)
	}
	fmt.Println(string(text))
	p.Exit(0)
}

// setupAnswer is the line that setup-file prints when all is built.
type setupAnswer struct {
	Name       string   `json:"name"`
	Package    string   `json:"package"`
	IsModule   bool     `json:"isModule"`
	Imports    []string `json:"imports"`
	ImportArts struct{} `json:"importArts"`
	Dynlibs    []string `json:"dynlibs"`
	Plugins    []string `json:"plugins"`
	Options    struct{} `json:"options"`
}

func importsFor(args []string) []string {
	names := []string{}
	if !slices.Contains(args, "-") {
		for _, a := range args {
			if !strings.HasPrefix(a, "-") {
				names = append(names, a)
			}
		}
		return names
	}
	var h struct{ Imports []imported }
	if text, err := io.ReadAll(os.Stdin); err != nil || json.Unmarshal(text, &h) != nil {
		fmt.Fprintln(os.Stderr, "error: invalid header on standard input")
		os.Exit(1)
	}
	for _, i := range h.Imports {
		names = append(names, i.Module)
	}
	return names
}

func directImports(modules []string) string {
	type entry struct {
		Module     string `json:"module"`
		SourcePath string `json:"sourcePath"`
		OleanPath  string `json:"oleanPath"`
	}
	list := []entry{}
	for _, m := range modules {
		list = append(list, entry{m, filepath.Join(workDir(), source(m)), filepath.Join(workDir(), olean(m))})
	}
	text, _ := json.Marshal(map[string]any{"directImports": list})
	return string(text)
}
