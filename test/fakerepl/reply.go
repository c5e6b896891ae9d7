package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/leanjson"
	"github.com/seed-f6977891/hearth/test/standins/lspwire"
)

var (
	surrogate  = regexp.MustCompile(`(?i)\\ud[89a-f][0-9a-f]{2}`)
	marker     = regexp.MustCompile(`marker (\S+)`)
	headerLine = regexp.MustCompile(`^\s*(import\s.*|--.*)?$`)
)

// byDefault answers as the program's doc says.
func (r *repl) byDefault(c command) {
	if bytes, found := r.recall(c); found {
		r.write(bytes, nil)
		return
	}
	switch {
	case surrogate.MatchString(c.query):
		r.refuse("The request holds a surrogate escape.")
	case c.env != nil && (*c.env < 0 || *c.env >= r.envs):
		r.refuse("Unknown environment.")
	case r.script.Protocol == "lean" && isHeader(c.code):
		r.reply(map[string]int{"env": r.nextEnv()}, nil)
	default:
		env := r.nextEnv()
		r.say(env, r.identify(env, c), nil)
	}
}

func isHeader(code string) bool {
	for line := range strings.Lines(code) {
		if !headerLine.MatchString(strings.TrimSpace(line)) {
			return false
		}
	}
	return strings.Contains(code, "import ")
}

// identify says which process in which state was asked for what.
func (r *repl) identify(env int, c command) string {
	text := fmt.Sprintf("generation %d env %d pid %d sha256 %s", r.generation, env, os.Getpid(), digest(c.code))
	for _, m := range marker.FindAllStringSubmatch(c.code, -1) {
		text += " marker " + m[1]
	}
	return text
}

func (r *repl) nextEnv() int {
	r.envs++
	return r.envs - 1
}

// say answers with one piece of text that the command put out. cut may choose where the bytes of the reply are cut.
func (r *repl) say(env int, text string, cut func([]byte) ([]byte, []int)) {
	if r.script.Protocol == "jsonl" {
		r.reply(result{OK: true, Result: text}, cut)
		return
	}
	message := map[string]any{
		"severity": "info", "pos": map[string]int{"line": 1, "column": 0}, "endPos": nil, "data": text,
	}
	r.reply(map[string]any{"env": env, "messages": []any{message}}, cut)
}

// result is a reply of the jsonl protocol.
type result struct {
	OK     bool    `json:"ok"`
	Stdout string  `json:"stdout"`
	Stderr string  `json:"stderr"`
	Result string  `json:"result"`
	Error  *string `json:"error"`
}

func (r *repl) refuse(why string) {
	if r.script.Protocol == "jsonl" {
		r.reply(result{Error: &why}, nil)
		return
	}
	r.reply(map[string]string{"message": why}, nil)
}

// reply writes a value in the protocol's framing.
func (r *repl) reply(value any, cut func([]byte) ([]byte, []int)) {
	text, err := lspwire.Marshal(value)
	if err != nil {
		r.process.Misused(err)
	}
	frame := append(bytes.Clone(text), '\n')
	if r.script.Protocol == "lean" {
		laidOut, err := leanjson.Layout(text)
		if err != nil {
			r.process.Misused(err)
		}
		frame = []byte(laidOut + "\n\n")
	}
	var cuts []int
	if cut != nil {
		frame, cuts = cut(frame)
	}
	r.write(frame, cuts)
}

// write writes p, cut at the places given or drawn. The pauses make it likely, not certain, that the reader sees the
// pieces apart.
func (r *repl) write(p []byte, cuts []int) {
	if r.random != nil && len(p) > 1 {
		for range 1 + r.random.IntN(6) {
			cuts = append(cuts, 1+r.random.IntN(len(p)-1))
		}
		slices.Sort(cuts)
	}
	r.process.Journal.Note(journal.Sent, fmt.Sprintf("%d bytes", len(p)), nil)
	from := 0
	for _, cut := range append(cuts, len(p)) {
		if from > 0 {
			time.Sleep(500 * time.Microsecond)
		}
		_, _ = os.Stdout.Write(p[from:cut])
		from = cut
	}
}

// cutInCharacter cuts a reply inside its first character of several bytes.
func cutInCharacter(frame []byte) ([]byte, []int) {
	for i, b := range frame {
		if b >= 0x80 {
			return frame, []int{i + 1}
		}
	}
	return frame, nil
}

// escapeAndCut writes all characters beyond ASCII as escapes, those beyond the BMP as pairs, and cuts inside the first.
func escapeAndCut(frame []byte) ([]byte, []int) {
	var b strings.Builder
	for _, c := range string(frame) {
		switch {
		case c < 0x80:
			b.WriteRune(c)
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	text := b.String()
	if i := strings.Index(text, `\u`); i >= 0 {
		return []byte(text), []int{i + 3}
	}
	return []byte(text), nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
