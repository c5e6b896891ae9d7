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

const (
	limit   = 3 * time.Second
	aPath   = "/p/a"
	pushing = `{"capabilities":{"textDocumentSync":1,"hoverProvider":true}}`
	pulling = `{"capabilities":{"textDocumentSync":1,"diagnosticProvider":{"identifier":"id"}}}`
	leans   = `{"capabilities":{"hoverProvider":true},"serverInfo":{"name":"Lean 4 Server"}}`
)

// asking is a client in a bubble that has sent a document.
type asking struct {
	*testing.T
	*Client
	w     *scripted
	start time.Time
}

// ask runs test in a bubble in which version 1 of aPath was just sent.
func ask(t *testing.T, complete Complete, initialize string, test func(a *asking)) {
	synctest.Test(t, func(t *testing.T) {
		c, w := newClient(t, Profile{Complete: complete}, initialize)
		a := &asking{T: t, Client: c, w: w, start: time.Now()}
		a.sync(PlanOpen, aPath, 1)
		test(a)
	})
}

func (a *asking) sync(kind PlanKind, path string, version int32) {
	n, err := a.Sync(a.Context(), Plan{Kind: kind, Path: path, LanguageID: "x", Version: version}, []byte("text"))
	require.NoError(a, err)
	require.Equal(a, notifications(kind), n)
}

// at does something after a time.
func (a *asking) at(d time.Duration, do func()) { time.AfterFunc(d, do) }

// diagnose asks about aPath with the limit.
func (a *asking) diagnose() (Findings, error) {
	ctx, stop := context.WithTimeout(a.Context(), limit)
	defer stop()
	return a.Diagnostics(ctx, Source{Path: aPath})
}

// expect asks and wants these messages after exactly this time.
func (a *asking) expect(after time.Duration, messages ...string) {
	begun := time.Now()
	found, err := a.diagnose()
	require.NoError(a, err)
	assert.Equal(a, append([]string{}, messages...), messagesOf(found.Diagnostics))
	assert.Equal(a, after, time.Since(begun))
}

func (a *asking) expectUnfinished(published bool, partial ...string) *UnfinishedError {
	begun := time.Now()
	_, err := a.diagnose()
	var unfinished *UnfinishedError
	require.ErrorAs(a, err, &unfinished)
	assert.Equal(a, published, unfinished.Published)
	assert.Equal(a, append([]string{}, partial...), messagesOf(unfinished.Partial))
	assert.Equal(a, limit, time.Since(begun))
	assert.ErrorIs(a, err, context.DeadlineExceeded)
	return unfinished
}

func TestTheLastPublicationIsFinalAfterASecondOfQuiet(t *testing.T) {
	ask(t, CompleteQuiet, pushing, func(a *asking) {
		a.at(100*time.Millisecond, func() { a.w.publish(aPath, 0, `[]`) })
		a.at(700*time.Millisecond, func() { a.w.publish(aPath, 0, finding("late")) })
		a.expect(1700*time.Millisecond, "late")
	})
}

func TestAnEmptyListIsCleanOnlyAfterTheQuiet(t *testing.T) {
	ask(t, CompleteQuiet, pushing, func(a *asking) {
		a.at(100*time.Millisecond, func() { a.w.publish(aPath, 0, `[]`) })
		a.expect(1100 * time.Millisecond)
	})
}

func TestNothingPublishedIsNeverClean(t *testing.T) {
	for _, complete := range []Complete{CompleteQuiet, CompleteVersion, CompleteLean} {
		ask(t, complete, pushing, func(a *asking) {
			a.at(time.Second, func() { a.w.publish("/p/other", 0, `[]`) })
			a.at(time.Second, func() { a.w.tell(Progress{Token: "1", Title: "Loading", Text: "7 %"}) })
			e := a.expectUnfinished(false)
			assert.Equal(a, "the language server published no diagnostics for this text in time; last progress: Loading 7 %", e.Error())
		})
	}
}

func TestNoEndByTheDeadlineIsAnErrorWithWhatCame(t *testing.T) {
	ask(t, CompleteQuiet, pushing, func(a *asking) {
		for n := range 7 {
			a.at(time.Duration(n+1)*limit/8, func() { a.w.publish(aPath, 0, finding("so far")) })
		}
		e := a.expectUnfinished(true, "so far")
		assert.Equal(a, "the language server was not done with this text in time (1 diagnostics so far)", e.Error())
	})
}

