// Package lsp keeps one language server of one project and lets many callers share it.
//
// # A tour, from the pipe upwards
//
// [Stream] frames messages on the server's pipes with limits in both directions.
// [NewWire] puts go.lsp.dev/jsonrpc2's Conn on it, answers the server's own requests
// from a table and turns what the server tells into a closed sum of [Event] values.
// [Wire] is the border: everything above it is plain Go and runs in testing/synctest
// bubbles, everything below it must not (jsonrpc2 keeps a package-level pool of
// channels, which poisons the test binary).
//
// [Collector] takes the events on the read goroutine: it stores the latest per file
// or token and never blocks. [Client] speaks LSP on the Wire: typed requests, the
// server's capabilities, in Diagnostics the ways in which the end of diagnostics is
// known, and in Query what callers ask for by hand, completed. [Documents] is the pure
// bookkeeping of what is open at the server and what has to be sent for the bytes found
// on disk. [Watcher] tells servers that asked for it about changes below the project;
// for the others the session opens anew what depends on them. A server that gives its
// findings when it is asked hears of an open document's file only before a question
// about another one, or when the document is closed: it goes by the text that it was sent.
//
// # Why a frame is never abandoned half-written
//
// A caller whose context ends while its frame is half in the pipe leaves the rest to
// the next writer instead of breaking the session: jsonrpc2 would take the failure for
// a cancellation and write the next message behind the half frame, and ending the
// session would make one caller's cancel everybody's loss. Only a server that takes no
// byte at all for the stall time ends the stream.
//
// # What a server is asked twice
//
// A call whose request ended because another caller's newer text came, and one whose
// file Lean would build anew only after a restart, go back to their place in the queue:
// the file is read again, so that the answer belongs to what is on disk then. What was
// begun on a server under suspicion, found silent, goes to its successor for the same
// reason; others in flight are told.
//
// A file whose worker Lean has lost is opened anew for the next call about it: Lean
// itself waits for a new text. The call that was under way is told of the loss, since
// it may be what the worker died of.
//
// # What diagnostics belong to
//
// Publications carry a sequence number; [Client.Sync] notes the number at which the
// text of a version was sent. An answer is made only of publications after that mark,
// so a list from before (eight of thirteen servers publish an empty one when a
// document is closed) is never read, and an unchanged text is answered from what was
// published for its version.
package lsp
