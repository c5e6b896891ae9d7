package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-f6977891/hearth/test/standins/play"
)

// header is what stands before the first command of a file.
type header struct {
	module, prelude bool
	imports         []imported
	lines           int    // how many lines it takes
	fault           string // "LINE:COLUMN: text" if it can't be read
}

// imported is one import; the JSON names are those of lean --deps-json and of setup-file's input.
type imported struct {
	Module     string `json:"module"`
	ImportAll  bool   `json:"importAll"`
	IsExported bool   `json:"isExported"`
	IsMeta     bool   `json:"isMeta"`
}

var (
	word       = regexp.MustCompile(`\S+`)
	moduleName = regexp.MustCompile(`^[\p{L}_«][\p{L}\p{N}_'«»]*(\.[\p{L}_«][\p{L}\p{N}_'«»]*)*$`)
)

// parseHeader reads the header of text.
func parseHeader(text string) header {
	h := header{}
	modifiers := map[string]bool{}
	expecting := "" // "import": a module's name has to come
	for n, line := range strings.Split(codeOf(text), "\n") {
		for _, at := range word.FindAllStringIndex(line, -1) {
			w := line[at[0]:at[1]]
			switch {
			case expecting != "" && w == "all":
				modifiers["all"] = true
			case expecting != "" && moduleName.MatchString(w):
				h.imports = append(h.imports, imported{
					Module: w, ImportAll: modifiers["all"], IsExported: !h.module || modifiers["public"], IsMeta: modifiers["meta"],
				})
				modifiers, expecting = map[string]bool{}, ""
			case expecting != "":
				h.fault = fmt.Sprintf("%d:%d: unexpected token '%s'; expected identifier", n+1, runes(line[:at[0]]), w)
				return h
			case w == "import":
				expecting = w
			case w == "module":
				h.module = true
			case w == "prelude":
				h.prelude = true
			case w == "public" || w == "meta":
				modifiers[w] = true
			default:
				return h
			}
			h.lines = n + 1
		}
	}
	if expecting != "" {
		h.fault = fmt.Sprintf("%d:0: unexpected end of input; expected identifier", h.lines+1)
	}
	return h
}

// withSlowImports adds the modules that directives of the text ask for, and writes their sources.
func (h *header) withSlowImports(text string) {
	for line := range strings.Lines(text) {
		d, found := play.InLine(line)
		if !found || d.Name != "import-slow" {
			continue
		}
		module, takes, _ := strings.Cut(d.Args, " ")
		if takes == "" {
			takes = "10m"
		}
		path := filepath.Join(slowDir, modulePath(module))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			_ = os.WriteFile(path, []byte("-- fake: sleep "+takes+"\n"), 0o644)
		}
		h.imports = append(h.imports, imported{Module: module, IsExported: true})
	}
}

// known are the roots of modules that are taken to be installed.
var known = []string{
	"Init", "Lean", "Std", "Lake", "Mathlib", "Aesop", "Batteries", "LeanSearchClient", "Qq", "ProofWidgets", "Plausible",
}

// missing returns a message for the first import that exists nowhere.
func (h header) missing() (message, bool) {
	for _, i := range h.imports {
		root, _, _ := strings.Cut(i.Module, ".")
		if slices.Contains(known, root) || source(i.Module) != "" {
			continue
		}
		text := fmt.Sprintf("unknown module prefix '%s'\n\nNo directory '%s' or file '%s.olean' in the search path entries:\n%s\n%s",
			root, root, root, filepath.Join(workDir(), oleanDir), filepath.Join(sysroot(), "lib", "lean"))
		return message{Severity: "error", Pos: place{1, 0}, End: &place{1, 1}, Data: text}, true
	}
	return message{}, false
}
