package config

import (
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// rule is what a setting's value may be: how it is read, written and checked, and
// the words for it in an error.
type rule[T any] struct {
	want   string
	parse  func(string) (T, error)
	format func(T) string
	ok     func(T) bool
}

// count reads whole numbers from least up.
func count(least int) rule[int] {
	return rule[int]{
		want:   fmt.Sprintf("a whole number, at least %d", least),
		parse:  strconv.Atoi,
		format: strconv.Itoa,
		ok:     func(n int) bool { return n >= least },
	}
}

// spanMost is every setting's limit: the sum of a few such durations fits into a
// time.Duration, and that of two of its own longest doesn't.
const spanMost = 10 * 365 * 24 * time.Hour

// span reads durations. Those that time something out have to be positive; where
// zero has a meaning of its own it is named.
func span(zero string) rule[time.Duration] {
	r := rule[time.Duration]{
		want:   "a duration over 0 such as 90s or 30m, or a number of seconds",
		parse:  ParseDuration,
		format: FormatDuration,
		ok:     func(d time.Duration) bool { return d > 0 && d <= spanMost },
	}
	if zero != "" {
		r.want = "a duration such as 90s or 30m, or a number of seconds; 0 = " + zero
		r.ok = func(d time.Duration) bool { return d >= 0 && d <= spanMost }
	}
	r.want += "; at most " + FormatDuration(spanMost)
	return r
}

var memory = rule[Size]{
	want:   "a size such as 16GiB or 512MiB, or a number of bytes; 0 = none",
	parse:  ParseSize,
	format: Size.String,
	ok:     func(s Size) bool { return s >= 0 },
}

var ratio = rule[float64]{
	want:   "a number from 0 to 1; 0 = never",
	parse:  func(text string) (float64, error) { return strconv.ParseFloat(text, 64) },
	format: func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) },
	ok:     func(f float64) bool { return f >= 0 && f <= 1 }, // false for NaN
}

var mode = rule[Mode]{
	want:   `"fresh" (a child for each call) or "resident" (a child for many calls)`,
	parse:  func(text string) (Mode, error) { return Mode(text), nil },
	format: func(m Mode) string { return string(m) },
	ok:     func(m Mode) bool { return m == Fresh || m == Resident },
}

// levels also holds the names of the predecessor, which were Python's.
var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	"warning": slog.LevelWarn, "critical": slog.LevelError,
}

var level = rule[slog.Level]{
	want: "debug, info, warn or error",
	parse: func(text string) (slog.Level, error) {
		found, ok := levels[strings.ToLower(text)]
		if !ok {
			return 0, fmt.Errorf("unknown level %q", text)
		}
		return found, nil
	},
	format: func(l slog.Level) string { return strings.ToLower(l.String()) },
	ok:     func(slog.Level) bool { return true },
}

// command reads a command line into its words.
var command = rule[Command]{
	want:   commandWant,
	parse:  ParseCommand,
	format: Command.String,
	ok:     Command.valid,
}

// alternatives reads one command line; the config file may give several.
var alternatives = rule[[]Command]{
	want: commandWant,
	parse: func(text string) ([]Command, error) {
		c, err := ParseCommand(text)
		return []Command{c}, err
	},
	format: func(list []Command) string {
		lines := make([]string, len(list))
		for i, c := range list {
			lines[i] = c.String()
		}
		return strings.Join(lines, ", else ")
	},
	ok: func(list []Command) bool {
		return len(list) > 0 && !slices.ContainsFunc(list, func(c Command) bool { return !c.valid() })
	},
}

// directory is empty for the default place. That its sockets' names fit is checked by
// Validate, whose error gives the length.
var directory = rule[string]{
	want:   "an absolute path",
	parse:  ExpandHome,
	format: func(path string) string { return path },
	ok:     func(path string) bool { return path == "" || filepath.IsAbs(path) },
}

// ParseDuration reads Go's form ("90s", "1h30m") or a bare number of seconds.
func ParseDuration(text string) (time.Duration, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	return parseSeconds(text)
}

// parseSeconds reads a bare number of seconds.
func parseSeconds(text string) (time.Duration, error) {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration", text)
	}
	nanoseconds := number * float64(time.Second)
	// The comparison is false for NaN. MaxInt64 as a float rounds up to 2^63, which
	// no longer fits, so the bound itself is out.
	if !(math.Abs(nanoseconds) < math.MaxInt64) {
		return 0, fmt.Errorf("%q is out of range", text)
	}
	return time.Duration(nanoseconds), nil
}

// FormatDuration writes a duration without the zero units of Duration.String: "30m"
// where that says "30m0s".
func FormatDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
