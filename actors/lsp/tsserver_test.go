package lsp

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const typescript = `{"capabilities":{"textDocumentSync":1,"executeCommandProvider":{"commands":["other","typescript.tsserverRequest"]}}}`

// checks answers the checks of TypeScript's server by their names.
func (a *asking) checks(answers map[string]string) (asked *[]string) {
	asked = new([]string)
	a.w.on[executeCommand] = func(_ context.Context, params json.RawMessage) (any, error) {
		var p struct {
			Command   string
			Arguments []json.RawMessage
		}
		require.NoError(a, json.Unmarshal(params, &p))
		assert.Equal(a, tsserverRequest, p.Command)
		assert.JSONEq(a, `{"file":"file:///p/a"}`, string(p.Arguments[1]))
		var check string
		require.NoError(a, json.Unmarshal(p.Arguments[0], &check))
		*asked = append(*asked, check)
		if answer, some := answers[check]; some {
			return json.RawMessage(answer), nil
		}
		return json.RawMessage(`{"type":"response","body":[]}`), nil
	}
	return asked
}

func TestTypeScriptsServerIsAskedInsteadOfWaitedFor(t *testing.T) {
	ask(t, CompleteQuiet, typescript, func(a *asking) {
		asked := a.checks(map[string]string{"semanticDiagnosticsSync": `{"type":"response","body":[
			{"start":{"line":3,"offset":5},"end":{"line":3,"offset":6},"text":"wrong","code":2322,"category":"error"}]}`,
			"suggestionDiagnosticsSync": `{"type":"response","body":[
			{"start":{"line":1,"offset":1},"end":{"line":1,"offset":2},"text":"unused","code":6133,"category":"suggestion","source":"lint"}]}`})
		a.w.publish(aPath, 0, `[]`)
		found, err := a.diagnose()
		require.NoError(t, err)
		assert.Equal(t, []Diagnostic{
			{Range: Range{Start: Position{Line: 2, Character: 4}, End: Position{Line: 2, Character: 5}}, Severity: 1,
				Message: "wrong", Code: "2322", Source: "typescript"},
			{Range: Range{End: Position{Character: 1}}, Severity: 4, Message: "unused", Code: "6133", Source: "lint"},
		}, found.Diagnostics)
		assert.Equal(t, tsserverChecks, *asked)
		assert.Equal(t, a.start, time.Now(), "no quiet time")
	})
}

func TestCheckThatTypeScriptsServerCalledOffIsRepeated(t *testing.T) {
	ask(t, CompleteQuiet, typescript, func(a *asking) {
		a.checks(nil)
		answer := a.w.on[executeCommand]
		a.w.on[executeCommand] = func(ctx context.Context, params json.RawMessage) (any, error) {
			if time.Since(a.start) < 2*firstPause {
				return json.RawMessage(`{"type":"noServer"}`), nil
			}
			return answer(ctx, params)
		}
		a.expect(3 * firstPause)
	})
	ask(t, CompleteQuiet, typescript, func(a *asking) {
		a.checks(map[string]string{"syntacticDiagnosticsSync": `{"type":"cancelled"}`})
		a.expectUnfinished(false)
	})
}

func TestAnswerOfTypeScriptsServerIsTakenOnlyWhole(t *testing.T) {
	for _, bad := range []string{`[]`, `{"type":"response"}`, `{"type":"response","body":{}}`, `{"type":"response","body":[7]}`} {
		ask(t, CompleteQuiet, typescript, func(a *asking) {
			a.checks(map[string]string{"semanticDiagnosticsSync": bad})
			_, err := a.diagnose()
			var malformed *MalformedError
			assert.ErrorAs(t, err, &malformed, bad)
		})
	}
	ask(t, CompleteQuiet, typescript, func(a *asking) { // one that refuses the command publishes
		a.w.refuse(executeCommand, codeMethodNotFound, `null`)
		a.w.publish(aPath, 0, `[]`)
		a.expect(quiet)
	})
}
