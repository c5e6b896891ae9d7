package config

import (
	"encoding/json"
)

// profileKey is a key of a [languages.NAME] table: what it may be, and how it is put
// into a profile.
type profileKey struct {
	want string
	put  func(l *Language, value any) bool
}

// profileKeys are all keys of a [languages.NAME] table. A key that is given replaces
// the built-in value whole, lists and tables too.
var profileKeys = map[string]profileKey{
	"markers":      names(func(l *Language) *[]string { return &l.Markers }),
	"fingerprint":  names(func(l *Language) *[]string { return &l.Fingerprint }),
	"extensions":   names(func(l *Language) *[]string { return &l.Extensions }),
	"language_id":  word(func(l *Language) *string { return &l.ID }),
	"language_ids": words(func(l *Language) *map[string]string { return &l.IDs }),
	"install":      words(func(l *Language) *map[string]string { return &l.Install }),

	"lsp.command":                {"one command line or a list of alternatives, each " + commandWant, putAlternatives},
	"lsp.initialization_options": {"any value", putInitializationOptions},
	"lsp.settings":               {"a table", putSettings},
	"lsp.env":                    words(func(l *Language) *map[string]string { return &l.Server.Env }),
	"lsp.complete":               word(func(l *Language) *Complete { return &l.Server.Complete }),
	"lsp.unwatched":              names(func(l *Language) *[]string { return &l.Server.Unwatched }),
	"lsp.serial":                 {"true or false", putSerial},

	"repl.command":         commandLine(func(l *Language) *Command { return &l.REPL.Command }),
	"repl.header_command":  commandLine(func(l *Language) *Command { return &l.REPL.HeaderCommand }),
	"repl.protocol":        word(func(l *Language) *Protocol { return &l.REPL.Protocol }),
	"repl.driver":          word(func(l *Language) *string { return &l.REPL.Driver }),
	"repl.warm_up":         names(func(l *Language) *[]string { return &l.REPL.WarmUp }),
	"repl.allowed_imports": names(func(l *Language) *[]string { return &l.REPL.AllowedImports }),
	"repl.weight":          amount(func(l *Language, s Size) { l.REPL.Weight = s }),
	"repl.memory_limit":    amount(func(l *Language, s Size) { l.REPL.MemoryLimit = &s }),
}

// word is a key that holds text; Validate knows which.
func word[T ~string](field func(*Language) *T) profileKey {
	return profileKey{"text", func(l *Language, value any) bool {
		text, ok := value.(string)
		*field(l) = T(text)
		return ok
	}}
}

// names is a key that holds a list of texts.
func names(field func(*Language) *[]string) profileKey {
	return profileKey{"a list of texts", func(l *Language, value any) bool {
		list, ok := texts(value)
		*field(l) = list
		return ok
	}}
}

func texts(value any) ([]string, bool) {
	items, ok := value.([]any)
	if !ok {
		return nil, false
	}
	list := make([]string, len(items))
	for i, item := range items {
		if list[i], ok = item.(string); !ok {
			return nil, false
		}
	}
	return list, true
}

// words is a key that holds a table of texts.
func words(field func(*Language) *map[string]string) profileKey {
	return profileKey{"a table of texts", func(l *Language, value any) bool {
		table, ok := value.(map[string]any)
		if !ok {
			return false
		}
		texts := make(map[string]string, len(table))
		for name, item := range table {
			if texts[name], ok = item.(string); !ok {
				return false
			}
		}
		*field(l) = texts
		return true
	}}
}

func commandLine(field func(*Language) *Command) profileKey {
	return profileKey{commandWant, func(l *Language, value any) bool {
		text, ok := value.(string)
		if !ok {
			return false
		}
		parsed, err := ParseCommand(text)
		*field(l) = parsed
		return err == nil
	}}
}

func amount(put func(*Language, Size)) profileKey {
	return profileKey{memory.want, func(l *Language, value any) bool {
		text, ok := scalarText(value)
		if !ok {
			return false
		}
		size, err := ParseSize(text)
		put(l, size)
		return err == nil && size >= 0
	}}
}

func putAlternatives(l *Language, value any) bool {
	lines, ok := texts(value)
	if line, one := value.(string); one {
		lines, ok = []string{line}, true
	}
	commands := make([]Command, len(lines))
	for i, line := range lines {
		var err error
		if commands[i], err = ParseCommand(line); err != nil {
			return false
		}
	}
	l.Server.Commands = commands
	return ok
}

// putInitializationOptions keeps the options as the JSON that goes to the server.
func putInitializationOptions(l *Language, value any) bool {
	raw, err := json.Marshal(value)
	l.Server.InitializationOptions = raw
	return err == nil
}

func putSettings(l *Language, value any) bool {
	table, ok := value.(map[string]any)
	l.Server.Settings = table
	return ok
}

func putSerial(l *Language, value any) bool {
	serial, ok := value.(bool)
	l.Server.Serial = serial
	return ok
}
