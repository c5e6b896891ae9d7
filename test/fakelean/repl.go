package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/leanjson"
	"github.com/seed-f6977891/hearth/test/standins/play"
)

// session is the state of one REPL: everything that it ever handed out.
type session struct {
	process *play.Process
	envs    []*environment
	proofs  []proof
}

// request holds the members of all kinds of requests; which kind it is follows from those that are there.
type request struct {
	Cmd                   *string `json:"cmd"`
	Env                   *int    `json:"env"`
	Path                  *string `json:"path"`
	Tactic                *string `json:"tactic"`
	ProofState            *int    `json:"proofState"`
	PickleTo              *string `json:"pickleTo"`
	UnpickleEnvFrom       *string `json:"unpickleEnvFrom"`
	UnpickleProofStateFom *string `json:"unpickleProofStateFrom"`
}

// reply is a reply; Lean's printer puts the keys in order.
type reply map[string]any

func refusal(text string) reply { return reply{"message": text} }

// repl reads queries and answers them until its input ends.
func repl([]string) {
	s := &session{process: begin("repl")}
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	for {
		query := leanjson.ReadQuery(in)
		if query == "" {
			break
		}
		if leanjson.IsSkipped(query) {
			continue
		}
		s.process.Journal.Note(journal.Received, fmt.Sprintf("%.80s", query), nil)
		s.write(s.answer(query))
	}
	s.process.Journal.Note(journal.EOF, "", nil)
	if _, stays := s.process.Flag("ignore-eof"); stays {
		select {}
	}
	s.process.Exit(0)
}

func (s *session) write(r reply) {
	text, err := leanjson.Marshal(r)
	if err != nil {
		s.process.Misused(err)
	}
	if _, partial := s.process.Flag("partial-frame"); partial {
		fmt.Print(text[:len(text)/2])
		select {}
	}
	fmt.Print(text + "\n\n")
}

// answer answers a query. One that is no request ends the process, as an uncaught exception does.
func (s *session) answer(query string) reply {
	var r request
	if !json.Valid([]byte(query)) {
		s.throw("Could not parse JSON:\n" + query)
	}
	if err := json.Unmarshal([]byte(query), &r); err != nil {
		s.throw("Could not parse as a valid JSON command:\n" + query)
	}
	switch {
	case r.Tactic != nil && r.ProofState != nil:
		return s.step(*r.ProofState, *r.Tactic)
	case r.PickleTo != nil && r.Env != nil:
		return s.pickleEnv(*r.PickleTo, *r.Env)
	case r.UnpickleEnvFrom != nil:
		return s.unpickleEnv(*r.UnpickleEnvFrom)
	case r.PickleTo != nil && r.ProofState != nil:
		return s.pickleProof(*r.PickleTo, *r.ProofState)
	case r.UnpickleProofStateFom != nil:
		return s.unpickleProof(*r.UnpickleProofStateFom)
	case r.Cmd != nil:
		return s.command(*r.Cmd, r.Env)
	case r.Path != nil:
		text, err := os.ReadFile(*r.Path)
		if err != nil {
			return refusal(fmt.Sprintf("no such file or directory (error code: 2)\n  file: %s", *r.Path))
		}
		return s.command(string(text), r.Env)
	}
	s.throw("Could not parse as a valid JSON command:\n" + query)
	return nil
}

func (s *session) throw(text string) {
	quoted, _ := json.Marshal(map[string]string{"message": text})
	fmt.Fprintf(os.Stderr, "uncaught exception: %s\n", quoted)
	s.process.Exit(1)
}

// command elaborates code in an env, or in a new one that imports what its header says.
func (s *session) command(code string, env *int) reply {
	var messages []message
	header := parseHeader(code)
	e := environmentOf(header)
	switch {
	case env != nil && (*env < 0 || *env >= len(s.envs)):
		return refusal("Unknown environment.")
	case env != nil:
		e = s.envs[*env].clone()
		if len(header.imports) > 0 {
			messages = append(messages, message{Severity: "error", Pos: place{1, 0}, End: &place{1, len("import")},
				Data: "invalid 'import' command, it must be used in the beginning of the file"})
		}
	default:
		if m, missing := header.missing(); missing {
			if _, throws := s.process.Flag("imports-throw"); throws {
				return refusal(m.Data)
			}
			messages = append(messages, m)
		}
	}
	var holes []hole
	for _, step := range elaborate(code, e) {
		for _, d := range step.directives {
			s.direct(d)
		}
		messages = append(messages, step.messages...)
		holes = append(holes, step.holes...)
	}
	r := reply{}
	if len(messages) > 0 {
		r["messages"] = messages
	}
	if len(holes) > 0 {
		r["sorries"] = s.keepHoles(holes)
	}
	s.envs = append(s.envs, e)
	r["env"] = len(s.envs) - 1
	return r
}

// direct does a directive of the code; the process is the only one that a REPL has.
func (s *session) direct(d play.Directive) {
	switch d.Name {
	case "garbage":
		fmt.Println(d.Args)
	default:
		_ = s.process.Do(context.Background(), d)
	}
}

func (s *session) keepHoles(holes []hole) []reply {
	var list []reply
	for _, h := range holes {
		s.proofs = append(s.proofs, proof{goals: []goal{h.goal}})
		list = append(list, reply{
			"proofState": len(s.proofs) - 1, "pos": h.pos, "endPos": h.end, "goal": strings.TrimSpace(h.goal.String()),
		})
	}
	return list
}
