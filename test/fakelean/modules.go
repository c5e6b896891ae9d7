package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-f6977891/hearth/test/standins/play"
)

const (
	oleanDir = ".lake/build/lib/lean"
	slowDir  = ".lake/build/slow" // sources of modules that only a directive names
)

func modulePath(module string) string { return strings.ReplaceAll(module, ".", "/") + ".lean" }

// source returns the path of a module's source in the project, "" if it has none.
func source(module string) string {
	for _, dir := range []string{".", slowDir} {
		path := filepath.Join(dir, modulePath(module))
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// moduleOf returns the name of the module whose source is at path below dir.
func moduleOf(dir, path string) string {
	relative, err := filepath.Rel(dir, path)
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(strings.TrimSuffix(relative, ".lean"), string(filepath.Separator), ".")
}

func olean(module string) string {
	return filepath.Join(oleanDir, strings.TrimSuffix(modulePath(module), ".lean")+".olean")
}

// trace is a hash of a module's source and of all that it imports within the project. As with lake, a module is stale
// when its trace is another than at its last build; times of files don't count.
func trace(module string, above ...string) string {
	path := source(module)
	if path == "" || slices.Contains(above, module) {
		return ""
	}
	text, _ := os.ReadFile(path)
	sum := sha256.New()
	sum.Write(text)
	for _, i := range parseHeader(string(text)).imports {
		sum.Write([]byte(trace(i.Module, append(above, module)...)))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func isStale(module string) bool {
	if source(module) == "" {
		return false
	}
	built, err := os.ReadFile(olean(module))
	return err != nil || string(bytes.TrimSpace(built)) != trace(module)
}

// stale returns the modules among these and their imports that have to be built, dependencies first.
func stale(modules []string, above ...string) []string {
	var order []string
	for _, m := range modules {
		path := source(m)
		if path == "" || slices.Contains(above, m) {
			continue
		}
		text, _ := os.ReadFile(path)
		var imports []string
		for _, i := range parseHeader(string(text)).imports {
			imports = append(imports, i.Module)
		}
		for _, s := range append(stale(imports, append(above, m)...), m) {
			if isStale(s) && !slices.Contains(order, s) {
				order = append(order, s)
			}
		}
	}
	return order
}

// buildModules builds what is stale among the modules and their imports: each by a lean of its own, at the same time where
// no module waits for another. Progress goes to stderr as lake writes it.
func buildModules(p *play.Process, modules []string) error {
	order := stale(modules)
	done := make([]chan struct{}, len(order))
	for i := range order {
		done[i] = make(chan struct{})
	}
	var (
		mu     sync.Mutex
		built  int
		failed []error
		wg     sync.WaitGroup
	)
	for i, m := range order {
		wg.Go(func() {
			defer close(done[i])
			awaitImports(m, order[:i], done)
			err := buildModule(p, m)
			mu.Lock()
			defer mu.Unlock()
			built++
			sign, verb := "✔", "Built"
			if err != nil {
				sign, verb = "✖", "Building"
				failed = append(failed, err)
			}
			fmt.Fprintf(os.Stderr, "%s [%d/%d] %s %s\n", sign, built, len(order), verb, m)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(failed...)
}

// awaitImports waits for those of the modules before this one that it imports. It waits for none after it: in a circle
// of imports each would wait for the other.
func awaitImports(module string, before []string, done []chan struct{}) {
	text, _ := os.ReadFile(source(module))
	for _, i := range parseHeader(string(text)).imports {
		if n := slices.Index(before, i.Module); n >= 0 {
			<-done[n]
		}
	}
}

// buildModule runs lean on one module.
func buildModule(p *play.Process, module string) error {
	out := olean(module)
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	base := strings.TrimSuffix(out, ".olean")
	cmd := tool("lean", source(module), "-o", out, "-i", base+".ilean", "-c", base+".c")
	var said bytes.Buffer
	cmd.Stdout = &said
	if code := run(p, "build", cmd); code != 0 {
		return fmt.Errorf("error: %serror: Lean exited with code %d", said.String(), code)
	}
	return os.WriteFile(out, []byte(trace(module)), 0o644)
}
