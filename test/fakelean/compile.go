package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// compile checks one file: lean SRC [-o OUT] [-i OUT] [-c OUT] [--json] and options that change nothing here.
func compile(args []string) {
	p := begin("build")
	src, outputs, asJSON := parseCompile(args)
	text, err := os.ReadFile(src)
	if err != nil {
		fmt.Fprintf(os.Stderr, "file '%s' not found\n", src)
		p.Exit(1)
	}
	failed := false
	say := func(m message) {
		failed = failed || m.Severity == "error"
		fmt.Println(m.print(src, asJSON))
	}
	h := parseHeader(string(text))
	if m, missing := h.missing(); missing {
		say(m)
		p.Exit(1)
	}
	for _, s := range elaborate(string(text), environmentOf(h)) {
		for _, d := range s.directives {
			_ = p.Do(context.Background(), d)
		}
		for _, m := range s.messages {
			say(m)
		}
	}
	if failed {
		p.Exit(1)
	}
	for _, out := range outputs {
		if err := os.WriteFile(out, []byte("built from "+src+"\n"), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			p.Exit(1)
		}
	}
	p.Exit(0)
}

func parseCompile(args []string) (src string, outputs []string, asJSON bool) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-o" || a == "-i" || a == "-c" || a == "-b":
			if i++; i < len(args) {
				outputs = append(outputs, args[i])
			}
		case a == "-R" || a == "--setup":
			i++
		case a == "--json":
			asJSON = true
		case strings.HasSuffix(a, ".lean") && src == "":
			src = a
		}
	}
	return src, outputs, asJSON
}

// print is the message as lean writes it to its standard output.
func (m message) print(file string, asJSON bool) string {
	if !asJSON {
		return fmt.Sprintf("%s:%d:%d: %s: %s", file, m.Pos.Line, m.Pos.Column, m.Severity, m.Data)
	}
	text, _ := json.Marshal(struct {
		message
		FileName      string `json:"fileName"`
		Kind          string `json:"kind"`
		KeepFullRange bool   `json:"keepFullRange"`
		Caption       string `json:"caption"`
		IsSilent      bool   `json:"isSilent"`
	}{message: m, FileName: file, Kind: "[anonymous]"})
	return string(text)
}

// depsJSON prints the imports of files: lean --deps-json FILE…
func depsJSON(args []string) {
	p := begin("deps")
	schema, _ := p.Flag("schema")
	entries := []any{}
	for _, file := range args {
		if strings.HasPrefix(file, "-") {
			continue
		}
		text, err := readAll(file)
		if err != nil {
			fmt.Fprintf(os.Stderr, "file '%s' not found\n", file)
			p.Exit(1)
		}
		entries = append(entries, deps(file, parseHeader(text), schema))
	}
	text, err := json.Marshal(map[string]any{"imports": entries})
	if err != nil {
		p.Misused(err)
	}
	fmt.Println(string(text))
	p.Exit(0)
}

func readAll(file string) (string, error) {
	if file == "/dev/stdin" { // opened anew it would fail where standard input is a socket
		text, err := io.ReadAll(os.Stdin)
		return string(text), err
	}
	text, err := os.ReadFile(file)
	return string(text), err
}

// Schemas of an entry, newest first: "" lists Init twice, the second time for meta code.
const (
	schemaResult = "result"
	schemaFlat   = "flat"
	schemaOldest = "oldest"
)

func deps(file string, h header, schema string) any {
	if h.fault != "" {
		return map[string]any{"errors": []string{file + ":" + h.fault}}
	}
	type oldest struct {
		Module      string `json:"module"`
		RuntimeOnly bool   `json:"runtimeOnly"`
	}
	all := h.imports
	if !h.prelude {
		implicit := []imported{{Module: "Init", IsExported: true}}
		if schema == "" {
			implicit = append(implicit, imported{Module: "Init", IsExported: true, IsMeta: true})
		}
		all = append(implicit, all...)
	}
	switch schema {
	case schemaOldest:
		list := []oldest{}
		for _, i := range all {
			list = append(list, oldest{Module: i.Module})
		}
		return map[string]any{"imports": list, "errors": []string{}}
	case schemaFlat:
		return map[string]any{"imports": all, "errors": []string{}}
	}
	type result struct {
		Imports  []imported `json:"imports"`
		IsModule bool       `json:"isModule"`
	}
	return struct {
		Result result   `json:"result"`
		Errors []string `json:"errors"`
	}{result{append([]imported{}, all...), h.module}, []string{}}
}
