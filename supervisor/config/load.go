package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f6977891/hearth/messages"
)

// Sources is where Load looks. The zero Sources gives the defaults.
type Sources struct {
	Flags      map[string]string   // by setting's key; only those that were given
	ConfigFile string              // --config; empty: HEARTH_CONFIG, else the user's file
	Environ    func(string) string // os.Getenv; nil: an empty environment
	RAM        Size                // 0: the machine's
}

// Origins says where values came from, by key: a flag ("--idle"), a variable's name
// or the config file's path. A key that is missing has its default.
type Origins map[string]string

// Load computes the configuration in force: flags over environment over config file
// over defaults. A variable that is unset or blank gives nothing. Everything that is
// given has to be valid, also where something else is laid over it: a mistake that
// shows only on the day when its cover is removed helps nobody.
func Load(src Sources) (Config, Origins, error) {
	if src.Environ == nil {
		src.Environ = func(string) string { return "" }
	}
	if src.RAM == 0 {
		src.RAM = machineRAM()
	}
	c := Config{
		RAM:               src.RAM,
		Languages:         BuiltinLanguages(),
		DefaultRuntimeDir: defaultRuntimeDir(src.Environ("XDG_RUNTIME_DIR")),
	}
	from := Origins{}
	values, err := src.readFile(&c, from)
	if err != nil {
		return Config{}, nil, err
	}
	for _, s := range settings {
		s.fill(&c)
		if err := s.load(&c, src, values, from); err != nil {
			return Config{}, nil, err
		}
	}
	if err := unknown(src.Flags, "flag"); err != nil {
		return Config{}, nil, err
	}
	return c, from, c.Validate()
}

// load lays one setting's sources over its default, least first.
func (s setting) load(c *Config, src Sources, file fileValues, from Origins) error {
	if value, ok := file.values[s.key]; ok {
		text, plain := scalarText(value)
		if !plain || !s.set(c, text) {
			return s.refuse(file.path, text)
		}
		from[s.key] = file.path
	}
	if v, text, ok := s.variable(src.Environ); ok {
		if !v.set(c, text) {
			return s.refuse(v.name, text)
		}
		from[s.key] = v.name
	}
	if text, ok := src.Flags[s.key]; ok {
		if !s.set(c, text) {
			return s.refuse("--"+s.key, text)
		}
		from[s.key] = "--" + s.key
	}
	return nil
}

// variable finds the first of the setting's variables that holds something.
func (s setting) variable(environ func(string) string) (variable, string, bool) {
	for _, v := range s.names {
		if text := strings.TrimSpace(environ(v.name)); text != "" && text != v.unset {
			return v, text, true
		}
	}
	return variable{}, "", false
}

func (s setting) refuse(source, text string) error {
	return &messages.ConfigError{Setting: fmt.Sprintf("%s (%s)", s.key, source), Value: text, Want: s.want}
}

// unknown refuses the first key, by name, that no setting has.
func unknown[V any](given map[string]V, source string) error {
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(settings, func(s setting) bool { return s.key == key }) {
			return &messages.ConfigError{
				Setting: fmt.Sprintf("%s (%s)", key, source),
				Value:   fmt.Sprint(given[key]),
				Want:    "a known key; hearth config lists them",
			}
		}
	}
	return nil
}

// filePath finds the config file. Only a file that somebody named has to exist. As
// the XDG base directory specification says, a relative XDG_CONFIG_HOME counts as
// unset, and unset means ~/.config.
func (src Sources) filePath() (path, setting string) {
	if src.ConfigFile != "" {
		return src.ConfigFile, "--config"
	}
	if path := strings.TrimSpace(src.Environ("HEARTH_CONFIG")); path != "" {
		return path, "HEARTH_CONFIG"
	}
	base := src.Environ("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		home := src.Environ("HOME")
		if !filepath.IsAbs(home) {
			return "", ""
		}
		base = filepath.Join(home, ".config")
	}
	return filepath.Join(base, "hearth", "config.toml"), ""
}
