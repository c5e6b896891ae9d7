package fakes

import (
	"bufio"
	"encoding/json"
	"io"
	"time"

	"github.com/seed-f6977891/hearth/procscan"
)

// Repl is a program that answers one JSON object a line ({"code": …}) as a child of a
// Machine: m.Serve(repl.Play).
type Repl struct {
	// Warm is how long each child takes for its first answer.
	Warm time.Duration
	// Answer gives the bytes that answer a piece of code. Nil: Result of the code.
	Answer func(child *Child, code string) string
}

// Result is the line of a reply whose result is text.
func Result(text string) string {
	line, err := json.Marshal(map[string]any{"ok": true, "result": text})
	if err != nil {
		panic(err) // of a string: it can't fail
	}
	return string(line) + "\n"
}

// Play answers a child's requests until its standard input or the child itself ends.
func (r Repl) Play(child *Child) {
	go func() {
		<-child.Ended()
		_ = child.ProgramIn.Close() // as a kernel would
		_ = child.ProgramOut.Close()
	}()
	time.Sleep(r.Warm)
	requests := bufio.NewReader(child.ProgramIn)
	for {
		line, err := requests.ReadBytes('\n')
		if err != nil {
			child.Exit(procscan.Status{})
			return
		}
		var request struct{ Code string }
		if json.Unmarshal(line, &request) != nil {
			child.Exit(procscan.Status{Code: 1})
			return
		}
		reply := Result(request.Code)
		if r.Answer != nil {
			reply = r.Answer(child, request.Code)
		}
		if _, err := io.WriteString(child.ProgramOut, reply); err != nil {
			return // the runtime's end is closed
		}
	}
}
