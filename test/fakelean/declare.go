package main

import (
	"regexp"
	"strings"
	"unicode"
)

// declaration is a parsed theorem, def, example or the like. The numbers are byte offsets into the command's code.
type declaration struct {
	keyword, name     string
	start, end        int // of the name, or of the keyword where there is no name
	binders           []string
	typ               string
	value             string
	valueAt, valueEnd int
}

var declares = regexp.MustCompile(`^(?:@\[[^\]]*\]\s*)?(?:(?:private|protected|noncomputable|partial|unsafe|public|meta)\s+)*` +
	`(theorem|lemma|def|abbrev|example|instance|axiom|opaque|structure|inductive|class)\b`)

// parseDeclaration parses a command whose keyword ends at byte after.
func parseDeclaration(code string, at, after int) declaration {
	d := declaration{keyword: code[at:after], start: at, end: after}
	i := skipSpace(code, after)
	if from := i; i < len(code) && !strings.ContainsRune("({[:⦃", rune(code[i])) {
		for i < len(code) && !strings.ContainsRune(" \n({[:", rune(code[i])) {
			i++
		}
		d.name, d.start, d.end = code[from:i], from, i
	}
	colon, assign := cut(code, i)
	d.binders = binders(code[i:min(colon, assign)])
	if colon < assign {
		d.typ = strings.Join(strings.Fields(code[colon+1:assign]), " ")
	}
	if assign < len(code) {
		d.valueAt = skipSpace(code, assign+2)
		d.valueEnd = len(strings.TrimRightFunc(code, unicode.IsSpace))
		d.valueEnd = max(d.valueEnd, d.valueAt)
		d.value = code[d.valueAt:d.valueEnd]
	}
	return d
}

func skipSpace(code string, i int) int {
	for i < len(code) && (code[i] == ' ' || code[i] == '\n') {
		i++
	}
	return i
}

// cut finds the colon before the type and the ":=" before the value outside brackets; the end of code where there is none.
func cut(code string, from int) (colon, assign int) {
	colon, assign = len(code), len(code)
	depth := 0
	for i := from; i < len(code); i++ {
		switch c := code[i]; {
		case c == '(' || c == '{' || c == '[':
			depth++
		case c == ')' || c == '}' || c == ']':
			depth--
		case c != ':' || depth > 0:
		case strings.HasPrefix(code[i:], ":="):
			return colon, i
		case colon == len(code):
			colon = i
		}
	}
	return colon, assign
}

// binders returns the hypotheses of "(a b : Nat) {h : p}" as they stand in a goal.
func binders(text string) []string {
	var found []string
	depth, from := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{':
			if depth++; depth == 1 {
				from = i + 1
			}
		case ')', '}':
			if depth--; depth > 0 {
				continue
			}
			if names, typ, typed := strings.Cut(text[from:i], ":"); typed {
				found = append(found, strings.Join(strings.Fields(names), " ")+" : "+strings.Join(strings.Fields(typ), " "))
			}
		}
	}
	return found
}

var (
	identifier = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_.']*$`)
	sorryWord  = regexp.MustCompile(`\bsorry\b`)
	equation   = regexp.MustCompile(`^(\d+) = (\d+)$`)
	reflexive  = regexp.MustCompile(`^(?:by\s+)?(rfl|decide)$`)
	numeral    = regexp.MustCompile(`^\d+$`)
)

// declare applies the rules to a declaration.
func (s *step) declare(d declaration, env *environment) {
	g := goal{hypotheses: append(append([]string(nil), env.variables...), d.binders...), target: d.typ}
	switch equal := equation.FindStringSubmatch(d.typ); {
	case d.value == "by":
		s.say("error", d.valueAt, d.valueEnd, "unsolved goals\n"+g.String())
	case reflexive.MatchString(d.value) && equal != nil && equal[1] != equal[2]:
		at := d.valueAt + strings.LastIndexAny(d.value, " \n") + 1
		s.say("error", at, d.valueEnd, "Tactic `rfl` failed: The left-hand side\n  "+equal[1]+
			"\nis not definitionally equal to the right-hand side\n  "+equal[2]+"\n\n"+g.String())
	case strings.HasPrefix(d.value, `"`) && d.typ != "" && d.typ != "String":
		s.say("error", d.valueAt, d.valueEnd,
			"Type mismatch\n  "+d.value+"\nhas type\n  String\nbut is expected to have type\n  "+d.typ)
	case identifier.MatchString(d.value) && !env.knows(d.value):
		s.say("error", d.valueAt, d.valueEnd, "Unknown identifier `"+d.value+"`")
	}
	for _, at := range sorryWord.FindAllStringIndex(d.value, -1) {
		s.holes = append(s.holes, hole{pos: s.at(d.valueAt + at[0]), end: s.at(d.valueAt + at[1]), goal: g})
	}
	if len(s.holes) > 0 {
		s.say("warning", d.start, d.end, "declaration uses `sorry`")
	}
	env.define(d)
}

func (e *environment) define(d declaration) {
	if d.name == "" {
		return
	}
	typ := d.typ
	switch {
	case typ != "":
	case strings.HasPrefix(d.value, `"`):
		typ = "String"
	default:
		typ = "Nat"
	}
	signature := ""
	for _, b := range d.binders {
		signature += " (" + b + ")"
	}
	e.signatures[d.name] = signature + " : " + typ
	if numeral.MatchString(d.value) {
		e.numbers[d.name] = number(d.value)
	}
}

// builtin are names that every environment knows.
var builtin = map[string]string{
	"Nat": " : Type", "Int": " : Type", "String": " : Type", "Bool": " : Type", "Prop": " : Type", "True": " : Prop",
	"False": " : Prop", "rfl": " : a = a", "trivial": " : True", "sorry": " : α", "Nat.add": " : Nat → Nat → Nat",
	"Nat.add_comm": " (n m : Nat) : n + m = m + n", "Int.natAbs": " (m : Int) : Nat", "id": " (a : α) : α",
}

func (e *environment) knows(name string) bool {
	_, defined := e.signature(name)
	return defined
}

func (e *environment) signature(name string) (string, bool) {
	if s, defined := e.signatures[name]; defined {
		return s, true
	}
	s, known := builtin[name]
	return s, known
}
