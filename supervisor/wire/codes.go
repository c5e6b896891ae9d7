package wire

import (
	"errors"

	"github.com/seed-f6977891/hearth/messages"
)

// Codes of JSON-RPC errors: the first five are the standard's, -32800 is LSP's, the
// others are in the range that the standard leaves to servers.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeUnknownMethod  = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeBusy           = -32001
	CodeTimedOut       = -32002
	CodeChildFailed    = -32003
	CodeChildProtocol  = -32004
	CodeClosing        = -32005
	CodeOutcomeUnknown = -32006
	CodeCancelled      = -32800
)

// The words of version 1 for what went wrong.
const (
	typeValue       = "ValueError"
	typeProjectBusy = "ProjectResourceBusyError"
	typeLSPBusy     = "LspBusyError"
	typeLSPProtocol = "LspProtocolError"
	typeTimeout     = "TimeoutError"
	typeRuntime     = "RuntimeError"
	typeBusy        = "Busy"
)

// class is how an error shows outside: one row of the table.
type class struct {
	kind   messages.Kind
	reason messages.BusyReason // 0: any
	v1     string
	code   int
	exit   int
}

// classes is the table, the first row that fits counts. The last one is for errors
// of kinds that only a newer build knows.
var classes = []class{
	{messages.KindInvalid, 0, typeValue, CodeInvalidParams, 2},
	{messages.KindBusy, messages.Slot, typeProjectBusy, CodeBusy, 4},
	{messages.KindBusy, messages.CreationBudget, typeProjectBusy, CodeBusy, 4},
	{messages.KindBusy, messages.SessionQueue, typeLSPBusy, CodeBusy, 4},
	{messages.KindBusy, messages.WorkerQueue, typeTimeout, CodeTimedOut, 4},
	{messages.KindBusy, 0, typeBusy, CodeBusy, 4},
	{messages.KindTimeout, 0, typeTimeout, CodeTimedOut, 4},
	{messages.KindProtocol, 0, typeLSPProtocol, CodeChildProtocol, 3},
	{messages.KindProcess, 0, typeRuntime, CodeChildFailed, 3},
	{messages.KindMemory, 0, typeRuntime, CodeChildFailed, 3},
	{messages.KindClosed, 0, typeRuntime, CodeClosing, 3},
	{messages.KindOutcomeUnknown, 0, typeRuntime, CodeOutcomeUnknown, 3},
	{messages.KindCancelled, 0, typeRuntime, CodeCancelled, 4},
	{messages.KindUnreaped, 0, typeRuntime, CodeInternal, 3},
	{messages.KindInternal, 0, typeRuntime, CodeInternal, 3},
	{0, 0, typeRuntime, CodeInternal, 3},
}

func classOf(err error) class {
	kind := messages.KindOf(err)
	var reason messages.BusyReason
	if busy := (*messages.BusyError)(nil); errors.As(err, &busy) {
		reason = busy.Reason
	}
	for _, c := range classes {
		if c.kind == kind && (c.reason == 0 || c.reason == reason) {
			return c
		}
	}
	return classes[len(classes)-1]
}

// Type is what version 1 calls an error.
func Type(err error) string { return classOf(err).v1 }

// Code is an error's code in JSON-RPC.
func Code(err error) int {
	if request := (*RequestError)(nil); errors.As(err, &request) {
		return request.Code
	}
	return classOf(err).code
}

// ExitCode is what a command ends with for an error, 0 for nil.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	return classOf(err).exit
}

// kindOfType is the kind that a word of version 1 stands for, as near as the word
// tells: RuntimeError stands for many.
func kindOfType(word string) messages.Kind {
	for _, c := range classes {
		if c.v1 == word && word != typeRuntime && word != typeTimeout {
			return c.kind
		}
	}
	if word == typeTimeout {
		return messages.KindTimeout // rather than the queue's, which is retryable
	}
	return messages.KindInternal
}

// RequestError refuses a message before anything was done for it. Its kind is
// KindInvalid; Code is finer, and only JSON-RPC shows it.
type RequestError struct {
	Code int
	Text string
}

func (e *RequestError) Error() string { return e.Text }

// ErrorKind is KindInvalid.
func (e *RequestError) ErrorKind() messages.Kind { return messages.KindInvalid }
