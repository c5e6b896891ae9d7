package standins

import (
	"os"
	"path/filepath"
	"testing"
)

// projects holds the files of a minimal project of each language.
var projects = map[string]map[string]string{
	"lean": {
		"lakefile.toml":      "name = \"example\"\ndefaultTargets = [\"Main\"]\n\n[[lean_lib]]\nname = \"Main\"\n",
		"lean-toolchain":     "leanprover/lean4:v4.26.0\n",
		"lake-manifest.json": "{\"version\": \"1.1.0\", \"packages\": [], \"name\": \"example\"}\n",
		"Main.lean":          "def answer : Nat := 42\n\n#check answer\n",
		"Broken.lean":        "def wrong : Nat := \"text\"\n\ntheorem open_goal : 1 = 1 := by sorry\n",
	},
	"go": {
		"go.mod":    "module example.org/example\n\ngo 1.26\n",
		"main.go":   "package main\n\nfunc main() { println(answer()) }\n\nfunc answer() int { return 42 }\n",
		"broken.go": "package main\n\nfunc wrong() int { return \"text\" }\n",
	},
	"c": {
		"compile_flags.txt": "-Wall\n",
		"main.c":            "int answer(void) { return 42; }\n\nint main(void) { return answer() - 42; }\n",
		"broken.c":          "int wrong(void) { return undeclared; }\n",
	},
}

// Project writes a minimal project of the language (lean, go or c) to a new directory and returns its canonical path.
// Each has one file without a fault and one with (Main.lean and Broken.lean, main.go and broken.go, main.c and broken.c).
func Project(t testing.TB, language string) string {
	t.Helper()
	files, known := projects[language]
	if !known {
		t.Fatalf("no project of the language %q", language)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		WriteFile(t, filepath.Join(dir, name), text)
	}
	return dir
}

// WriteFile writes text to path, making directories as needed, and returns path.
func WriteFile(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
