package main

import (
	"context"
	"strings"

	"github.com/seed-f6977891/hearth/test/standins/lsptext"
)

var severities = map[string]int{"error": 1, "warning": 2, "info": 3}

// current runs do under the lock unless the version of ctx is over: what belongs to an older text isn't reported.
func (w *worker) current(ctx context.Context, do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() == nil {
		do()
	}
}

// publish publishes all messages so far.
func (w *worker) publish(ctx context.Context, version int, messages []message) {
	w.current(ctx, func() { w.publishNow(version, messages) })
}

// publishEmptyOnce publishes what Lean publishes after setup-file, before it has looked at anything: an empty list that
// says nothing about the file.
func (w *worker) publishEmptyOnce(ctx context.Context, version int) {
	w.current(ctx, func() {
		if !w.emptied {
			w.emptied = true
			w.publishNow(version, nil)
		}
	})
}

func (w *worker) publishNow(version int, messages []message) {
	w.messages = messages
	if _, mute := w.process.Flag("no-publish"); mute {
		return
	}
	diagnostics := []any{}
	for _, m := range messages {
		diagnostics = append(diagnostics, w.diagnostic(m))
	}
	_ = w.out.Notify("textDocument/publishDiagnostics", map[string]any{
		"uri": w.uri, "version": version, "diagnostics": diagnostics,
	})
}

func (w *worker) diagnostic(m message) any {
	r := lsptext.Range{Start: w.position(m.Pos), End: w.position(m.Pos)}
	if m.End != nil {
		r.End = w.position(*m.End)
	}
	d := map[string]any{
		"range": r, "fullRange": r, "severity": severities[m.Severity], "source": "Lean 4", "message": m.Data,
	}
	if strings.HasPrefix(m.Data, "unsolved goals") {
		d["leanTags"] = []int{1}
	}
	return d
}

// position turns a place of Lean's (lines from 1, columns in characters) into one of LSP's (UTF-16 units).
func (w *worker) position(p place) lsptext.Position {
	lines := strings.Split(w.text, "\n")
	at := lsptext.Position{Line: p.Line - 1, Character: p.Column}
	if at.Line < 0 || at.Line >= len(lines) {
		return at
	}
	units, column := 0, 0
	for _, r := range lines[at.Line] {
		if column == p.Column {
			break
		}
		column++
		units += lsptext.Units(r)
	}
	at.Character = units
	return at
}

// report says that everything from that line on is being processed.
func (w *worker) report(ctx context.Context, version, line int) {
	w.current(ctx, func() {
		r := lsptext.Range{Start: lsptext.Position{Line: line}, End: lsptext.End(w.text)}
		_ = w.out.Notify("$/lean/fileProgress", fileProgress(w.uri, version, r, 1))
	})
}

// advance wakes requests for places above the line.
func (w *worker) advance(ctx context.Context, line int) {
	w.current(ctx, func() {
		w.done = line
		w.changed.Broadcast()
	})
}

// finish reports that nothing is being processed any more, publishes for the last time and only then lets
// waitForDiagnostics return.
func (w *worker) finish(ctx context.Context, version int, messages []message) {
	w.current(ctx, func() {
		_ = w.out.Notify("$/lean/fileProgress", fileProgress(w.uri, version, lsptext.Range{}, 0))
		w.publishNow(version, messages)
		w.finished = true
		w.changed.Broadcast()
	})
}

const staleAdvice = "Imports are out of date and %s be rebuilt; use the \"Restart File\" command in your editor."

// noteStale adds the information that an import has changed; it stays until the worker is restarted.
func (w *worker) noteStale() {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := strings.Replace(staleAdvice, "%s", "should", 1)
	for _, m := range w.messages {
		if m.Data == text {
			return
		}
	}
	w.publishNow(w.version, append(w.messages, message{Severity: "info", Pos: place{1, 0}, End: &place{1, 0}, Data: text}))
}
