package script

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/seed-f6977891/hearth/test/standins/play"
)

// When makes a rule for a trigger of fakelsp, or for start and eof of fakerepl. It is inline if the process is to stop
// reading: otherwise one more message could slip through.
func When(trigger string, do ...Action) Rule {
	inline := slices.ContainsFunc(do, func(a Action) bool { return a.Do == "stop_reading" || a.Do == "sigstop" })
	return Rule{When: trigger, Inline: inline, Do: do}
}

// Match makes a rule of fakerepl for commands whose code matches the regular expression.
func Match(expression string, do ...Action) Rule { return Rule{Match: expression, Do: do} }

// Default does what would be done without the rule.
func Default() Action { return Action{Do: "default"} }

// Delay waits.
func Delay(d time.Duration) Action { return Action{Do: "delay", For: d.String()} }

// AwaitFile waits until a file is there.
func AwaitFile(path string) Action { return Action{Do: "await_file", Path: path} }

// Reply answers the message that fired the rule. In strings the placeholders of fakelsp's doc are filled in. fakerepl
// writes the value in Lean's layout (one line in the jsonl protocol).
func Reply(result any) Action { return Action{Do: "reply", Value: raw(result)} }

// ReplyError answers by a JSON-RPC error.
func ReplyError(code int, text string) Action { return Action{Do: "error", Code: code, Text: text} }

// Publish publishes diagnostics for the document that the message names, at its present version.
func Publish(diagnostics any) Action { return Action{Do: "publish", Value: raw(diagnostics)} }

// PublishAs publishes with params that are written in full.
func PublishAs(params any) Action { return Notify("textDocument/publishDiagnostics", params) }

// Notify sends a notification.
func Notify(method string, params any) Action {
	return Action{Do: "notify", Method: method, Value: raw(params)}
}

// Ask sends a request of the server's own under that id (a number or a string) and goes on at once.
func Ask(id any, method string, params any) Action {
	return Action{Do: "request", ID: raw(id), Method: method, Value: raw(params)}
}

// AskAndWait sends such a request and waits for its answer.
func AskAndWait(id any, method string, params any) Action {
	a := Ask(id, method, params)
	a.Await = true
	return a
}

// AwaitAnswer waits until the request that was sent under id by any rule has its answer.
func AwaitAnswer(id any) Action { return Action{Do: "await", ID: raw(id)} }

// Raw writes bytes to standard output; with cuts in pieces that end at those offsets, a moment apart.
func Raw(text string, cuts ...int) Action { return Action{Do: "raw", Raw: []byte(text), Cuts: cuts} }

// Stderr writes n bytes to standard error in a form of package play.
func Stderr(n int, form string) Action { return Action{Do: "stderr", N: n, Text: form} }

// StderrText writes a line to standard error.
func StderrText(text string) Action { return Action{Do: "stderr_text", Text: text} }

// StopReading reads nothing any more; the process lives on.
func StopReading() Action { return Action{Do: "stop_reading"} }

// Start starts a child.
func Start(s play.Spawn) Action { return Action{Do: "spawn", Spawn: &s} }

// StopSelf sends SIGSTOP to itself.
func StopSelf() Action { return Action{Do: "sigstop"} }

// Exit ends the process with that code.
func Exit(code int) Action { return Action{Do: "exit", Code: code} }

// KillSelf ends the process by SIGKILL.
func KillSelf() Action { return Action{Do: "kill"} }

// IgnoreTerm makes the process deaf to SIGTERM, SIGINT, SIGHUP and SIGQUIT.
func IgnoreTerm() Action { return Action{Do: "ignore_term"} }

// Grow takes and keeps n bytes of memory.
func Grow(n int) Action { return Action{Do: "grow", N: n} }

// WriteFile writes text to path.
func WriteFile(path, text string) Action { return Action{Do: "write_file", Path: path, Text: text} }

// Repeat does the actions n times.
func Repeat(n int, do ...Action) Action { return Action{Do: "repeat", N: n, Actions: do} }

// Echo answers a command of fakerepl with its own code as the text of a message, with all characters beyond ASCII
// escaped (surrogate pairs beyond the BMP) if escaped is set, and cut inside a character over two writes.
func Echo(escaped bool) Action {
	a := Action{Do: "echo"}
	if escaped {
		a.Text = "escaped"
	}
	return a
}

// ReplyFill answers a command of fakerepl with one message whose text is Fill(n).
func ReplyFill(n int) Action { return Action{Do: "fill", N: n} }

func raw(v any) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // a script is written by a test out of plain values
	}
	return text
}
