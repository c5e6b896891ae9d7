package main

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-f6977891/hearth/test/standins/play"
)

// place is a place as Lean prints it: line from 1, column from 0 in characters.
type place struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// message is what Lean says about a place.
type message struct {
	Severity string `json:"severity"`
	Pos      place  `json:"pos"`
	End      *place `json:"endPos"`
	Data     string `json:"data"`
}

// hole is a sorry with the goal that it leaves open.
type hole struct {
	pos, end place
	goal     goal
}

// environment is what the commands so far have defined.
type environment struct {
	signatures map[string]string // name: what #check prints behind it
	numbers    map[string]int    // names of numbers
	variables  []string          // hypotheses of every declaration
}

func newEnvironment() *environment {
	return &environment{signatures: map[string]string{}, numbers: map[string]int{}}
}

// environmentOf knows what the project's modules define that the header imports.
func environmentOf(h header, above ...string) *environment {
	e := newEnvironment()
	for _, i := range h.imports {
		text, err := os.ReadFile(source(i.Module))
		if err != nil || slices.Contains(above, i.Module) {
			continue
		}
		theirs := environmentOf(parseHeader(string(text)), append(above, i.Module)...)
		elaborate(string(text), theirs)
		maps.Copy(e.signatures, theirs.signatures)
		maps.Copy(e.numbers, theirs.numbers)
	}
	return e
}

func (e *environment) clone() *environment {
	return &environment{maps.Clone(e.signatures), maps.Clone(e.numbers), append([]string(nil), e.variables...)}
}

// step is the elaboration of one command.
type step struct {
	line       int // of its first line, from 1
	code       string
	directives []play.Directive // to be done before its messages are out
	messages   []message
	holes      []hole
}

// say adds a message about the bytes from start to end of the command's code.
func (s *step) say(severity string, start, end int, data string) {
	last := s.at(end)
	s.messages = append(s.messages, message{Severity: severity, Pos: s.at(start), End: &last, Data: data})
}

// at returns the place of a byte of the command's code.
func (s *step) at(offset int) place {
	before := s.code[:offset]
	return place{s.line + strings.Count(before, "\n"), runes(before[strings.LastIndexByte(before, '\n')+1:])}
}

func runes(s string) int { return utf8.RuneCountInString(s) }

// elaborate splits text into commands and says about each what the table of rules says. env learns what they define. A
// command begins at a line that begins with anything but a space.
func elaborate(text string, env *environment) []step {
	var steps []step
	raw := strings.Split(text, "\n")
	skipped := parseHeader(text).lines
	for n, line := range strings.Split(codeOf(text), "\n") {
		begins := n == 0 || line != "" && line[0] != ' ' && line[0] != '\t'
		if begins || len(steps) == 0 {
			steps = append(steps, step{line: n + 1})
		}
		s := &steps[len(steps)-1]
		if n < skipped {
			line = "" // the header is none of the commands' business
		}
		if s.line != n+1 {
			line = "\n" + line
		}
		s.code += line
		s.direct(raw[n])
	}
	for i := range steps {
		steps[i].interpret(env)
	}
	return steps
}

var placed = regexp.MustCompile(`^(\d+):(\d+)\s*(.*)$`)

// direct takes up the directive of a line. One that gives a message is a message at once.
func (s *step) direct(line string) {
	d, found := play.InLine(line)
	if !found {
		return
	}
	m := placed.FindStringSubmatch(d.Args)
	if m == nil || d.Name != "error" && d.Name != "warning" && d.Name != "info" {
		s.directives = append(s.directives, d)
		return
	}
	at := place{number(m[1]), number(m[2])}
	s.messages = append(s.messages, message{Severity: d.Name, Pos: at, End: &place{at.Line, at.Column + 1}, Data: m[3]})
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// codeOf blanks the comments of text, character by character, so that all places stay.
func codeOf(text string) string {
	var b strings.Builder
	inLine, inString := false, false
	depth, opened := 0, 0 // of block comments
	for i, r := range text {
		switch {
		case r == '\n':
			inLine = false
		case inLine:
		case depth > 0 || !inString && strings.HasPrefix(text[i:], "/-"):
			if strings.HasPrefix(text[i:], "/-") {
				depth, opened = depth+1, i
			} else if r == '/' && text[i-1] == '-' && i > opened+2 {
				depth--
			}
			r = ' '
		case !inString && strings.HasPrefix(text[i:], "--"):
			inLine = true
		case r == '"':
			inString = !inString
		}
		if inLine {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}
