package explore

import (
	"errors"
	"fmt"
	"slices"
	"testing/synctest"
	"time"
)

// player plays one path in its World.
type player struct {
	world  World
	search *search
	visit  *visit
	played []string
}

func (p *player) path(steps path) error {
	if err := p.look(); err != nil {
		return err
	}
	for i, step := range steps {
		switch possible := p.step(step); {
		case !possible && i+1 == len(steps):
			p.visit.void = true
			return nil
		case !possible:
			return fmt.Errorf("%q was possible when this was played before", step)
		}
		if err := p.look(); err != nil {
			return err
		}
	}
	p.world.Look(func() { p.visit.print = Dump(p.world.State()) })
	for _, choice := range p.world.Choices() {
		if slices.Contains(p.visit.choices, choice.Name) {
			return fmt.Errorf("the World has two choices %q", choice.Name)
		}
		p.visit.choices = append(p.visit.choices, choice.Name)
	}
	if p.search.seen[p.visit.print] {
		return nil
	}
	return p.end()
}

// step plays one choice, or two before the actor sees the first.
func (p *player) step(names []string) bool {
	p.played = append(p.played, path{names}.names()...)
	if len(names) > 1 {
		release := p.world.Hold()
		defer release()
		synctest.Wait()
	}
	for _, name := range names {
		choice, ok := p.find(name)
		if !ok {
			return false
		}
		if len(names) == 1 {
			p.handOver()
		}
		choice.Do()
		synctest.Wait()
	}
	return true
}

// handOver lets what was looked at here happen before all that the actor does next: the
// passing of time alone, as a choice, would not.
func (p *player) handOver() { p.world.Look(func() {}) }

func (p *player) find(name string) (Choice, bool) {
	for _, choice := range p.world.Choices() {
		if choice.Name == name {
			return choice, true
		}
	}
	return Choice{}, false
}

func (p *player) look() error {
	synctest.Wait()
	return p.world.Check()
}

// longestEnd is how many choices an end may take: one that takes more goes round.
const longestEnd = 100

// end takes what is due until nothing is.
func (p *player) end() error {
	for range longestEnd {
		choice, ok := p.due()
		if !ok {
			return p.world.Ended()
		}
		p.played = append(p.played, "at the end: "+choice.Name)
		p.handOver()
		choice.Do()
		if err := p.look(); err != nil {
			return err
		}
	}
	return errors.New("it comes to no end")
}

func (p *player) due() (Choice, bool) {
	for _, choice := range p.world.Choices() {
		if choice.Due {
			return choice, true
		}
	}
	return Choice{}, false
}

// Menu collects choices.
type Menu []Choice

// May adds what is possible, where it is.
func (m *Menu) May(possible bool, name string, do func()) {
	if possible {
		*m = append(*m, Choice{Name: name, Do: do})
	}
}

// Must adds what is due, where it is.
func (m *Menu) Must(due bool, name string, do func()) {
	if due {
		*m = append(*m, Choice{Name: name, Do: do, Due: true})
	}
}

// Quiet tells whether nothing in it is due: what the actor has not done by then it will
// not do.
func (m *Menu) Quiet() bool {
	return !slices.ContainsFunc(*m, func(choice Choice) bool { return choice.Due })
}

// Pass lets d pass, and all happen that it brings: what is due at one moment happens in
// any order, so that a sleep of exactly d might end before it.
func Pass(d time.Duration) { time.Sleep(d + time.Nanosecond) }
