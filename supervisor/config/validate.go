package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// Validate holds a Config against every rule, also one that was made in code. Its
// error is a *messages.ConfigError for the first setting that breaks one.
func (c Config) Validate() error {
	for _, name := range slices.Sorted(maps.Keys(c.Languages)) {
		if err := c.Languages[name].check(name); err != nil {
			return err
		}
	}
	if _, ok := c.Languages["lean"]; !ok {
		return &messages.ConfigError{Setting: "languages", Want: "a profile of lean, from which the node's budget is counted"}
	}
	for _, s := range settings {
		if err := s.check(c); err != nil {
			return err
		}
	}
	return c.checkRelations()
}

// checkRelations holds the rules between settings.
func (c Config) checkRelations() error {
	for _, pair := range []struct {
		setting, value, limit string
		ok                    bool
	}{
		{"repl.workers_per_project", fmt.Sprint(c.REPL.WorkersPerProject),
			fmt.Sprintf("repl.total_workers (%d)", c.REPL.TotalWorkers), c.REPL.WorkersPerProject <= c.REPL.TotalWorkers},
		{"repl.timeout", FormatDuration(c.REPL.Timeout),
			fmt.Sprintf("repl.max_timeout (%s)", FormatDuration(c.REPL.MaxTimeout)), c.REPL.Timeout <= c.REPL.MaxTimeout},
		{"lsp.timeout", FormatDuration(c.LSP.Timeout),
			fmt.Sprintf("lsp.max_timeout (%s)", FormatDuration(c.LSP.MaxTimeout)), c.LSP.Timeout <= c.LSP.MaxTimeout},
	} {
		if !pair.ok {
			return &messages.ConfigError{Setting: pair.setting, Value: pair.value, Want: "at most " + pair.limit}
		}
	}
	if err := checkSocketLength(c.RuntimeDir, "runtime_dir"); err != nil {
		return err
	}
	return c.checkBudgets()
}

// newLanguage is a profile that the config file adds, before its table is laid over.
func newLanguage(name string) Language {
	return Language{
		Name: name, ID: name,
		Server: Server{Complete: CompleteQuiet},
		REPL:   Worker{Protocol: ProtocolNone},
	}
}

// languageName keeps names usable in a key of the config file, a flag and an actor's
// id.
var languageName = regexp.MustCompile(`^[a-z][a-z0-9_+-]*$`)

// fault is what is wrong with one key of a profile.
type fault struct {
	broken     bool
	key, value string
	want       string
}

// check holds a profile's rules.
func (l Language) check(name string) error {
	slash := func(list []string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return s == "" || strings.Contains(s, "/") })
	}
	faults := []fault{
		{!languageName.MatchString(name), "", name, "a name of small letters, digits, _, + and -"},
		{l.Name != name, "name", l.Name, "the profile's key, " + name},
		{len(l.Markers) == 0 || slash(l.Markers), "markers", list(l.Markers), "at least one file name without a slash"},
		{slash(l.Fingerprint), "fingerprint", list(l.Fingerprint), "file names without a slash"},
		{!l.extensionsOK(), "extensions", list(l.Extensions), "extensions with their dot, such as .go"},
		{l.ID == "", "language_id", l.ID, "LSP's identifier of the language"},
	}
	for _, f := range append(faults, append(l.Server.faults(), l.REPL.faults()...)...) {
		if f.broken {
			key := strings.TrimSuffix("languages."+name+"."+f.key, ".")
			return &messages.ConfigError{Setting: key, Value: f.value, Want: f.want}
		}
	}
	return nil
}

func (l Language) extensionsOK() bool {
	return !slices.ContainsFunc(l.Extensions, func(e string) bool { return len(e) < 2 || filepath.Ext(e) != e })
}

func (s Server) faults() []fault {
	ways := []Complete{CompleteQuiet, CompleteVersion, CompleteWait}
	return []fault{
		{len(s.Commands) > 0 && !alternatives.ok(s.Commands), "lsp.command", alternatives.format(s.Commands), commandWant},
		{slices.ContainsFunc(slices.Collect(maps.Keys(s.Env)), badVariable), "lsp.env", list(slices.Sorted(maps.Keys(s.Env))),
			"names of variables, without = and without hearth's own marks"},
		{!slices.Contains(ways, s.Complete), "lsp.complete", string(s.Complete), "quiet, version or wait"},
	}
}

// badVariable refuses what is no variable's name, and the marks: a tree without its
// own would not be found again.
func badVariable(name string) bool {
	return name == "" || strings.ContainsAny(name, "=\x00") || name == procscan.SessionVar || name == procscan.RuntimeVar
}

func (w Worker) faults() []fault {
	protocols := []Protocol{ProtocolNone, ProtocolLean, ProtocolJSONL}
	runs := w.Protocol != ProtocolNone
	return []fault{
		{!slices.Contains(protocols, w.Protocol), "repl.protocol", string(w.Protocol), "none, lean or jsonl"},
		{runs && !w.Command.valid(), "repl.command", w.Command.String(), commandWant},
		{w.HeaderCommand != nil && !w.HeaderCommand.valid(), "repl.header_command", w.HeaderCommand.String(), commandWant},
		{w.Driver != "" && w.Driver != "python", "repl.driver", w.Driver, "python, or nothing for a command that speaks the protocol itself"},
		{runs && w.Weight <= 0, "repl.weight", w.Weight.String(), "a size over 0, such as 1GiB"},
		{w.MemoryLimit != nil && *w.MemoryLimit < 0, "repl.memory_limit", fmt.Sprint(w.MemoryLimit), memory.want},
	}
}

func list(items []string) string { return strings.Join(items, ", ") }
