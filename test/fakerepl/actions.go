package main

import (
	"fmt"
	"os"

	"github.com/seed-f6977891/hearth/test/standins/script"
)

func (r *repl) doAll(actions []script.Action, c command) {
	for _, a := range actions {
		if err := r.do(a, c); err != nil {
			r.process.Misused(fmt.Errorf("%s: %w", a.Do, err))
		}
	}
}

func (r *repl) do(a script.Action, c command) error {
	switch a.Do {
	case "default":
		r.byDefault(c)
	case "reply":
		value, err := script.Expand(a.Value, r.placeholders(c))
		if err != nil {
			return err
		}
		r.reply(value, nil)
	case "echo":
		cut := cutInCharacter
		if a.Text == "escaped" {
			cut = escapeAndCut
		}
		r.say(r.nextEnv(), c.code, cut)
	case "fill":
		r.say(r.nextEnv(), script.Fill(a.N), nil)
	case "raw":
		r.write(a.Raw, a.Cuts)
	case "repeat":
		for range a.N {
			r.doAll(a.Actions, c)
		}
	case "stop_reading":
		select {} // a REPL that reads nothing does nothing else either
	default:
		return script.Act(r.process, a)
	}
	return nil
}

// placeholders are those of a reply; asking for them hands out an env.
func (r *repl) placeholders(c command) map[string]any {
	return map[string]any{
		"${env}": r.nextEnv(), "${generation}": r.generation, "${pid}": os.Getpid(),
		"${sha256}": digest(c.code), "${code}": c.code,
	}
}
