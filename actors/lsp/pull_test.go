package lsp

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPullIsUsedWhereItIsOffered(t *testing.T) {
	ask(t, CompleteQuiet, pulling, func(a *asking) {
		a.w.take()
		a.w.answer(pullMethod, json.RawMessage(`{"kind":"full","resultId":"r1","items":`+finding("one")+`}`))
		a.expect(0, "one")
		a.w.answer(pullMethod, json.RawMessage(`{"kind":"unchanged","resultId":"r1"}`))
		a.expect(0, "one")
		a.sync(PlanChange, aPath, 2)
		a.w.answer(pullMethod, json.RawMessage(`{"kind":"","items":[]}`))
		a.expect(0)
		asked := a.w.take()
		assert.JSONEq(a, `{"textDocument":{"uri":"file:///p/a"},"identifier":"id"}`, asked[0].params)
		assert.JSONEq(a, `{"textDocument":{"uri":"file:///p/a"},"identifier":"id","previousResultId":"r1"}`, asked[1].params)
		assert.JSONEq(a, `{"textDocument":{"uri":"file:///p/a"},"identifier":"id","previousResultId":"r1"}`, asked[3].params)
	})
}

// TestWhatIsUnchangedIsPlacedInTheTextOfNow: the server counts in its own units, in
// which a finding may stay where it was while another text stands before it.
func TestWhatIsUnchangedIsPlacedInTheTextOfNow(t *testing.T) {
	ask(t, CompleteQuiet, `{"capabilities":{"positionEncoding":"utf-32","diagnosticProvider":{}}}`, func(a *asking) {
		for _, row := range []struct {
			text, report string
			want         int
		}{
			{"ab", `{"kind":"full","resultId":"r1","items":[{"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":2}},"message":"x"}]}`, 1},
			{"𝕏b", `{"kind":"unchanged","resultId":"r1"}`, 2},
		} {
			a.w.answer(pullMethod, json.RawMessage(row.report))
			found, err := a.Diagnostics(a.Context(), Source{Path: aPath, Text: []byte(row.text)})
			require.NoError(a, err)
			assert.Equal(a, row.want, found.Diagnostics[0].Range.Start.Character)
		}
	})
}

func TestPullBeginsWhenItIsRegistered(t *testing.T) {
	ask(t, CompleteQuiet, pushing, func(a *asking) {
		a.w.answer(pullMethod, json.RawMessage(`{"kind":"full","items":`+finding("x")+`}`))
		a.at(500*time.Millisecond, func() { a.w.tell(Registered{ID: "1", Method: pullMethod}) })
		a.expect(500*time.Millisecond, "x")
		a.w.tell(Unregistered{ID: "1", Method: pullMethod})
		a.w.publish(aPath, 0, finding("y"))
		a.expect(time.Second, "y")
	})
}

func TestAPullThatIsCancelledByTheServerIsRepeated(t *testing.T) {
	for _, code := range []int{codeServerCancelled, codeContentModified} {
		ask(t, CompleteQuiet, pulling, func(a *asking) {
			n := 0
			a.w.on[pullMethod] = func(context.Context, json.RawMessage) (any, error) {
				if n++; n < 4 {
					return nil, &ResponseError{Code: code}
				}
				return json.RawMessage(`{"kind":"full","items":[]}`), nil
			}
			a.expect((50 + 100 + 200) * time.Millisecond)
		})
	}
	ask(t, CompleteQuiet, pulling, func(a *asking) {
		a.w.refuse(pullMethod, codeServerCancelled, `{"retriggerRequest":true}`)
		a.expectUnfinished(false)
	})
}

func TestAPullOfTheWrongShapeIsAProtocolError(t *testing.T) {
	for _, result := range []string{`null`, `[]`, `{"kind":"unchanged"}`, `{"kind":"full"}`, `{"kind":"full","items":{}}`} {
		ask(t, CompleteQuiet, pulling, func(a *asking) {
			a.w.answer(pullMethod, json.RawMessage(result))
			_, err := a.diagnose()
			var malformed *MalformedError
			assert.ErrorAs(a, err, &malformed, result)
		})
	}
}

func TestAPullThatIsNotKnownFallsThrough(t *testing.T) {
	ask(t, CompleteQuiet, pulling, func(a *asking) {
		a.w.publish(aPath, 0, finding("pushed"))
		a.expect(time.Second, "pushed")
	})
}

func TestRangesComeInUTF16WhateverTheServerCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, w := newClient(t, Profile{Encoding: UTF32}, pulling)
		w.answer(pullMethod, json.RawMessage(`{"kind":"full","items":[{"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":2}},"message":"m"}]}`))
		_, err := c.Sync(t.Context(), Plan{Kind: PlanOpen, Path: aPath, Version: 1}, []byte("𝕏𝕏"))
		require.NoError(t, err)
		found, err := c.Diagnostics(t.Context(), Source{Path: aPath, Text: []byte("𝕏𝕏")})
		require.NoError(t, err)
		assert.Equal(t, Range{Start: Position{Character: 2}, End: Position{Character: 4}}, found.Diagnostics[0].Range)
	})
}
