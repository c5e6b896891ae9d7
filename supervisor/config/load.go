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
	l := src.load()
	switch {
	case l.flaw != nil:
		return Config{}, nil, l.flaw
	case l.err != nil:
		return Config{}, nil, l.err
	}
	return l.config, l.origins, l.config.Validate()
}

// Salvage is Load for those who only want to reach a daemon that runs already: what has
// become wrong with the config file must keep nobody from stopping it. That is flaw; the
// Config has all else. What is wrong with a flag or a variable is err, as Load's.
func Salvage(src Sources) (c Config, flaw, err error) {
	l := src.load()
	if l.err != nil {
		return Config{}, nil, l.err
	}
	if tooLong := checkSocketLength(l.config.RuntimeDir, "runtime_dir"); tooLong != nil {
		if l.origins["runtime_dir"] != l.path {
			return Config{}, nil, tooLong
		}
		l.config.RuntimeDir, l.flaw = "", tooLong // no daemon can run there
	}
	if l.flaw == nil {
		l.flaw = l.config.Validate()
	}
	return l.config, l.flaw, nil
}

// loaded is what the sources give, laid over each other.
type loaded struct {
	config  Config
	origins Origins
	path    string // of the config file; empty: there is none
	flaw    error  // the first thing that is wrong with the config file
	err     error  // and with the others
}

// load reads on where something is wrong.
func (src Sources) load() (l loaded) {
	if src.Environ == nil {
		src.Environ = func(string) string { return "" }
	}
	if src.RAM == 0 {
		src.RAM = machineRAM()
	}
	l.config = Config{
		RAM:               src.RAM,
		Languages:         BuiltinLanguages(),
		DefaultRuntimeDir: defaultRuntimeDir(src.Environ("XDG_RUNTIME_DIR")),
	}
	l.origins = Origins{}
	var file fileValues
	file, l.flaw = src.readFile(&l.config, l.origins)
	l.path = file.path
	for _, s := range settings {
		s.fill(&l.config)
		if err := s.fromFile(&l.config, file, l.origins); l.flaw == nil {
			l.flaw = err
		}
		if err := s.fromCaller(&l.config, src, l.origins); l.err == nil {
			l.err = err
		}
	}
	if l.err == nil {
		l.err = unknown(src.Flags, "flag")
	}
	return l
}

func (s setting) fromFile(c *Config, file fileValues, from Origins) error {
	value, ok := file.values[s.key]
	if !ok {
		return nil
	}
	text, plain := scalarText(value)
	if !plain || !s.set(c, text) {
		return s.refuse(file.path, text)
	}
	from[s.key] = file.path
	return nil
}

// fromCaller lays a setting's variable, and its flag over that.
func (s setting) fromCaller(c *Config, src Sources, from Origins) error {
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
