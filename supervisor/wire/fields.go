package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fields reads parameters and keeps the first thing that is wrong with them.
type fields struct {
	params Params
	err    error
}

func (f *fields) refuse(format string, args ...any) {
	if f.err == nil {
		f.err = &RequestError{CodeInvalidParams, fmt.Sprintf(format, args...)}
	}
}

// given is false for a parameter that is not there, or null.
func (f *fields) given(name string) (json.RawMessage, bool) {
	raw := f.params[name]
	return raw, len(raw) > 0 && string(raw) != "null"
}

// filled is a text that must be there and not blank.
func (f *fields) filled(name string) string {
	value, ok := text(f.params[name])
	if !ok || strings.TrimSpace(value) == "" {
		f.refuse("%s must be a non-empty string", name)
	}
	return value
}

// string is a text that must be there.
func (f *fields) string(name string) string {
	value, ok := text(f.params[name])
	if !ok {
		f.refuse("%s must be a string", name)
	}
	return value
}

func (f *fields) optional(name string) string {
	raw, given := f.given(name)
	if !given {
		return ""
	}
	value, ok := text(raw)
	if !ok {
		f.refuse("%s must be a string or null", name)
	}
	return value
}

func (f *fields) flag(name string) bool {
	raw, given := f.given(name)
	if given && string(raw) != "true" && string(raw) != "false" {
		f.refuse("%s must be true or false", name)
	}
	return string(raw) == "true"
}

// natural is an integer from 0 to what LSP's uinteger holds.
func (f *fields) natural(name string) int {
	value, err := strconv.ParseInt(string(f.params[name]), 10, 32)
	if err != nil || value < 0 {
		f.refuse("%s must be a non-negative integer", name)
	}
	return int(value)
}

// timeout has the rules and the texts of the predecessor. 0: none was given.
func (f *fields) timeout(name string, limit time.Duration) time.Duration {
	raw, given := f.given(name)
	if !given {
		return 0
	}
	seconds, err := number(raw)
	switch {
	case err != nil || seconds <= 0:
		f.refuse("%s must be a finite positive number or null", name)
		return 0
	case seconds > limit.Seconds():
		f.refuse("%s exceeds the node-wide limit of %s seconds", name, strconv.FormatFloat(limit.Seconds(), 'f', -1, 64))
		return 0
	}
	return max(1, Decimal(seconds).duration()) // 0 would mean that none was given
}

// gate is a limit of a watched build in seconds, where 0 means none.
func (f *fields) gate(name string, standard time.Duration) time.Duration {
	raw, given := f.given(name)
	if !given {
		return standard
	}
	seconds, err := number(raw)
	if err != nil || seconds < 0 || seconds > math.MaxInt64/1e9 {
		f.refuse("%s must be a finite number of seconds, 0 for no limit", name)
		return 0
	}
	return Decimal(seconds).duration()
}

// format is one of those allowed, the first where none is given.
func (f *fields) format(allowed ...Format) Format {
	value := cmp.Or(Format(f.optional("format")), allowed[0])
	if !slices.Contains(allowed, value) {
		f.refuse("format must be one of %q", allowed)
	}
	return value
}

// object is an object as it was sent, empty where none was.
func (f *fields) object(name string) json.RawMessage {
	raw, given := f.given(name)
	if !given {
		return nil
	}
	if raw[0] != '{' {
		f.refuse("%s must be an object or null", name)
	}
	return raw
}

// words is a list of texts, the first of which isn't blank.
func (f *fields) words(name string) []string {
	var raw []json.RawMessage
	err := json.Unmarshal(f.params[name], &raw)
	list := make([]string, len(raw))
	ok := err == nil && len(raw) > 0
	for i := range raw {
		var isText bool
		list[i], isText = text(raw[i])
		ok = ok && isText
	}
	if !ok || strings.TrimSpace(list[0]) == "" {
		f.refuse("%s must be a list of strings that begins with a program", name)
	}
	return list
}

// text decodes a string and nothing else; null isn't one.
func text(raw json.RawMessage) (string, bool) {
	var value string
	switch {
	case len(raw) == 0 || raw[0] != '"':
		return "", false
	case bytes.IndexByte(raw, '\\') < 0: // what has no escape stands for itself
		return string(raw[1 : len(raw)-1]), true
	}
	return value, json.Unmarshal(raw, &value) == nil
}

// number decodes a finite number and nothing else; a bool isn't one, nor is a
// number in a string.
func number(raw json.RawMessage) (float64, error) {
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(string(raw), 64)
}
