// Package wire is what goes over the daemon's socket, without the socket: both
// protocols, their limits, their parameters, their errors and their results. It
// knows no actor and opens no connection; the daemon's server and its clients are
// both made of it.
//
// A tour, in the order of a call's journey:
//
//   - frame.go: a Reader takes lines of JSON off a connection and bounds them.
//   - request.go: ParseRequest makes a Request of a line, in either protocol; object.go
//     takes it apart. methods.go and params.go name the methods and check their
//     parameters, by the rules of fields.go.
//   - text.go and lsptext.go are the texts that version 1 gives for results, fixed to
//     the letter. status.go, projects.go, replstatus.go and tree.go make the JSON of
//     the status methods from one picture of the Observer's, by pure functions.
//   - reply.go: Request.Reply and Request.Refuse are the answering lines. Call and
//     ParseReply are the client's side of the same.
//   - codes.go is the one table of how an error shows outside: version 1's word,
//     JSON-RPC's code, a command's exit code. detail.go writes a typed error down for
//     JSON-RPC, and restore.go makes it again at the other end, so that errors.As gives
//     a client what it gives an embedded caller. Version 1 has room for a word and a line
//     alone: what comes from it has a kind, and RuntimeError stands for many.
//   - peer.go asks the kernel who is at the other end of a connection that exists.
//
// # Version 1
//
// It is the predecessor's and is kept to the byte: the members' order, no blanks
// between them, floats with a point. Two things are ours. Its words for errors are a
// closed list, so that invalid JSON is a ValueError as all bad input is (the
// predecessor's word was of a subclass of that). And what Python's json reads though
// JSON forbids it, NaN and Infinity, is read as a number that no rule lets through.
//
// A line counts as JSON-RPC when it has a member "jsonrpc", and as version 1 when it
// has none; one that can't be read is answered in what the connection spoke before,
// or in version 1.
package wire