func TestTheFirstPublicationOfTheVersionIsFinalWhereTheProfileSaysSo(t *testing.T) {
	ask(t, CompleteVersion, pushing, func(a *asking) {
		a.at(100*time.Millisecond, func() { a.w.publish(aPath, 1, finding("one")) })
		a.expect(100*time.Millisecond, "one")
		a.sync(PlanChange, aPath, 2)
		a.at(1*time.Millisecond, func() { a.w.publish(aPath, 0, finding("stale, without version")) })
		a.at(2*time.Millisecond, func() { a.w.publish(aPath, 1, finding("stale")) })
		a.at(50*time.Millisecond, func() { a.w.publish(aPath, 2, `[]`) })
		a.expect(50 * time.Millisecond)
	})
}

func TestAnUnchangedTextIsAnsweredFromWhatWasPublishedForIt(t *testing.T) {
	for _, complete := range []Complete{CompleteQuiet, CompleteVersion} {
		ask(t, complete, pushing, func(a *asking) {
			a.w.publish(aPath, 1, finding("one"))
			_, err := a.diagnose()
			require.NoError(a, err)
			a.expect(0, "one")
		})
	}
}

func TestAPublicationFromBeforeIsNeverRead(t *testing.T) {
	ask(t, CompleteQuiet, pushing, func(a *asking) {
		a.w.publish(aPath, 0, finding("old"))
		a.sync(PlanChange, aPath, 2)
		a.at(2*time.Second, func() { a.w.publish(aPath, 0, finding("new")) })
		ctx, stop := context.WithTimeout(a.Context(), 10*time.Second)
		defer stop()
		found, err := a.Diagnostics(ctx, Source{Path: aPath})
		require.NoError(a, err)
		assert.Equal(a, []string{"new"}, messagesOf(found.Diagnostics))
		assert.EqualValues(a, 2, found.Version)
	})
}

func TestEverySpellingOfTheURIIsTaken(t *testing.T) {
	ask(t, CompleteQuiet, pushing, func(a *asking) {
		a.w.tell(Publication{URI: "file://localhost/p/%61", Diagnostics: json.RawMessage(finding("x"))})
		a.expect(time.Second, "x")
	})
}

func TestAMalformedListIsAProtocolErrorNotClean(t *testing.T) {
	for _, raw := range []string{`null`, `{}`} {
		ask(t, CompleteQuiet, pushing, func(a *asking) {
			a.w.publish(aPath, 0, raw)
			_, err := a.diagnose()
			var malformed *MalformedError
			assert.ErrorAs(a, err, &malformed)
		})
	}
}

func TestTheEndOfTheConnectionIsToldAtOnce(t *testing.T) {
	ask(t, CompleteQuiet, pushing, func(a *asking) {
		gone := &StreamError{Reason: "gone"}
		a.at(time.Millisecond, func() { a.w.tell(Down{Err: gone}) })
		_, err := a.diagnose()
		assert.Equal(a, gone, err)
		assert.Equal(a, time.Millisecond, time.Since(a.start))
	})
}

func TestANewerTextOfAnotherCallAnswersThisOneToo(t *testing.T) {
	ask(t, CompleteVersion, pushing, func(a *asking) {
		a.at(100*time.Millisecond, func() { a.sync(PlanChange, aPath, 2) })
		a.at(200*time.Millisecond, func() { a.w.publish(aPath, 1, finding("old")) })
		a.at(300*time.Millisecond, func() { a.w.publish(aPath, 2, finding("new")) })
		a.expect(300*time.Millisecond, "new")
	})
}

