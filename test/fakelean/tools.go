package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/play"
)

// self is the path by which this program was executed.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// sysroot is the directory whose bin holds the tools.
func sysroot() string { return filepath.Dir(filepath.Dir(self())) }

// tool makes a command of another tool: the link beside this program, else this program with the tool's name in front.
func tool(name string, args ...string) *exec.Cmd {
	path := filepath.Join(filepath.Dir(self()), name)
	if _, err := os.Stat(path); err != nil {
		path, args = self(), append([]string{name}, args...)
	}
	cmd := exec.Command(path, args...)
	cmd.Stderr = os.Stderr
	return cmd
}

// inherit gives cmd this process's standard streams themselves, not pipes to them.
func inherit(cmd *exec.Cmd) *exec.Cmd {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd
}

// start starts cmd and notes it.
func start(p *play.Process, kind string, cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	child := journal.Child{PID: cmd.Process.Pid, StartTicks: journal.StartTicks(cmd.Process.Pid)}
	p.Journal.Note(journal.Spawned, kind, child)
	return nil
}

// run starts cmd, waits for it and returns its code as Lean computes it: the exit status, or 128 + the signal.
func run(p *play.Process, kind string, cmd *exec.Cmd) int {
	if err := start(p, kind, cmd); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	return code(cmd.Wait())
}

func code(err error) int {
	exit := new(exec.ExitError)
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		return 1
	case exit.ExitCode() >= 0:
		return exit.ExitCode()
	}
	return 128 + int(signalOf(exit))
}

// setLakeEnv adds to the environment what lake adds. Everything else is inherited: a mark in it reaches every level.
func setLakeEnv() {
	root, dir := sysroot(), workDir()
	for name, value := range map[string]string{
		"LAKE":          filepath.Join(root, "bin", "lake"),
		"LAKE_HOME":     root,
		"LEAN":          filepath.Join(root, "bin", "lean"),
		"LEAN_SYSROOT":  root,
		"LEAN_PATH":     filepath.Join(dir, oleanDir),
		"LEAN_SRC_PATH": dir,
		"LEAN_GITHASH":  "000000000000",
		"PATH":          filepath.Join(root, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
	} {
		_ = os.Setenv(name, value)
	}
}

func workDir() string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	return dir
}
