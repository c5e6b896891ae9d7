package repl

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/messages"
)

func TestWarmupLoadsTheImportsAndProvesThem(t *testing.T) {
	for name, c := range map[string]struct {
		imports  []string
		requests []string
	}{
		"imports": {[]string{"Mathlib", "Aesop"}, []string{
			`{"cmd":"import Mathlib\nimport Aesop"}`, `{"cmd":"#check Nat","env":7}`, `{"cmd":"x","env":7}`, `{"cmd":"y"}`}},
		"none": {nil, []string{`{"cmd":"#check Nat"}`, `{"cmd":"x","env":7}`, `{"cmd":"y"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStandin(t)
			var seen []string
			s.answer(func(request string) string {
				seen = append(seen, request)
				if len(seen) == 1 {
					return "{\"env\": 7}\n\n"
				}
				return "{\"env\": 8}\n\n"
			})
			lean := NewLean(c.imports)
			require.NoError(t, lean.Warmup(t.Context(), s.client))
			_, err := lean.Run(t.Context(), s.client, Request{Code: "x", Header: messages.Header{Warm: true}})
			require.NoError(t, err)
			_, err = lean.Run(t.Context(), s.client, Request{Code: "y"})
			require.NoError(t, err)
			assert.Equal(t, c.requests, seen)
		})
	}
}

func TestAWarmupThatFailsSaysWhy(t *testing.T) {
	unknown := message(`"severity":"error","pos":{"line":1,"column":0},"data":"unknown module prefix 'Mathlib'\nsearch path: /x"`)
	for name, c := range map[string]struct {
		imported, checked string
		want              string
	}{
		"a missing module":     {unknown, "", "warm-up failed: unknown module prefix 'Mathlib' (imports: Mathlib)"},
		"an exception":         {"{\"message\": \"object file missing\"}\n\n", "", "warm-up failed: object file missing (imports: Mathlib)"},
		"no prelude":           {cleanReply, message(`"severity":"error","pos":{"line":1,"column":7},"data":"unknown identifier 'Nat'"`), "smoke test failed: #check Nat: unknown identifier 'Nat'; LEAN_PATH may be misconfigured"},
		"a broken smoke reply": {cleanReply, "?\n\n", "smoke test failed: #check Nat: REPL reply is not what a command gives"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStandin(t)
			s.answer(func(request string) string {
				if strings.Contains(request, "import") {
					return c.imported
				}
				return c.checked
			})
			require.ErrorContains(t, NewLean([]string{"Mathlib"}).Warmup(t.Context(), s.client), c.want)
		})
	}
}

func TestTheSmokeTestHasItsOwnDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBubbleStandin(t)
		s.answer(func(request string) string {
			if strings.Contains(request, "import") {
				time.Sleep(30 * time.Second) // importing may take long
				return cleanReply
			}
			return ""
		})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		began := time.Now()
		err := NewLean([]string{"Mathlib"}).Warmup(ctx, s.client)
		assert.Equal(t, 40*time.Second, time.Since(began))
		require.ErrorIs(t, err, errSmokeLate)
		require.EqualError(t, err, "smoke test failed: #check Nat: REPL gave no reply: no answer within 10s; LEAN_PATH may be misconfigured")
	})
}

func TestPlacesMoveDownByWhatWasCutOff(t *testing.T) {
	s := newStandin(t)
	s.answer(func(string) string {
		return `{"env":1,"messages":[{"severity":"trace","pos":{"line":1,"column":4},"endPos":{"line":2,"column":0},"data":"d"}],
"sorries":[{"proofState":null,"goal":"g"},{"proofState":3,"goal":"h","pos":{"line":5,"column":6},"endPos":{"line":7,"column":8}}],
"tactics":[],"proofState":4}` + "\n\n"
	})
	header := messages.Header{Imports: []string{"Mathlib"}, Warm: true}
	report, err := NewLean(nil).Run(t.Context(), s.client, Request{Code: "x", Header: header, Shift: 10})
	require.NoError(t, err)
	report.Duration = 0
	place := func(line, column int) *messages.Place { return &messages.Place{Line: line, Column: column} }
	assert.Equal(t, messages.RunReport{
		Protocol: messages.ReportLean,
		Messages: []messages.Message{{Severity: "trace", Pos: place(11, 4), EndPos: place(12, 0), Data: "d"}},
		Sorries:  []messages.Sorry{{Goal: "g"}, {Goal: "h", Pos: place(15, 6), EndPos: place(17, 8)}},
		Header:   header,
	}, report)
}
