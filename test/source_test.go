package test_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is the path that this repository's packages are imported by.
const module = "github.com/seed-f6977891/hearth"

// source is one parsed file.
type source struct {
	path string // from the repository's root, with slashes
	text []byte
	fset *token.FileSet
	file *ast.File
}

func (s source) dir() string { return path.Dir(s.path) }

// isTest tells files that are in no program: tests, and the stand-ins they run.
func (s source) isTest() bool {
	return strings.HasSuffix(s.path, "_test.go") || strings.HasPrefix(s.path, "test/")
}

// isExternalTest tells tests that see their package as others do.
func (s source) isExternalTest() bool {
	return strings.HasSuffix(s.path, "_test.go") && strings.HasSuffix(s.file.Name.Name, "_test")
}

func (s source) line(pos token.Pos) int { return s.fset.Position(pos).Line }

func parse(path string, text []byte) (source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	return source{path, text, fset, file}, err
}

// within tells whether a file is at one of the places: "dir" is the files of one
// directory, "dir/..." also those below it, and "dir/file.go" is one file.
func within(file string, places []string) bool {
	return slices.ContainsFunc(places, func(place string) bool {
		if below, ok := strings.CutSuffix(place, "/..."); ok {
			return strings.HasPrefix(file, below+"/")
		}
		return file == place || path.Dir(file) == place
	})
}

// breach is one place where a law is broken.
type breach struct {
	path string
	line int
	what string
}

func (b breach) String() string { return fmt.Sprintf("%s:%d: %s", b.path, b.line, b.what) }

// root is the directory of go.mod. Tests run in their package's directory.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("..")
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(dir, "go.mod"))
	return dir
}

// files gives the paths of all files of the repository, but for what git or a
// recording put there.
func files(t *testing.T) []string {
	t.Helper()
	top := root(t)
	var found []string
	require.NoError(t, filepath.WalkDir(top, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if entry.Type().IsRegular() {
			relative, err := filepath.Rel(top, name)
			found = append(found, filepath.ToSlash(relative))
			return err
		}
		return nil
	}))
	return found
}

// sources parses every Go file, whatever system it is for.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	for _, name := range files(t) {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(name)))
		require.NoError(t, err)
		parsed, err := parse(name, text)
		require.NoError(t, err)
		all = append(all, parsed)
	}
	require.Greater(t, len(all), 100, "the repository was not found")
	return all
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Module                  *struct{ Main bool }
}

// listing asks the go command once for the packages of the program and for all that
// they import: it compiles them, so that types come from the compiler's own data.
var listing = sync.OnceValues(func() ([]listed, error) {
	var problems bytes.Buffer
	command := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Module",
		"./actors/...", "./cmd/...", "./messages/...", "./procscan/...", "./supervisor/...")
	command.Dir, command.Stderr = "..", &problems
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, problems.String())
	}
	var all []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var one listed
		if err := decoder.Decode(&one); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
})

// typed is a package with what every name in it means.
type typed struct {
	files []source
	info  *types.Info
}

// check finds out what the names in some files of one package mean.
func check(t *testing.T, importPath string, files []source) typed {
	t.Helper()
	all, err := listing()
	require.NoError(t, err)
	lookup := func(wanted string) (io.ReadCloser, error) {
		for _, p := range all {
			if p.ImportPath == wanted {
				return os.Open(p.Export)
			}
		}
		return nil, fmt.Errorf("%s is not listed", wanted)
	}
	fset := token.NewFileSet()
	result := typed{info: &types.Info{Uses: make(map[*ast.Ident]types.Object)}}
	var trees []*ast.File
	for _, s := range files { // parsed again, since one package needs one file set
		file, err := parser.ParseFile(fset, s.path, s.text, parser.SkipObjectResolution)
		require.NoError(t, err)
		result.files = append(result.files, source{s.path, s.text, fset, file})
		trees = append(trees, file)
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", lookup)}
	_, err = config.Check(importPath, fset, trees, result.info)
	require.NoError(t, err)
	return result
}

// packages type-checks every package of the program.
func packages(t *testing.T) []typed {
	t.Helper()
	all, err := listing()
	require.NoError(t, err)
	var checked []typed
	for _, p := range all {
		if p.Module == nil || !p.Module.Main {
			continue
		}
		var files []source
		for _, name := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			require.NoError(t, err)
			parsed, err := parse(strings.TrimPrefix(p.ImportPath, module+"/")+"/"+name, text)
			require.NoError(t, err)
			files = append(files, parsed)
		}
		checked = append(checked, check(t, p.ImportPath, files))
	}
	require.NotEmpty(t, checked)
	return checked
}
