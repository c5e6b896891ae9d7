package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"

	"github.com/seed-f6977891/hearth/test/standins/leanjson"
)

// exchange is one recorded request with the bytes of its reply.
type exchange struct {
	request map[string]any
	reply   []byte
	used    bool
}

// load reads a recorded dialogue: NAME.in holds the requests as they were written, NAME.expected.out the replies.
func load(name string) ([]exchange, error) {
	requests, err := os.ReadFile(name + ".in")
	if err != nil {
		return nil, err
	}
	replies, err := os.ReadFile(name + ".expected.out")
	if err != nil {
		return nil, err
	}
	var recorded []exchange
	in := bufio.NewReader(bytes.NewReader(requests))
	for query := leanjson.ReadQuery(in); query != ""; query = leanjson.ReadQuery(in) {
		if strings.TrimSpace(query) == "" {
			continue // some recorded files have a blank line too many at their end
		}
		x := exchange{}
		if err := json.Unmarshal([]byte(query), &x.request); err != nil {
			return nil, err
		}
		reply, rest, _ := bytes.Cut(replies, []byte("\n\n"))
		x.reply, replies = append(bytes.Clone(reply), "\n\n"...), rest
		recorded = append(recorded, x)
	}
	return recorded, nil
}

// recall returns the recorded reply to a request that is the same, or has the same code: a client may choose another
// env. A request that occurs more than once gets its replies in turn.
func (r *repl) recall(c command) ([]byte, bool) {
	var request map[string]any
	if json.Unmarshal([]byte(c.query), &request) != nil {
		return nil, false
	}
	same := []func(*exchange) bool{
		func(x *exchange) bool { return !x.used && reflect.DeepEqual(x.request, request) },
		func(x *exchange) bool { return !x.used && c.code != "" && x.request["cmd"] == c.code },
		func(x *exchange) bool { return reflect.DeepEqual(x.request, request) },
		func(x *exchange) bool { return c.code != "" && x.request["cmd"] == c.code },
	}
	for _, is := range same {
		for i := range r.recorded {
			if is(&r.recorded[i]) {
				r.recorded[i].used = true
				return r.recorded[i].reply, true
			}
		}
	}
	return nil, false
}
