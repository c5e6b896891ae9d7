package lsp

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// mostRepeats is how often a call is begun anew at most. Other callers' changes of one
// text are seconds apart; a server that refuses more often has another reason.
const mostRepeats = 5

// staleError is an answer of Lean's that is none: the worker of the file would have to
// be started anew. Editors ask their user; a runtime has nobody to ask.
type staleError struct{ version int32 }

func (e *staleError) Error() string {
	return fmt.Sprintf("the imports of version %d are out of date", e.version)
}

// staleImports tells whether Lean left the imports of a text as they were built before:
// an error where they must be built first, an information where one was changed since.
func (f Findings) staleImports() bool {
	for _, d := range f.Diagnostics {
		if strings.HasPrefix(d.Message, "Imports are out of date") {
			return true
		}
	}
	return false
}

// beginsAnew tells whether a call that came back with err is to be asked again, and how
// it then claims its document.
func (c *call) beginsAnew(err error) (Claim, bool) {
	claim := c.claim
	var stale *staleError
	var answer *ResponseError
	switch {
	case c.repeats == mostRepeats, c.claim.Path == "", c.ctx.Err() != nil:
		return claim, false
	case errors.As(err, &stale):
		claim.Reopen = stale.version
		return claim, true
	case errors.As(err, &answer):
		// Another call's newer text, or its restart of Lean's worker, ended the request.
		return claim, answer.Code == codeContentModified || answer.Code == codeServerCancelled
	}
	return claim, false
}

// noteCrash has a file opened anew for the next call when Lean's worker of it is gone,
// since Lean starts another one only for a new text. Whose request was under way is told
// so; what is asked after that is never answered, and all that was said is that Lean has
// given up the file.
func (s *Session) noteCrash(c *call, err error) {
	var answer *ResponseError
	gone := false
	switch {
	case s.cfg.Profile.Complete != CompleteLean, c.claim.Path == "":
	case errors.As(err, &answer):
		gone = answer.Code == codeWorkerExited || answer.Code == codeWorkerCrashed
	case c.ctx.Err() != nil && !c.cancelled():
		gone = s.client.GaveUp(PathToURI(c.claim.Path))
	}
	if gone {
		s.docs.Crashed(c.claim.Path, c.plan.Version)
	}
}

// beginAnew sends a call back to its place in the queue. Its file is read once more.
func (s *Session) beginAnew(c *call, claim Claim) {
	s.closeDocuments(s.docs.Leave(c.id, c.claim.Path, time.Now()))
	c.repeats++
	c.claim = claim
	s.requeue(c)
	s.next()
}
