// Package explore searches the orders in which one actor can be told things.
//
// A World is the actor under test in a bubble of its own, and around it an environment
// whose every move is a Choice: an answer that a worker waits for, a message of a
// neighbour, the passing of time. Search tries the choices breadth first. A node is the
// choices that lead to it: to visit one, a new World is made and they are played again,
// since an actor can be neither copied nor turned back. After each choice the laws are
// checked; from each state that was not seen before the rest is played to its end, and
// the laws of an end are checked. A state that was seen is not gone on from.
package explore

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

var deeper = flag.Int("explore.deeper", 0, "how many choices deeper than usual the searches go")

// World is one actor and what is around it. It is used inside a bubble.
type World interface {
	// Choices are what may happen next. Names are unique, and the order depends on
	// nothing but what happened before.
	Choices() []Choice
	// Check looks at what the actor did since the last time, and gives the law that it
	// broke.
	Check() error
	// State is all that the future depends on; see Dump.
	State() State
	// Ended gives the law that is broken where nothing is left to happen.
	Ended() error
	// Look and Hold are Held's.
	Look(at func())
	Hold() (release func())
}

// Choice is one thing that may happen.
type Choice struct {
	Name string
	Do   func()
	// Due is set where it has to happen some day: the first due one is taken, again and
	// again, to bring a World to its end.
	Due bool
}

// Config says what is searched.
type Config struct {
	Depth int
	// Whole is set where Depth is more than enough: nothing is new at it, so that the
	// search holds for any depth.
	Whole bool
	// Crossing are the beginnings of the names of choices that are also tried right after
	// any other, before the actor has seen that one: what it does about the first, to
	// itself or to a timer, then comes too late for the second.
	Crossing []string
	New      func(testing.TB) World
}

// Report is the size of a search.
type Report struct {
	States, Transitions int
	Deepest             int // at which a new state was found
	Cut                 int // states that were not gone on from for their depth alone
}

func (r Report) String() string {
	return fmt.Sprintf("%d states, %d transitions, the last new state at depth %d, %d not gone on from",
		r.States, r.Transitions, r.Deepest, r.Cut)
}

// Failure is a law that was broken, and how.
type Failure struct {
	Path []string
	Law  error
}

func (f *Failure) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%v\nafter", f.Law)
	for i, step := range f.Path {
		fmt.Fprintf(&text, "\n%4d. %s", i+1, step)
	}
	return text.String()
}

// repeated is how deep a search goes that the same process has done before. -count can
// find nothing new by it, only that a bubble is not as sound as it was.
const repeated = 4

var searched sync.Map // names of tests

// Run searches, fails the test where a law is broken, and logs how much was searched.
func Run(t *testing.T, cfg Config) {
	t.Helper()
	cfg.Depth += *deeper
	if _, again := searched.LoadOrStore(t.Name(), true); again {
		cfg.Depth, cfg.Whole = min(cfg.Depth, repeated), false
	}
	report, err := Search(t, cfg)
	switch {
	case err != nil:
		t.Fatal(err)
	case cfg.Whole && report.Cut > 0:
		t.Errorf("it goes on: %v", report)
	default:
		t.Log(report)
	}
}

// Search looks for the shortest path to a broken law: a *Failure, nil where there is none
// as deep as Depth.
func Search(t *testing.T, cfg Config) (Report, error) {
	s := &search{t: t, cfg: cfg, seen: map[string]bool{}}
	level := []path{nil}
	for depth := 0; ; depth++ {
		level = s.fresh(s.visitAll(level), depth)
		switch {
		case s.failure != nil:
			return s.report, s.failure
		case len(level) == 0:
			return s.report, nil
		case depth == cfg.Depth:
			s.report.Cut = s.cut
			return s.report, nil
		}
	}
}

// path are steps, and a step is one choice, or two that come together.
type path [][]string

func (p path) then(step ...string) path { return append(p[:len(p):len(p)], step) }

func (p path) names() (names []string) {
	for _, step := range p {
		name := step[0]
		if len(step) > 1 {
			name += ", and before that is seen: " + step[1]
		}
		names = append(names, name)
	}
	return names
}

type search struct {
	t       *testing.T
	cfg     Config
	seen    map[string]bool
	cut     int
	report  Report
	failure error
}

// visit is what was found at the end of a path.
type visit struct {
	path    path
	void    bool   // its last step was not possible
	print   string // of the state
	choices []string
	failure error
}

// visitAll visits the paths of one level, side by side.
func (s *search) visitAll(level []path) []visit {
	visits := make([]visit, len(level))
	var taken atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := int(taken.Add(1)) - 1; i < len(level); i = int(taken.Add(1)) - 1 {
				visits[i].path = level[i]
				s.visit(&visits[i])
			}
		})
	}
	workers.Wait()
	return visits
}

// fresh takes in the visits of one level in their order, so that every search finds the
// same, and gives the paths of the next level.
func (s *search) fresh(visits []visit, depth int) (next []path) {
	s.cut = 0
	for _, v := range visits {
		switch {
		case v.failure != nil:
			s.failure = v.failure
			return nil
		case v.void:
			continue
		}
		s.report.Transitions++
		if s.seen[v.print] {
			continue
		}
		s.seen[v.print] = true
		s.report.States++
		s.report.Deepest = depth
		s.cut++
		next = append(next, s.steps(v)...)
	}
	return next
}

func (s *search) steps(v visit) (next []path) {
	for _, name := range v.choices {
		next = append(next, v.path.then(name))
	}
	for _, first := range v.choices {
		for _, second := range v.choices {
			if first != second && s.crosses(second) {
				next = append(next, v.path.then(first, second))
			}
		}
	}
	return next
}

func (s *search) crosses(name string) bool {
	return slices.ContainsFunc(s.cfg.Crossing, func(start string) bool { return strings.HasPrefix(name, start) })
}

// visit plays a path in a bubble. What goes wrong with the bubble itself belongs to the
// path too: a goroutine that never ends, or a race, which ends the calling goroutine.
func (s *search) visit(v *visit) {
	play := &player{search: s, visit: v}
	law := error(nil)
	sound := false
	defer func() {
		if cause := recover(); law == nil && !sound {
			law = fmt.Errorf("its bubble failed: %v", cause)
		}
		if law != nil {
			v.failure = &Failure{play.played, law}
		}
	}()
	synctest.Test(s.t, func(t *testing.T) {
		play.world = s.cfg.New(t)
		law = play.path(v.path)
	})
	sound = true
}
