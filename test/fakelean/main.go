package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f6977891/hearth/test/standins/play"
)

func main() {
	play.ChildMain()
	tool, args := filepath.Base(os.Args[0]), os.Args[1:]
	tools := map[string]func([]string){"lake": lake, "lean": lean, "repl": repl}
	if tools[tool] == nil && len(args) > 0 {
		tool, args = args[0], args[1:]
	}
	run := tools[tool]
	if run == nil {
		fmt.Fprintln(os.Stderr, "usage: fakelean lake|lean|repl ARGUMENTS")
		os.Exit(play.Misuse)
	}
	loadKnobFile()
	run(args)
}

func lake(args []string) {
	command, rest := "", []string(nil)
	if len(args) > 0 {
		command, rest = args[0], args[1:]
	}
	commands := map[string]func([]string){
		"serve": lakeServe, "exe": lakeExe, "env": lakeEnv, "build": lakeBuild, "setup-file": setupFile,
	}
	switch run := commands[command]; {
	case run != nil:
		run(rest)
	case command == "--version":
		fmt.Println("Lake version 5.0.0-src (Lean version 4.26.0)")
	default:
		fmt.Fprintf(os.Stderr, "error: unknown command '%s'\n", command)
		os.Exit(1)
	}
}

func lean(args []string) {
	switch {
	case slices.Contains(args, "--server"):
		serve(args)
	case slices.Contains(args, "--worker"):
		work(args)
	case slices.Contains(args, "--deps-json"):
		depsJSON(args)
	case slices.Contains(args, "--print-prefix"):
		fmt.Println(sysroot())
	case slices.Contains(args, "--version"):
		fmt.Println("Lean (version 4.26.0, x86_64-unknown-linux-gnu, commit 000000000000, Release)")
	default:
		compile(args)
	}
}

// knobs lists what each role understands beside the deeds of package play.
var knobs = map[string][]string{
	"lake":   {"exit-early"},
	"exe":    {"exit-early", "build-first"},
	"server": {"no-group-kill", "no-shutdown", "ignore-eof", "refresh"},
	"worker": {"ignore-eof", "no-publish", "block-in-setup", "garbage", "partial-frame", "import-slow"},
	"build":  {"ignore-eof", "no-publish", "garbage", "partial-frame", "import-slow"},
	"repl":   {"ignore-eof", "no-publish", "garbage", "partial-frame", "import-slow", "imports-throw"},
	"deps":   {"schema"},
}

// begin makes this process known in its role and does what the environment says for the start of that role.
func begin(role string) *play.Process {
	p := play.Begin(role, os.Getenv("FAKELEAN_JOURNAL"), knobs[role]...)
	p.DoAll(os.Getenv("FAKELEAN_AT_" + strings.ToUpper(role)))
	return p
}

// loadKnobFile sets the variables of .fakelean in the working directory that the environment doesn't hold.
func loadKnobFile() {
	text, err := os.ReadFile(".fakelean")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(text)) {
		name, value, found := strings.Cut(strings.TrimSpace(line), "=")
		if _, set := os.LookupEnv(name); found && !set {
			_ = os.Setenv(name, value)
		}
	}
}
