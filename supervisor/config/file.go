package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/seed-f6977891/hearth/messages"
)

// fileValues is the config file without its language profiles: plain values by
// dotted key.
type fileValues struct {
	path   string
	values map[string]any
}

// readFile reads the config file, if there is one, and lays its profiles over the
// built-in ones. With an error it gives the values that could be read all the same.
func (src Sources) readFile(c *Config, from Origins) (fileValues, error) {
	path, named := src.filePath()
	if path == "" {
		return fileValues{}, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && named == "" {
		return fileValues{}, nil
	}
	if err != nil {
		if named == "" {
			named = "config file"
		}
		return fileValues{}, &messages.ConfigError{Setting: named, Value: path, Want: "a file that can be read: " + err.Error()}
	}
	var tree map[string]any
	if _, err := toml.Decode(string(text), &tree); err != nil {
		return fileValues{}, &messages.ConfigError{Setting: "config file", Value: path, Want: "TOML: " + err.Error()}
	}
	languages := tree["languages"]
	delete(tree, "languages")
	file := fileValues{path: path, values: map[string]any{}}
	flatten(tree, "", file.values)
	if err := c.overlayLanguages(languages, path, from); err != nil {
		return file, err
	}
	return file, unknown(file.values, path)
}

// flatten gives each value that isn't a table its dotted key. An empty table says
// nothing, but its name is checked all the same.
func flatten(tree map[string]any, prefix string, values map[string]any) {
	for key, value := range tree {
		table, ok := value.(map[string]any)
		if ok && (len(table) > 0 || isSection(prefix+key)) {
			flatten(table, prefix+key+".", values)
			continue
		}
		values[prefix+key] = value
	}
}

// isSection tells whether settings' keys begin with the name.
func isSection(name string) bool {
	return slices.ContainsFunc(settings, func(s setting) bool { return strings.HasPrefix(s.key, name+".") })
}

// scalarText writes a TOML value as it would be given in an environment variable, and
// tells whether it is one that a setting could have: text or a number.
func scalarText(value any) (string, bool) {
	switch value := value.(type) {
	case string:
		return value, true
	case int64:
		return strconv.FormatInt(value, 10), true
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64), true
	}
	return fmt.Sprint(value), false
}

// overlayLanguages lays the file's [languages.NAME] tables over the profiles.
func (c *Config) overlayLanguages(value any, path string, from Origins) error {
	if value == nil {
		return nil
	}
	tables, ok := value.(map[string]any)
	if !ok {
		return &messages.ConfigError{Setting: "languages (" + path + ")", Value: fmt.Sprint(value), Want: "tables [languages.NAME]"}
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		l, known := c.Languages[name]
		if !known {
			l = newLanguage(name)
		}
		o := overlay{language: &l, key: "languages." + name, path: path, from: from}
		if err := o.table("", tables[name]); err != nil {
			return err
		}
		if _, given := from[o.key+".repl.command"]; given && !l.HasREPL() {
			return o.refuse("repl.protocol", l.REPL.Protocol, "lean or jsonl where there is a repl.command")
		}
		if _, given := from[o.key+".repl.weight"]; !given && l.REPL.Weight == 0 {
			l.REPL.Weight = defaultWeights[l.REPL.Protocol]
		}
		c.Languages[name] = l
	}
	return nil
}

// overlay lays one profile's table over a Language.
type overlay struct {
	language *Language
	key      string // languages.NAME
	path     string
	from     Origins
}

// table walks down to the keys of profileKeys.
func (o overlay) table(prefix string, value any) error {
	if field, ok := profileKeys[prefix]; ok {
		return o.field(prefix, field, value)
	}
	table, ok := value.(map[string]any)
	if !ok || prefix != "" && prefix != "lsp" && prefix != "repl" {
		return o.refuse(prefix, value, "a known key: "+strings.Join(slices.Sorted(maps.Keys(profileKeys)), ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if err := o.table(strings.TrimPrefix(prefix+"."+name, "."), table[name]); err != nil {
			return err
		}
	}
	return nil
}

func (o overlay) field(key string, field profileKey, value any) error {
	if !field.put(o.language, value) {
		return o.refuse(key, value, field.want)
	}
	o.from[o.key+"."+key] = o.path
	return nil
}

func (o overlay) refuse(key string, value any, want string) error {
	name := strings.TrimSuffix(o.key+"."+key, ".")
	return &messages.ConfigError{Setting: fmt.Sprintf("%s (%s)", name, o.path), Value: fmt.Sprint(value), Want: want}
}