func TestWhatWasPublishedBeforeAnotherFileChangedGetsTheQuietTimeAnew(t *testing.T) {
	told := []FileChange{{Path: "/p/b", Type: FileChanged}}
	ask(t, CompleteVersion, pushing, func(a *asking) {
		a.w.publish(aPath, 1, finding("before"))
		require.NoError(a, a.FilesChanged(a.Context(), told))
		a.at(300*time.Millisecond, func() { a.w.publish(aPath, 1, finding("after")) })
		a.expect(300*time.Millisecond, "after")
	})
	ask(t, CompleteVersion, pushing, func(a *asking) {
		a.w.publish(aPath, 1, finding("the same"))
		require.NoError(a, a.FilesChanged(a.Context(), told))
		a.expect(time.Second, "the same")
	})
	ask(t, CompleteVersion, pushing, func(a *asking) {
		a.w.publish(aPath, 1, finding("the same"))
		a.sync(PlanOpen, "/p/b", 1)
		a.expect(0, "the same")
		a.sync(PlanChange, "/p/b", 2)
		a.at(500*time.Millisecond, func() { a.sync(PlanChange, "/p/b", 3) }) // later than the call: not its business
		a.expect(time.Second, "the same")
	})
}

func TestLeanIsAskedForItsEnd(t *testing.T) {
	ask(t, CompleteLean, leans, func(a *asking) {
		a.w.on[leanWait] = func(context.Context, json.RawMessage) (any, error) {
			time.Sleep(2500 * time.Millisecond)
			return struct{}{}, nil
		}
		a.w.publish(aPath, 1, finding("building"))
		a.w.publish(aPath, 1, `[]`)
		a.at(2400*time.Millisecond, func() { a.w.publish(aPath, 1, finding("real")) })
		a.w.take()
		a.expect(2500*time.Millisecond, "real")
		assert.Equal(a, []sent{{leanWait, `{"uri":"file:///p/a","version":1}`}}, a.w.take())
	})
}

func TestLeanThatHangsNamesItsLastProgress(t *testing.T) {
	ask(t, CompleteLean, leans, func(a *asking) {
		a.w.on[leanWait] = func(ctx context.Context, _ json.RawMessage) (any, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		a.w.publish(aPath, 1, finding("so far"))
		a.w.tell(Progress{URI: "file:///p/a", Title: "elaborating", Text: "from line 4 of 41"})
		e := a.expectUnfinished(true, "so far")
		assert.Equal(a, "elaborating from line 4 of 41", e.Progress)
	})
}

func TestAServerThatIsNotLeansIsNotAskedLeansRequest(t *testing.T) {
	ask(t, CompleteLean, pushing, func(a *asking) {
		a.w.publish(aPath, 1, finding("x"))
		a.w.take()
		a.expect(time.Second, "x")
		assert.Empty(a, a.w.take())
		a.w.answer(leanWait, struct{}{})
		a.w.tell(Progress{URI: "file:///p/a", Done: true})
		a.expect(0, "x")
		assert.Equal(a, []string{leanWait}, a.w.methods(), "its progress shows what it is")
	})
}

func TestALeanThatRefusesItsRequestFallsThrough(t *testing.T) {
	ask(t, CompleteLean, leans, func(a *asking) {
		a.w.publish(aPath, 1, finding("x"))
		a.w.take()
		a.expect(time.Second, "x")
		a.expect(0, "x")
		assert.Equal(a, []string{leanWait}, a.w.methods(), "it is asked once")
	})
}

func TestALeanWaitThatANewTextEndedIsAskedAgain(t *testing.T) {
	ask(t, CompleteLean, leans, func(a *asking) {
		a.w.on[leanWait] = func(_ context.Context, params json.RawMessage) (any, error) {
			if string(params) == `{"uri":"file:///p/a","version":1}` {
				a.sync(PlanChange, aPath, 2)
				a.w.publish(aPath, 2, finding("new"))
				return nil, &ResponseError{Method: leanWait, Code: codeContentModified}
			}
			return struct{}{}, nil
		}
		a.expect(0, "new")
	})
	ask(t, CompleteLean, leans, func(a *asking) {
		a.w.refuse(leanWait, codeContentModified, "")
		_, err := a.diagnose()
		var answer *ResponseError
		assert.ErrorAs(a, err, &answer, "nothing new was sent: it would refuse for ever")
	})
}

func TestADocumentThatIsNotOpenHasNoDiagnostics(t *testing.T) {
	ask(t, CompleteQuiet, pushing, func(a *asking) {
		_, err := a.Diagnostics(a.Context(), Source{Path: "/p/none"})
		assert.ErrorContains(a, err, "/p/none is not open")
	})
}
