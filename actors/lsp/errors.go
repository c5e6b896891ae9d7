package lsp

import (
	"encoding/json"
	"fmt"
)

// Error codes of JSON-RPC and LSP that decide what happens next.
const (
	codeMethodNotFound  = -32601
	codeContentModified = -32801
	codeServerCancelled = -32802
	codeWorkerExited    = -32901 // Lean's: the worker of the file is gone
	codeWorkerCrashed   = -32902
)

// ResponseError is the server's own error answer to a request. The session goes on.
type ResponseError struct {
	Method  string
	Code    int
	Message string
	Data    json.RawMessage
}

func (e *ResponseError) Error() string {
	return fmt.Sprintf("the language server refused %s [%d]: %s", e.Method, e.Code, e.Message)
}

// StreamError says that the connection can't be used any more: framing, reading or
// writing failed, or it was closed. Err is the cause, where there is one.
type StreamError struct {
	Reason string
	Err    error
}

func (e *StreamError) Error() string {
	if e.Err == nil {
		return "connection to the language server: " + e.Reason
	}
	return fmt.Sprintf("connection to the language server: %s: %v", e.Reason, e.Err)
}

func (e *StreamError) Unwrap() error { return e.Err }

// TooLargeError is a message that was not sent for its size. The session goes on.
type TooLargeError struct {
	Method      string
	Size, Limit int // bytes
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s would take %d bytes, the limit is %d", e.Method, e.Size, e.Limit)
}

// MalformedError is a message that is JSON-RPC but not what LSP defines for its
// method. Nothing that such a server says can be relied on.
type MalformedError struct {
	Method string
	Want   string
}

func (e *MalformedError) Error() string {
	return fmt.Sprintf("the language server sent a malformed %s: want %s", e.Method, e.Want)
}

// NotOfferedError is a request that the server doesn't implement.
type NotOfferedError struct {
	Method string
	Server string
}

func (e *NotOfferedError) Error() string {
	return fmt.Sprintf("%s is not offered by %s", e.Method, e.Server)
}

// UnfinishedError says that the diagnostics of a text were not all there when the
// context ended. It is never an answer of "no errors": Partial is what was published
// for the text so far, Published tells an empty list from none.
type UnfinishedError struct {
	Published bool
	Partial   []Diagnostic
	Progress  string // what the server was last doing; empty where it didn't say
	Err       error  // the context's cause
}

func (e *UnfinishedError) Error() string {
	text := "the language server published no diagnostics for this text in time"
	if e.Published {
		text = fmt.Sprintf("the language server was not done with this text in time (%d diagnostics so far)", len(e.Partial))
	}
	if e.Progress != "" {
		text += "; last progress: " + e.Progress
	}
	return text
}

func (e *UnfinishedError) Unwrap() error { return e.Err }
