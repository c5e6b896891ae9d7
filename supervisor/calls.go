package supervisor

import (
	"context"
	"encoding/json"
	"time"

	"github.com/seed-f6977891/hearth/actors"
	"github.com/seed-f6977891/hearth/actors/lsp"
	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/supervisor/config"
)

// The values that callers give and get are those of package messages, so that
// supervisor/client takes and gives the same.
type (
	Document          = messages.Document
	Position          = messages.Position
	Snippet           = messages.Snippet
	DiagnosticsReport = messages.DiagnosticsReport
	Diagnostic        = messages.Diagnostic
	HoverReport       = messages.HoverReport
	QueryReport       = messages.QueryReport
	RunReport         = messages.RunReport
	Status            = messages.Status
	Config            = config.Config
)

// DefaultConfig is the configuration of this machine without file, environment or
// flags.
func DefaultConfig() Config { return config.Default() }

// Diagnostics gives everything the file's language server finds in it as it is on
// disk now. A list without entries means that the server looked and found nothing;
// when it did not finish in time, the error is a *TimeoutError that carries the
// last progress and what had been published so far.
func (rt *Runtime) Diagnostics(ctx context.Context, doc Document) (DiagnosticsReport, error) {
	return callLSP(ctx, rt, doc, true, func(head messages.Head, target messages.Target, reply messages.ReplyTo[DiagnosticsReport]) messages.Operation {
		return messages.Diagnostics{Head: head, Target: target, Reply: reply}
	})
}

// Hover gives what the file's language server says about a place: zero-based, in
// UTF-16 code units. A report without text means that it has nothing to say.
func (rt *Runtime) Hover(ctx context.Context, doc Document, at Position) (HoverReport, error) {
	if at.Line < 0 || at.Character < 0 {
		return HoverReport{}, errNegative
	}
	return callLSP(ctx, rt, doc, true, func(head messages.Head, target messages.Target, reply messages.ReplyTo[HoverReport]) messages.Operation {
		return messages.Hover{Head: head, Target: target, Position: at, Reply: reply}
	})
}

// Query sends one LSP request to a language server and gives the result as the server
// wrote it. It is about doc.File, or about the whole project where that is empty.
// method is LSP's, or one of QueryNames. params is an object, null or empty, whose members
// join the document's identifier and, where at is not nil, the position; what LSP
// demands beyond those and has a plain meaning may be left out (the options of a
// formatting, the range and the diagnostics of code actions, the item of a hierarchy
// where there is a position). Edits are returned, never applied. A method that the
// server does not offer gives a *ProtocolError that says so.
func (rt *Runtime) Query(ctx context.Context, doc Document, method string, at *Position, params json.RawMessage) (QueryReport, error) {
	method, err := lsp.Method(method)
	switch {
	case err != nil:
		return QueryReport{}, err
	case at != nil && doc.File == "":
		return QueryReport{}, messages.Invalidf("a position is one of a file; name the file")
	case at != nil && (at.Line < 0 || at.Character < 0):
		return QueryReport{}, errNegative
	}
	return callLSP(ctx, rt, doc, doc.File != "", func(head messages.Head, target messages.Target, reply messages.ReplyTo[QueryReport]) messages.Operation {
		return messages.Query{Head: head, Target: target, Method: method, Position: at, Params: params, Reply: reply}
	})
}

// QueryNames are the short names of requests that Query knows, such as definition.
func QueryNames() []string { return lsp.ShortNames() }

// QueryMethod is the method of LSP that Query sends for a name, or why it sends none.
func QueryMethod(name string) (string, error) { return lsp.Method(name) }

var errNegative = messages.Invalidf("line and character must be zero-based non-negative integers")

// callLSP resolves a document on the caller's goroutine and asks the cache of
// language servers.
func callLSP[T any](ctx context.Context, rt *Runtime, doc Document, needFile bool,
	operation func(messages.Head, messages.Target, messages.ReplyTo[T]) messages.Operation) (T, error) {
	return call(ctx, rt, func(ctx context.Context) (T, error) {
		var none T
		timeout, err := timeoutOf(doc.Timeout, rt.cfg.LSP.Timeout, rt.cfg.LSP.MaxTimeout)
		if err != nil {
			return none, err
		}
		found, err := config.Resolve(rt.cfg, config.Request{Project: doc.Project, File: doc.File, Language: doc.Language, NeedFile: needFile})
		if err != nil {
			return none, err
		}
		if !found.Language.HasServer() {
			return none, messages.Invalidf("no language server is configured for %s; set languages.%s.lsp.command", found.Language.Name, found.Language.Name)
		}
		reply := messages.NewReplyTo[T]()
		target := messages.Target{Path: found.File}
		if found.File != "" {
			target.LanguageID = found.Language.LanguageID(found.File)
		}
		op := operation(rt.head(ctx, messages.LSP, found, timeout), target, reply)
		return actors.Ask(ctx, rt.lsp.handle.Load(), op, reply)
	})
}

