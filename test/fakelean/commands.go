package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	firstWord = regexp.MustCompile(`^[^\s({\[:]+`)
	asked     = regexp.MustCompile(`^(#check|#print)\s+(\S+)`)
	evaluated = regexp.MustCompile(`^#eval\s+(.*\S)`)
	printed   = regexp.MustCompile(`^IO\.println\s+"([^"]*)"$`)
	atom      = regexp.MustCompile(`[^\s+*]+`)
)

// silent are commands that say nothing here.
var silent = map[string]bool{
	"open": true, "namespace": true, "section": true, "end": true, "universe": true, "set_option": true, "attribute": true,
	"export": true, "macro": true, "syntax": true, "notation": true, "infixl": true, "infixr": true, "mutual": true,
	"deriving": true, "local": true, "scoped": true, "#align": true, "macro_rules": true, "elab": true, "initialize": true,
}

// interpret applies the table of rules to the command.
func (s *step) interpret(env *environment) {
	code := s.code
	indent := len(code) - len(strings.TrimLeft(code, " \n\t"))
	if indent == len(code) {
		return
	}
	if m := declares.FindStringSubmatchIndex(code[indent:]); m != nil {
		s.declare(parseDeclaration(code, indent+m[2], indent+m[3]), env)
		return
	}
	keyword := firstWord.FindString(code[indent:])
	end := indent + len(keyword)
	switch {
	case asked.MatchString(code[indent:]):
		s.check(indent, env)
	case evaluated.MatchString(code[indent:]):
		s.eval(indent, env)
	case keyword == "variable":
		env.variables = append(env.variables, binders(code[end:])...)
	case keyword == "import":
		s.say("error", indent, end, "invalid 'import' command, it must be used in the beginning of the file")
	case silent[keyword]:
	case keyword == "sorry" || keyword == "by" || keyword == "":
		s.say("error", indent, max(end, indent+1), "unexpected token '"+keyword+"'; expected command")
	default:
		s.say("error", indent, end, "unexpected identifier; expected command")
	}
}

// check answers #check and #print.
func (s *step) check(at int, env *environment) {
	m := asked.FindStringSubmatchIndex(s.code[at:])
	command, name := s.code[at+m[2]:at+m[3]], s.code[at+m[4]:at+m[5]]
	signature, defined := env.signature(name)
	switch {
	case numeral.MatchString(name):
		signature = " : Nat"
	case !defined:
		s.say("error", at+m[4], at+m[5], "Unknown identifier `"+name+"`")
		return
	}
	if command == "#print" {
		name = "def " + name
	}
	s.say("info", at, at+len(command), name+signature)
}

// eval answers #eval of a text, of IO.println of a text, and of sums and products of numbers and names of numbers.
func (s *step) eval(at int, env *environment) {
	m := evaluated.FindStringSubmatchIndex(s.code[at:])
	from, to := at+m[2], at+m[3]
	expression := s.code[from:to]
	said := func(text string) { s.say("info", at, at+len("#eval"), text) }
	if out := printed.FindStringSubmatch(expression); out != nil {
		said(out[1] + "\n")
		return
	}
	if strings.HasPrefix(expression, `"`) && strings.HasSuffix(expression, `"`) {
		said(expression)
		return
	}
	for _, a := range atom.FindAllStringIndex(expression, -1) {
		name := expression[a[0]:a[1]]
		_, isNumber := env.numbers[name]
		if numeral.MatchString(name) || isNumber {
			continue
		}
		text := "Unknown identifier `" + name + "`"
		if env.knows(name) {
			text = "could not synthesize a `ToExpr`, `Repr`, or `ToString` instance for type\n  " + name
		}
		s.say("error", from+a[0], from+a[1], text)
		return
	}
	said(strconv.Itoa(sum(expression, env)))
}

func sum(expression string, env *environment) int {
	total := 0
	for _, product := range strings.Split(expression, "+") {
		n := 1
		for _, factor := range strings.Split(product, "*") {
			name := strings.TrimSpace(factor)
			if value, named := env.numbers[name]; named {
				n *= value
				continue
			}
			n *= number(name)
		}
		total += n
	}
	return total
}

// goal is what is left to be shown.
type goal struct {
	name       string // of its case, often empty
	hypotheses []string
	target     string
}

func (g goal) String() string {
	lines := append([]string(nil), g.hypotheses...)
	if g.name != "" {
		lines = append([]string{"case " + g.name}, lines...)
	}
	return strings.Join(append(lines, fmt.Sprintf("⊢ %s", g.target)), "\n")
}
