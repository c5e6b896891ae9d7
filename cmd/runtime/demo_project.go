package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-f6977891/hearth/supervisor"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

const (
	demoFile = "hello.go"
	demoText = `package main

import "fmt"

// greeting says hello to somebody.
func greeting(name string) string {
	return "hello, " + name
}

func main() {
	fmt.Println(greeting(42))
}
`
	demoHoverLine, demoHoverColumn = 11, 14 // greeting, where it is called

	demoCode = "sum(n * n for n in range(10))"

	// waitingLanguage is Go with a server whose build system never answers.
	waitingLanguage = "go-waiting"
)

// demoProject is what the demo writes.
type demoProject struct {
	root    string // the Go module
	code    string // a project of Python, where code is run
	scratch string // the servers' TMPDIR: a server that is interrupted leaves files there
	driver  string // a program that a server takes for its build system
	child   string // the file in which the child that it becomes says its PID
}

func writeDemoProject(dir string) (demoProject, error) {
	program, err := os.Executable()
	if err != nil {
		return demoProject{}, err
	}
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return demoProject{}, err
	}
	p := demoProject{root: filepath.Join(dir, "hello"), code: filepath.Join(dir, "sums"),
		scratch: filepath.Join(dir, "scratch"), driver: filepath.Join(dir, "driver"), child: filepath.Join(dir, "child.pid")}
	for _, made := range []string{p.root, p.code, p.scratch} {
		if err := os.Mkdir(made, 0o755); err != nil {
			return demoProject{}, err
		}
	}
	for _, file := range []struct {
		name, text string
		mode       os.FileMode
	}{
		{filepath.Join(p.root, "go.mod"), "module example.com/hello\n\ngo 1.21\n", 0o644},
		{filepath.Join(p.root, demoFile), demoText, 0o644},
		{filepath.Join(p.code, "pyproject.toml"), "", 0o644},
		// GOPACKAGESDRIVER is the name of a program, without arguments.
		{p.driver, fmt.Sprintf("#!/bin/sh\nexec %s wait -- %s \"$@\"\n", quoted(program), quoted(p.child)), 0o755},
	} {
		if err := os.WriteFile(file.name, []byte(file.text), file.mode); err != nil {
			return demoProject{}, err
		}
	}
	return p, nil
}

// configure makes the server's program Go's, and adds the language with the driver.
func (p demoProject) configure(cfg *config.Config, server string) {
	golang := cfg.Languages["go"]
	golang.Server.Commands = []config.Command{{server}}
	env := map[string]string{}
	maps.Copy(env, golang.Server.Env)
	env["TMPDIR"] = p.scratch
	golang.Server.Env = env
	waiting := golang
	waiting.Name = waitingLanguage
	waiting.Server.Env = maps.Clone(env)
	waiting.Server.Env["GOPACKAGESDRIVER"] = p.driver
	cfg.Languages["go"], cfg.Languages[waitingLanguage] = golang, waiting
}

func (p demoProject) document(language string) supervisor.Document {
	return supervisor.Document{Project: p.root, File: demoFile, Language: language}
}

// quoted quotes a word for sh.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
