package buildwatch

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// Match tells which processes compile a file, and which.
type Match struct {
	rules []func(command) []string
	line  *regexp.Regexp
}

// families are the rules that have a name. Without any, all of them apply.
var families = map[string]func(command) []string{"lean": leanFile, "cc": cFile, "go": goFiles}

// ParseMatch reads the name of a family or a regular expression over the whole
// command line, its words joined by blanks, with one group for the file.
func ParseMatch(text string) (Match, error) {
	if text == "" {
		return Match{rules: []func(command) []string{leanFile, cFile, goFiles}}, nil
	}
	if rule, ok := families[text]; ok {
		return Match{rules: []func(command) []string{rule}}, nil
	}
	line, err := regexp.Compile(text)
	if err != nil {
		return Match{}, messages.Invalidf("match: want lean, cc, go or a regular expression: %w", err)
	}
	if line.NumSubexp() != 1 {
		return Match{}, messages.Invalidf("match: the regular expression %q has %d groups, want one, for the file", text, line.NumSubexp())
	}
	return Match{line: line}, nil
}

// file names what a process compiles, empty for none. Files below dir are named from
// there, so that a message points to the same place whatever directory the compiler
// was started in.
func (m Match) file(p procscan.Member, dir string) string {
	if m.line != nil {
		if found := m.line.FindStringSubmatch(strings.Join(p.Args, " ")); found != nil {
			return found[1]
		}
		return ""
	}
	c := commandOf(p)
	for _, rule := range m.rules {
		if files := rule(c); len(files) > 0 {
			return names(files, p.Dir, dir)
		}
	}
	return ""
}

// command is what a process runs: for a script what the script is called as, since
// its interpreter says nothing.
type command struct {
	name string   // base name of its first word
	comm string   // the kernel's name: the base name of the executed file
	args []string // what follows
}

// interpreters, and the letters of the options after which they take a program's text,
// or a module's name, and no script's: sh -ec, python -m, perl -e.
var interpreters = []struct {
	name  *regexp.Regexp
	text  string
	shell bool // an option that ends with o takes a word: bash -euo pipefail
}{
	{regexp.MustCompile(`^(sh|ash|dash|bash|ksh|mksh|zsh|fish)$`), "c", true},
	{regexp.MustCompile(`^python[0-9.]*$`), "cm", false},
	{regexp.MustCompile(`^(perl|ruby|node)$`), "eE", false},
}

func commandOf(p procscan.Member) command {
	c := command{name: filepath.Base(p.Args[0]), comm: p.Comm, args: p.Args[1:]}
	for _, i := range interpreters {
		if !i.name.MatchString(c.name) {
			continue
		}
		for at := 0; at < len(c.args); at++ {
			option := c.args[at]
			switch {
			case !strings.HasPrefix(option, "-"):
				return command{name: filepath.Base(option), comm: c.comm, args: c.args[at+1:]}
			case strings.HasPrefix(option, "--"):
			case strings.ContainsAny(option, i.text):
				return command{}
			case i.shell && strings.HasSuffix(option, "o"):
				at++
			}
		}
		return command{}
	}
	return c
}

func (c command) is(name string) bool { return c.name == name || c.comm == name }

// leanFile: lean SRC.lean -o OUT.olean ..., as Lake runs it, also by the name under
// which a wrapper keeps the real one (lean-real). A server's worker has no -o.
func leanFile(c command) []string {
	if !c.is("lean") && !strings.HasPrefix(c.name, "lean-") || !slices.Contains(c.args, "-o") {
		return nil
	}
	return firstFile(c.args, []string{"-o"}, func(name string) bool { return strings.HasSuffix(name, ".lean") })
}

// cSources are what gcc and clang take for sources of the C family.
var cSources = regexp.MustCompile(`\.(c|cc|cp|cxx|cpp|CPP|c\+\+|C|i|ii|m|mm|M|s|S|sx)$`)

// cFile: -c with a source, whatever the compiler is called. What else is called with
// both (grep -c, wc -c) is never slow.
func cFile(c command) []string {
	if !slices.Contains(c.args, "-c") {
		return nil
	}
	return firstFile(c.args, []string{"-o", "-include", "-imacros", "-MF", "-MT", "-MQ"}, cSources.MatchString)
}

// firstFile gives the first argument that is a file of the right sort and no value of
// an option. What has blanks and follows -c is a shell's text, as in su -c TEXT, far
// more often than a file.
func firstFile(args, withValue []string, sort func(string) bool) []string {
	for i, arg := range args {
		switch {
		case strings.HasPrefix(arg, "-"), !sort(arg):
		case i > 0 && slices.Contains(withValue, args[i-1]):
		case i > 0 && args[i-1] == "-c" && strings.ContainsAny(arg, " \t\n"):
		default:
			return []string{arg}
		}
	}
	return nil
}

// goFiles: compile -o OUT ... A.go B.go, a whole package in one process, also behind
// the program that go build -toolexec names.
func goFiles(c command) []string {
	args := c.args
	if !c.is("compile") {
		if len(args) == 0 || filepath.Base(args[0]) != "compile" {
			return nil
		}
		args = args[1:]
	}
	if !slices.Contains(args, "-o") {
		return nil
	}
	var files []string
	for _, arg := range args {
		if strings.HasSuffix(arg, ".go") && !strings.HasPrefix(arg, "-") {
			files = append(files, arg)
		}
	}
	return files
}

// namesShown is how many files of one process a message names.
const namesShown = 8

func names(files []string, from, dir string) string {
	shown := make([]string, 0, namesShown)
	for _, file := range files[:min(len(files), namesShown)] {
		shown = append(shown, name(file, from, dir))
	}
	text := strings.Join(shown, ", ")
	if more := len(files) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// name gives a file's path from dir where it is below, else the whole path.
func name(file, from, dir string) string {
	if !filepath.IsAbs(file) {
		if from == "" {
			return file
		}
		file = filepath.Join(from, file)
	}
	if relative, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(relative) {
		return relative
	}
	return filepath.Clean(file)
}
