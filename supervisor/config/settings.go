package config

import (
	"time"

	"github.com/seed-f6977891/hearth/messages"
)

// setting is one row of the table, its type hidden: parsing, defaults, checks and
// printing all go through the row.
type setting struct {
	key   string
	names []variable // in the order in which they are asked
	help  string
	want  string

	fill   func(*Config)       // puts the default in
	format func(Config) string // the value in force
	check  func(Config) error  // a *messages.ConfigError
}

// variable is an environment variable that may hold a setting. An older name may
// have a rule of its own; unset is a value that such a name has for "not given".
type variable struct {
	name  string
	unset string
	set   func(c *Config, text string) bool // false: not a value
}

// old is an older name and how it is read.
type old[T any] struct {
	name  string
	unset string
	parse func(string) (T, error) // nil: as the setting
}

// lens is a setting's place in a Config.
type lens[T any] struct {
	get func(Config) T
	put func(*Config, T)
}

// at is the lens of a plain field.
func at[T any](field func(*Config) *T) lens[T] {
	return lens[T]{
		get: func(c Config) T { return *field(&c) },
		put: func(c *Config, value T) { *field(c) = value },
	}
}

// row builds a setting of type T. value computes the default from what is filled in
// already: earlier rows, the languages and the memory.
func row[T any](key, env, help string, r rule[T], place lens[T], value func(Config) T, older ...old[T]) setting {
	reader := func(parse func(string) (T, error)) func(*Config, string) bool {
		return func(c *Config, text string) bool {
			parsed, err := parse(text)
			if err != nil || !r.ok(parsed) {
				return false
			}
			place.put(c, parsed)
			return true
		}
	}
	s := setting{
		key: key, help: help, want: r.want,
		names:  []variable{{name: env, set: reader(r.parse)}},
		fill:   func(*Config) {},
		format: func(c Config) string { return r.format(place.get(c)) },
	}
	if value != nil { // nil: it is in the Config from the start, with its profile
		s.fill = func(c *Config) { place.put(c, value(*c)) }
	}
	for _, o := range older {
		if o.parse == nil {
			o.parse = r.parse
		}
		s.names = append(s.names, variable{name: o.name, unset: o.unset, set: reader(o.parse)})
	}
	s.check = func(c Config) error {
		if value := place.get(c); !r.ok(value) {
			return &messages.ConfigError{Setting: key, Value: r.format(value), Want: r.want}
		}
		return nil
	}
	return s
}

// set reads a text by the setting's own rule, as flags and the file are read.
func (s setting) set(c *Config, text string) bool { return s.names[0].set(c, text) }

// always is a default that depends on nothing.
func always[T any](value T) func(Config) T { return func(Config) T { return value } }

// older are names that follow the setting's own rule.
func older[T any](names ...string) []old[T] {
	list := make([]old[T], len(names))
	for i, name := range names {
		list[i].name = name
	}
	return list
}

// inSeconds is an older name that says its unit, so that a value with another unit
// is a mistake.
func inSeconds(name string) old[time.Duration] {
	return old[time.Duration]{name: name, parse: parseSeconds}
}
