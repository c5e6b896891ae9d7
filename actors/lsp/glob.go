package lsp

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
)

// ChangeType is LSP's FileChangeType.
type ChangeType int

// What happened to a file.
const (
	FileCreated ChangeType = 1
	FileChanged ChangeType = 2
	FileDeleted ChangeType = 3
)

// FileChange is one file that changed on disk.
type FileChange struct {
	Path string
	Type ChangeType
}

// Pattern is what a server wants to hear of: files that match a glob of LSP 3.17, and
// the kinds of change.
type Pattern struct {
	base  string         // what a relative glob starts at; empty: the project's root
	match *regexp.Regexp // of the path below base, or of the whole path
	whole bool
	kinds int // 1 created, 2 changed, 4 deleted
}

const allKinds = 7

// watchedFiles is the method of registrations that ask to hear of changed files.
const watchedFiles = "workspace/didChangeWatchedFiles"

// WatchPatterns are the patterns of all current registrations for watchedFiles; none: the
// server doesn't want to be told.
func (c *Client) WatchPatterns() []Pattern {
	var patterns []Pattern
	for _, r := range c.Registrations(watchedFiles) {
		patterns = append(patterns, r.patterns...)
	}
	return patterns
}

// watches reads the patterns of a registration, which takes too long for each change.
func (r Registered) watches() []Pattern {
	var options struct {
		Watchers []struct {
			Glob json.RawMessage `json:"globPattern"`
			Kind int             `json:"kind"`
		} `json:"watchers"`
	}
	if r.Method != watchedFiles || json.Unmarshal(r.Options, &options) != nil {
		return nil
	}
	var patterns []Pattern
	for _, watcher := range options.Watchers {
		if p, ok := parsePattern(watcher.Glob, watcher.Kind); ok {
			patterns = append(patterns, p)
		}
	}
	return patterns
}

// SourcePatterns are the profile's, for a server without a registration.
func (c *Client) SourcePatterns() []Pattern {
	var patterns []Pattern
	for _, glob := range c.profile.Sources {
		if p, ok := newPattern("", glob, allKinds); ok {
			patterns = append(patterns, p)
		}
	}
	return patterns
}

// parsePattern reads a glob, or a RelativePattern whose base is a URI or a folder.
func parsePattern(raw json.RawMessage, kinds int) (Pattern, bool) {
	if kinds == 0 {
		kinds = allKinds
	}
	var glob string
	if json.Unmarshal(raw, &glob) == nil {
		return newPattern("", glob, kinds)
	}
	var relative struct {
		Base    json.RawMessage `json:"baseUri"`
		Pattern string          `json:"pattern"`
	}
	if json.Unmarshal(raw, &relative) != nil {
		return Pattern{}, false
	}
	var uri string
	if json.Unmarshal(relative.Base, &uri) != nil {
		var folder Folder
		if json.Unmarshal(relative.Base, &folder) != nil {
			return Pattern{}, false
		}
		uri = folder.URI
	}
	base, ok := URIToPath(uri)
	if !ok {
		return Pattern{}, false
	}
	return newPattern(base, relative.Pattern, kinds)
}

func newPattern(base, glob string, kinds int) (Pattern, bool) {
	match, err := regexp.Compile("^" + globExpression(glob) + "$")
	if err != nil {
		return Pattern{}, false
	}
	return Pattern{base: base, match: match, whole: strings.HasPrefix(glob, "/"), kinds: kinds}, true
}

// globExpression turns a glob into a regular expression: * and ? stay within a
// segment, ** takes any number of them, {a,b} is either, [a-z] and [!a-z] are ranges.
func globExpression(glob string) string {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(glob); i++ {
		switch rest := glob[i:]; {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			i++
		case rest[0] == '*':
			b.WriteString("[^/]*")
		case rest[0] == '?':
			b.WriteString("[^/]")
		case rest[0] == '{':
			b.WriteString("(?:")
			depth++
		case rest[0] == '}' && depth > 0:
			b.WriteString(")")
			depth--
		case rest[0] == ',' && depth > 0:
			b.WriteString("|")
		case rest[0] == '[':
			class, length := globClass(rest)
			b.WriteString(class)
			i += length - 1
		default:
			b.WriteString(regexp.QuoteMeta(rest[:1]))
		}
	}
	return b.String()
}

// globClass turns a leading [...] into a class and returns how long it was.
func globClass(glob string) (class string, length int) {
	end := strings.IndexByte(glob, ']')
	if end < 0 {
		return `\[`, 1
	}
	inner := glob[1:end]
	if negated, found := strings.CutPrefix(inner, "!"); found {
		inner = "^" + negated
	}
	return "[" + strings.ReplaceAll(inner, `\`, `\\`) + "]", end + 1
}

// wants reports whether the pattern asks for this change below root.
func (p *Pattern) wants(root string, change FileChange) bool {
	if p.kinds&(1<<(change.Type-1)) == 0 {
		return false
	}
	if p.whole {
		return p.match.MatchString(change.Path)
	}
	base := p.base
	if base == "" {
		base = root
	}
	rel, err := filepath.Rel(base, change.Path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return false
	}
	return p.match.MatchString(filepath.ToSlash(rel))
}
