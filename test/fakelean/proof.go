package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// proof is a proof state: goals that are open, the first of which a tactic works on.
type proof struct {
	goals []goal
	sorry bool // some goal was closed by sorry
}

var (
	closes = regexp.MustCompile(`^(rfl|assumption|trivial|simp|decide|omega|exact\s+\S.*)$`)
	have   = regexp.MustCompile(`^have\s+(\S+)\s*:\s*(.*?)\s*:=\s*(.*)$`)
	apply  = regexp.MustCompile(`^apply\s+(\S+)$`)
)

// applied maps a name to the goals that applying it leaves.
var applied = map[string][]string{"Int.natAbs": {"Int"}, "id": {"?"}}

// step runs a tactic in a proof state.
func (s *session) step(state int, tactic string) reply {
	if state < 0 || state >= len(s.proofs) {
		return refusal("Unknown proof state.")
	}
	tactic = strings.TrimSpace(tactic)
	now := s.proofs[state]
	if len(now.goals) == 0 {
		return refusal("Lean error:\nno goals to be proved")
	}
	first, rest := now.goals[0], now.goals[1:]
	next := proof{sorry: now.sorry, goals: rest}
	var sorries []reply
	keep := func(g goal) {
		s.proofs = append(s.proofs, proof{goals: []goal{g}})
		sorries = append(sorries, reply{"proofState": len(s.proofs) - 1, "goal": g.String()})
	}
	switch {
	case tactic == "sorry":
		keep(first)
		next.sorry = true
	case closes.MatchString(tactic):
	case have.MatchString(tactic):
		m := have.FindStringSubmatch(tactic)
		if sorryWord.MatchString(m[3]) {
			keep(goal{hypotheses: first.hypotheses, target: m[2]})
		}
		first.hypotheses = append(append([]string(nil), first.hypotheses...), m[1]+" : "+m[2])
		next.goals = append([]goal{first}, rest...)
	case apply.MatchString(tactic) && applied[apply.FindStringSubmatch(tactic)[1]] != nil:
		next.goals = nil
		for _, target := range applied[apply.FindStringSubmatch(tactic)[1]] {
			next.goals = append(next.goals, goal{hypotheses: first.hypotheses, target: target})
		}
		next.goals = append(next.goals, rest...)
	default:
		return refusal("Lean error:\n<input>:1:1: unknown tactic or a tactic that failed: " + tactic)
	}
	r := s.keepProof(next)
	if sorries != nil {
		r["sorries"] = sorries
	}
	return r
}

// keepProof hands out a proof state.
func (s *session) keepProof(p proof) reply {
	s.proofs = append(s.proofs, p)
	goals := []string{}
	for _, g := range p.goals {
		goals = append(goals, g.String())
	}
	status := "Completed"
	switch {
	case len(goals) > 0:
		status = "Incomplete: open goals remain"
	case p.sorry:
		status = "Incomplete: contains sorry"
	}
	return reply{"proofStatus": status, "proofState": len(s.proofs) - 1, "goals": goals}
}

// pickled is a pickle: JSON instead of an .olean, since nobody but this program reads it.
type pickled struct {
	Signatures map[string]string `json:"signatures,omitempty"`
	Numbers    map[string]int    `json:"numbers,omitempty"`
	Hypotheses []string          `json:"hypotheses,omitempty"`
	Targets    []string          `json:"targets,omitempty"`
}

func (s *session) pickleEnv(path string, env int) reply {
	if env < 0 || env >= len(s.envs) {
		return refusal("Unknown environment.")
	}
	e := s.envs[env]
	if err := dump(path, pickled{Signatures: e.signatures, Numbers: e.numbers, Hypotheses: e.variables}); err != nil {
		return refusal(err.Error())
	}
	return reply{"env": env}
}

func (s *session) unpickleEnv(path string) reply {
	p, err := undump(path)
	if err != nil {
		return refusal(err.Error())
	}
	e := newEnvironment()
	for name, signature := range p.Signatures {
		e.signatures[name] = signature
	}
	for name, n := range p.Numbers {
		e.numbers[name] = n
	}
	e.variables = p.Hypotheses
	s.envs = append(s.envs, e)
	return reply{"env": len(s.envs) - 1}
}

// pickleProof keeps the targets and the first goal's hypotheses, which is all that the few tactics need.
func (s *session) pickleProof(path string, state int) reply {
	if state < 0 || state >= len(s.proofs) {
		return refusal("Unknown proof state.")
	}
	p := pickled{}
	for i, g := range s.proofs[state].goals {
		if i == 0 {
			p.Hypotheses = g.hypotheses
		}
		p.Targets = append(p.Targets, g.target)
	}
	if err := dump(path, p); err != nil {
		return refusal(err.Error())
	}
	return s.keepProof(s.proofs[state])
}

func (s *session) unpickleProof(path string) reply {
	p, err := undump(path)
	if err != nil {
		return refusal(err.Error())
	}
	restored := proof{}
	for _, target := range p.Targets {
		restored.goals = append(restored.goals, goal{hypotheses: p.Hypotheses, target: target})
	}
	return s.keepProof(restored)
}

func dump(path string, p pickled) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

func undump(path string) (p pickled, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("failed to read file '%s', incompatible header", path)
	}
	return p, nil
}