// RunCode runs code in a worker of the project's REPL pool. From the first byte
// written its outcome is unknown until a whole reply came: such an error is of
// KindOutcomeUnknown, and the code is never sent again.
func (rt *Runtime) RunCode(ctx context.Context, snippet Snippet) (RunReport, error) {
	return call(ctx, rt, func(ctx context.Context) (RunReport, error) {
		timeout, err := timeoutOf(snippet.Timeout, rt.cfg.REPL.Timeout, rt.cfg.REPL.MaxTimeout)
		if err != nil {
			return RunReport{}, err
		}
		found, err := config.Resolve(rt.cfg, config.Request{Project: snippet.Project, Language: snippet.Language, NeedREPL: true})
		if err != nil {
			return RunReport{}, err
		}
		reply := messages.NewReplyTo[RunReport]()
		op := messages.RunCode{Head: rt.head(ctx, messages.REPL, found, timeout), Code: snippet.Code, Reply: reply}
		return actors.Ask(ctx, rt.repl.handle.Load(), op, reply)
	})
}

// Status gives what runs, from what the actors published: it starts, checks,
// refreshes and waits for nothing, and keeps nothing alive.
func (rt *Runtime) Status(ctx context.Context) (Status, error) { return rt.status(ctx, "") }

// ProjectStatus is Status of one project's resources; a symlink names its project.
func (rt *Runtime) ProjectStatus(ctx context.Context, project string) (Status, error) {
	root, err := config.CanonicalRoot(project)
	if err != nil {
		return Status{}, err
	}
	return rt.status(ctx, root)
}

// status is not counted against max_operations and is answered during a shutdown
// and after a failure of the runtime, as long as its Observer lives.
func (rt *Runtime) status(ctx context.Context, root string) (Status, error) {
	reply := messages.NewReplyTo[Status]()
	op := messages.StatusQuery{Head: messages.Head{Ctx: ctx}, Project: root, Reply: reply}
	status, err := actors.Ask(ctx, rt.observer.handle.Load(), op, reply)
	switch {
	case err != nil && rt.Failed() != nil:
		err = rt.Failed()
	case err != nil && rt.observer.lost.Load():
		err = messages.Errorf(messages.KindInternal, "the observer has failed too often: there is no status any more, but everything else goes on")
	}
	return status, err
}

// call admits one operation: over max_operations it is refused before anything is
// looked at. A context without a deadline gets response_timeout.
func call[T any](ctx context.Context, rt *Runtime, run func(context.Context) (T, error)) (T, error) {
	var none T
	if err := rt.admit(); err != nil {
		return none, err
	}
	defer rt.operations.Add(-1)
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, rt.cfg.ResponseTimeout)
		defer cancel()
	}
	return run(ctx)
}

func (rt *Runtime) admit() error {
	switch {
	case rt.Failed() != nil:
		return rt.Failed()
	case rt.closed.Load():
		return messages.ErrClosed
	}
	if rt.operations.Add(1) > int64(rt.cfg.MaxOperations) {
		rt.operations.Add(-1)
		return &messages.BusyError{Reason: messages.Operations}
	}
	return nil
}

// head fills in the clocks: the wait for a resource ends early enough that the
// operation's own time still fits into response_timeout.
func (rt *Runtime) head(ctx context.Context, kind messages.ResourceKind, found config.Resolved, timeout time.Duration) messages.Head {
	return messages.Head{ID: messages.OperationID(rt.sys.NextID()),
		Key:         messages.Key{Kind: kind, Root: found.Root, Language: found.Language.Name},
		Fingerprint: found.Fingerprint, Ctx: ctx,
		AcquireBy: time.Now().Add(rt.cfg.AcquireTimeout(timeout)), Timeout: timeout}
}

// timeoutOf is the time that a call asked for, or the default where it asked for none.
func timeoutOf(asked, usual, most time.Duration) (time.Duration, error) {
	switch {
	case asked == 0:
		return usual, nil
	case asked < 0:
		return 0, messages.Invalidf("timeout must be a finite positive number or null")
	case asked > most:
		return 0, messages.Invalidf("timeout exceeds the node-wide limit of %g seconds", most.Seconds())
	}
	return asked, nil
}
