package messages

import "time"

// Snippet is code to run in a project's REPL pool.
type Snippet struct {
	Project  string        // the project's directory
	Code     string        // may be empty
	Language string        // the profile's name; empty: it follows from the project's markers
	Timeout  time.Duration // of waiting for a worker, header check and run together; 0: repl.timeout
}

// RunCode runs code in a worker of its key's pool. From the first byte written
// its outcome is unknown until a whole, valid reply came, and it is never sent again.
type RunCode struct {
	Head
	Code  string
	Reply ReplyTo[RunReport]
}

// Refuse answers with err.
func (op RunCode) Refuse(err error) { op.Reply.Fail(err) }
