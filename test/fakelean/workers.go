package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/seed-f6977891/hearth/test/standins/journal"
	"github.com/seed-f6977891/hearth/test/standins/lsptext"
	"github.com/seed-f6977891/hearth/test/standins/lspwire"
)

// worked is a worker as the watchdog sees it.
type worked struct {
	cmd     *exec.Cmd
	in      *lspwire.Writer
	pending map[string]json.RawMessage // requests that it has not answered
	told    bool                       // it was told to exit: its end is no crash
	ended   chan struct{}
}

const codeHeaderChanged = 2 // a worker's exit code

// startWorker starts a worker for the present text of f, in a session of its own. The caller holds the lock.
func (w *watchdog) startWorker(f *openFile) {
	w.progress(f, 1)
	cmd := tool("lean", "--worker", "-DstderrAsMessages=false", f.uri)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		w.process.Misused(err)
	}
	// A pipe of our own: os/exec would close its reading end as soon as the worker is waited for, with what is in it.
	out, theirs, err := os.Pipe()
	if err != nil {
		w.process.Misused(err)
	}
	cmd.Stdout = theirs
	if err := start(w.process, "worker", cmd); err != nil {
		w.process.Misused(err)
	}
	_ = theirs.Close()
	wk := &worked{cmd: cmd, in: lspwire.NewWriter(in), pending: map[string]json.RawMessage{}, ended: make(chan struct{})}
	f.worker = wk
	_ = wk.in.Request(0, "initialize", w.init)
	_ = wk.in.Notify("textDocument/didOpen", map[string]any{
		"textDocument":        map[string]any{"uri": f.uri, "languageId": "lean", "version": f.version, "text": f.text},
		"dependencyBuildMode": f.mode,
	})
	if f.mode == "once" {
		f.mode = "never"
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		w.relay(f, wk, lspwire.NewReader(out))
	}()
	go func() {
		defer close(wk.ended)
		code := code(cmd.Wait())
		w.killGroup(wk)
		// What the worker said last is read, but not for ever: something that it started may hold the pipe open.
		_ = out.SetReadDeadline(time.Now().Add(time.Second))
		<-read
		_ = out.Close()
		w.workerEnded(f, wk, code)
	}()
}

// relay passes what the worker says on to the client, as long as it is the file's worker.
func (w *watchdog) relay(f *openFile, wk *worked, r *lspwire.Reader) {
	for {
		m, body, err := r.Read()
		if err != nil {
			return
		}
		w.mu.Lock()
		_, awaited := wk.pending[string(m.ID)]
		switch {
		case f.worker != wk:
		case m.Method == rawMethod:
			var raw rawParams
			_ = json.Unmarshal(m.Params, &raw)
			_ = w.out.Raw(raw.Bytes)
			w.process.Journal.Note(journal.Sent, "raw", nil)
			if raw.Last {
				w.out.Mute()
			}
		case m.Method != "":
			_ = w.out.Raw(lspwire.Frame(body))
		case awaited:
			delete(wk.pending, string(m.ID))
			_ = w.out.Raw(lspwire.Frame(body))
		}
		w.mu.Unlock()
	}
}

// workerEnded judges the end of a worker by its code.
func (w *watchdog) workerEnded(f *openFile, wk *worked, code int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.process.Journal.Note("worker ended", fmt.Sprint(code), nil)
	if wk.told || f.worker != wk {
		return
	}
	f.worker = nil
	switch code {
	case 0:
		w.failPending(wk, lspwire.ContentModified, terminatedText(f.uri))
	case codeHeaderChanged:
		w.failPending(wk, lspwire.ContentModified, terminatedText(f.uri))
		w.startWorker(f)
	case 1:
		w.failPending(wk, workerExited, crashText(f.uri, code))
		w.progress(f, 2)
	default:
		w.failPending(wk, workerCrashed, crashText(f.uri, code))
		w.progress(f, 2)
	}
}

func terminatedText(uri string) string { return "The file worker for " + uri + " has been terminated." }

func crashText(uri string, code int) string {
	if code == 1 {
		return "Server process for " + uri + " crashed, see stderr for exception."
	}
	return "Server process for " + uri + " crashed, likely due to a stack overflow or a bug."
}

// dismiss tells the file's worker to exit and answers what it still owed. The caller holds the lock.
func (w *watchdog) dismiss(f *openFile) {
	wk := f.worker
	if wk == nil {
		return
	}
	f.worker = nil
	wk.told = true
	w.failPending(wk, lspwire.ContentModified, terminatedText(f.uri))
	_ = wk.in.Notify("exit", nil)
}

func (w *watchdog) failPending(wk *worked, code int, text string) {
	for _, id := range wk.pending {
		_ = w.out.ReplyError(id, code, text)
	}
	wk.pending = map[string]json.RawMessage{}
}

// endWorkers tells all workers to exit, kills their groups and waits for them.
func (w *watchdog) endWorkers() {
	var all []*worked
	w.mu.Lock()
	for _, f := range w.files {
		if f.worker != nil {
			all = append(all, f.worker)
			w.dismiss(f)
		}
	}
	w.mu.Unlock()
	for _, wk := range all {
		w.killGroup(wk)
		<-wk.ended
	}
}

// killGroup kills all in the worker's group. Older watchdogs left what setup-file had started alone: no-group-kill.
func (w *watchdog) killGroup(wk *worked) {
	if _, leave := w.process.Flag("no-group-kill"); !leave {
		_ = syscall.Kill(-wk.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// progress says of the whole file that it is being processed (1) or that its worker is gone (2).
func (w *watchdog) progress(f *openFile, kind int) {
	_ = w.out.Notify("$/lean/fileProgress", fileProgress(f.uri, f.version, lsptext.Range{End: lsptext.End(f.text)}, kind))
}

func fileProgress(uri string, version int, r lsptext.Range, kind int) any {
	processing := []any{}
	if kind != 0 {
		processing = append(processing, map[string]any{"range": r, "kind": kind})
	}
	return map[string]any{
		"textDocument": map[string]any{"uri": uri, "version": version}, "processing": processing,
	}
}
