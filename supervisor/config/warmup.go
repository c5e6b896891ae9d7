package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// packageOf names the Lake packages of the modules that a profile may warm up without
// knowing whether a project has them.
var packageOf = map[string]string{
	"Mathlib": "mathlib", "Aesop": "aesop", "Batteries": "batteries", "LeanSearchClient": "LeanSearchClient",
}

// WarmImports are the imports that a warm worker of a project has loaded: the
// profile's, but for Lean without those whose package the project's manifest doesn't
// name, since importing one that isn't there would fail every worker's start. A
// manifest that is missing or can't be read names none. It reads the disk.
func (l Language) WarmImports(root string) []string {
	if l.REPL.Protocol != ProtocolLean || len(l.REPL.WarmUp) == 0 {
		return l.REPL.WarmUp
	}
	packages := lakePackages(root)
	return slices.DeleteFunc(slices.Clone(l.REPL.WarmUp), func(module string) bool {
		first, _, _ := strings.Cut(module, ".")
		name, known := packageOf[first]
		return known && !slices.Contains(packages, name)
	})
}

// lakePackages gives the packages of lake-manifest.json, the project's own included:
// Mathlib's manifest doesn't list itself.
func lakePackages(root string) []string {
	text, err := os.ReadFile(filepath.Join(root, "lake-manifest.json"))
	if err != nil {
		return nil
	}
	var manifest struct {
		Name     string
		Packages []struct{ Name string }
	}
	if json.Unmarshal(text, &manifest) != nil {
		return nil
	}
	packages := []string{manifest.Name}
	for _, p := range manifest.Packages {
		packages = append(packages, p.Name)
	}
	return packages
}
