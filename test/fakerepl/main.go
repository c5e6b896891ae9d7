package main

import (
	"cmp"
	"flag"
	"os"

	"github.com/seed-f6977891/hearth/test/standins/play"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

func main() {
	play.ChildMain()
	scriptPath := flag.String("script", os.Getenv("FAKEREPL_SCRIPT"), "what to do")
	journalPath := flag.String("journal", os.Getenv("FAKEREPL_JOURNAL"), "where to note what happens")
	protocol := flag.String("protocol", os.Getenv("FAKEREPL_PROTOCOL"), "lean or jsonl")
	flag.Parse()

	p := play.Begin("repl", *journalPath)
	r := &repl{process: p, generation: 1, counts: map[int]int{}}
	if *scriptPath != "" {
		if err := script.Load(*scriptPath, &r.script); err != nil {
			p.Misused(err)
		}
		generation, err := script.NextGeneration(*scriptPath)
		if err != nil {
			p.Misused(err)
		}
		r.generation = generation
	}
	r.script.Protocol = cmp.Or(*protocol, r.script.Protocol, "lean")
	if err := r.prepare(); err != nil {
		p.Misused(err)
	}
	r.serve(os.Stdin)
}
