package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"

	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/leanjson"
	"github.com/seed-f6977891/hearth/test/standins/play"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

type repl struct {
	process    *play.Process
	script     script.REPL
	generation int

	matchers []*regexp.Regexp // of the script's rules
	counts   map[int]int      // number of a rule: how many commands matched it
	envs     int              // handed out so far
	grow     int
	recorded []exchange
	random   *rand.Rand // draws the cuts, nil for none
}

// command is one request.
type command struct {
	query string // as it was read
	code  string
	env   *int
}

func (r *repl) prepare() (err error) {
	if p := r.script.Protocol; p != "lean" && p != "jsonl" {
		return fmt.Errorf("no protocol %q", p)
	}
	for _, rule := range r.script.Rules {
		m, err := regexp.Compile(rule.Match)
		if err != nil {
			return err
		}
		r.matchers = append(r.matchers, m)
	}
	if r.script.Grow != "" {
		if r.grow, err = play.Size(r.script.Grow); err != nil {
			return err
		}
	}
	if r.script.Shuffle != 0 {
		r.random = rand.New(rand.NewPCG(r.script.Shuffle, uint64(r.generation)))
	}
	if r.script.Replay != "" {
		r.recorded, err = load(r.script.Replay)
	}
	return err
}

// serve answers commands until the input ends.
func (r *repl) serve(stdin io.Reader) {
	r.event(script.OnStart)
	in := bufio.NewReaderSize(stdin, 64<<10)
	for {
		query, ended := r.read(in)
		if ended {
			r.process.Journal.Note(journal.EOF, "", nil)
			if !r.event(script.OnEOF) {
				r.process.Exit(0)
			}
			select {} // the script answered the end: the process stays until it is killed
		}
		if r.script.Protocol == "lean" && leanjson.IsSkipped(query) {
			continue
		}
		c := r.parse(query)
		r.process.Journal.Note(journal.Received, fmt.Sprintf("%.80s", c.code), query)
		r.answer(c)
	}
}

func (r *repl) read(in *bufio.Reader) (query string, ended bool) {
	if r.script.Protocol == "lean" {
		query = leanjson.ReadQuery(in)
		return query, query == ""
	}
	line, err := in.ReadString('\n')
	return line, err != nil && line == ""
}

// parse ends the process by what is no JSON: Lean's REPL dies so, and a jsonl REPL has lost its place too.
func (r *repl) parse(query string) command {
	var request struct {
		Cmd  *string `json:"cmd"`
		Code *string `json:"code"`
		Env  *int    `json:"env"`
	}
	if err := json.Unmarshal([]byte(query), &request); err != nil {
		text, _ := json.Marshal(map[string]string{"message": "Could not parse JSON:\n" + err.Error()})
		fmt.Fprintf(os.Stderr, "uncaught exception: %s\n", text)
		r.process.Exit(1)
	}
	c := command{query: query, env: request.Env}
	for _, code := range []*string{request.Cmd, request.Code} {
		if code != nil {
			c.code = *code
		}
	}
	return c
}

// answer does what the code's own comments say, then what the first fitting rule says, or the default.
func (r *repl) answer(c command) {
	for line := range strings.Lines(c.code) {
		if d, found := play.InLine(line); found {
			_ = r.process.Do(context.Background(), d)
		}
	}
	if r.grow > 0 {
		r.process.Grow(r.grow)
	}
	for i, rule := range r.script.Rules {
		if rule.When != "" || !r.fits(rule) || !r.matchers[i].MatchString(c.code) {
			continue
		}
		r.counts[i]++
		if rule.Nth == 0 || rule.Nth == r.counts[i] {
			r.doAll(rule.Do, c)
			return
		}
	}
	r.byDefault(c)
}

// event does what the first rule for start or eof says, and whether there is one.
func (r *repl) event(trigger string) bool {
	for _, rule := range r.script.Rules {
		if rule.When == trigger && r.fits(rule) {
			r.doAll(rule.Do, command{})
			return true
		}
	}
	return false
}

func (r *repl) fits(rule script.Rule) bool {
	return rule.Generation == 0 || rule.Generation == r.generation
}
