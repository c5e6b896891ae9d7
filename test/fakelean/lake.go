package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/seed-f6977891/hearth/test/standins/play"
)

// lakeServe runs the language server as a child in its own group and waits for it.
func lakeServe(args []string) {
	p := begin("lake")
	if !hasLakefile() {
		// As lake does with a configuration that it can't load: complain and serve all the same.
		fmt.Fprintln(os.Stderr, "warning: failed to load the Lake configuration; starting plain Lean server")
		_ = os.Setenv("LAKE_INVALID_CONFIG", "1")
	} else {
		setLakeEnv()
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	wrap(p, "server", tool("lean", append([]string{"--server"}, args...)...))
}

// lakeExe runs the program of a target, lake exe TARGET ARGUMENTS.
func lakeExe(args []string) {
	p := begin("exe")
	if len(args) == 0 || args[0] != "repl" && args[0] != "@repl/repl" {
		fmt.Fprintf(os.Stderr, "error: unknown executable target %q\n", strings.Join(args, " "))
		p.Exit(1)
	}
	setLakeEnv()
	if module, asked := p.Flag("build-first"); asked {
		if err := buildModules(p, []string{module}); err != nil {
			p.Exit(1)
		}
	}
	wrap(p, "repl", tool("repl", args[1:]...))
}

// lakeEnv runs a command in lake's environment.
func lakeEnv(args []string) {
	p := begin("env")
	setLakeEnv()
	if len(args) == 0 {
		for _, v := range os.Environ() {
			fmt.Println(v)
		}
		p.Exit(0)
	}
	wrap(p, args[0], exec.Command(args[0], args[1:]...))
}

// lakeBuild builds the modules named, else all of the project.
func lakeBuild(args []string) {
	p := begin("make")
	setLakeEnv()
	if len(args) == 0 {
		files, _ := filepath.Glob("*.lean")
		for _, f := range files {
			if f != "lakefile.lean" {
				args = append(args, strings.TrimSuffix(f, ".lean"))
			}
		}
		slices.Sort(args)
	}
	if err := buildModules(p, args); err != nil {
		fmt.Println("error: build failed")
		p.Exit(1)
	}
	fmt.Println("Build completed successfully.")
	p.Exit(0)
}

// wrap runs cmd with this process's streams in this process's group, waits for it and ends with its code.
func wrap(p *play.Process, kind string, cmd *exec.Cmd) {
	inherit(cmd)
	if _, early := p.Flag("exit-early"); early {
		if err := start(p, kind, cmd); err != nil {
			p.Misused(err)
		}
		p.Exit(0)
	}
	p.Exit(run(p, kind, cmd))
}

func hasLakefile() bool {
	for _, name := range []string{"lakefile.lean", "lakefile.toml"} {
		if _, err := os.Stat(name); err == nil {
			return true
		}
	}
	return false
}

func signalOf(exit *exec.ExitError) syscall.Signal {
	return exit.Sys().(syscall.WaitStatus).Signal()
}
