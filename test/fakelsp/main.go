package main

import (
	"flag"
	"os"

	"github.com/seed-f6977891/hearth/test/standins/play"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

func main() {
	play.ChildMain()
	scriptPath := flag.String("script", os.Getenv("FAKELSP_SCRIPT"), "what to do")
	journalPath := flag.String("journal", os.Getenv("FAKELSP_JOURNAL"), "where to note what happens")
	flag.Parse()

	p := play.Begin("server", *journalPath)
	s := newServer(p, os.Stdout)
	if *scriptPath != "" {
		if err := script.Load(*scriptPath, &s.script); err != nil {
			p.Misused(err)
		}
		generation, err := script.NextGeneration(*scriptPath)
		if err != nil {
			p.Misused(err)
		}
		s.generation = generation
	}
	s.serve(os.Stdin)
}
