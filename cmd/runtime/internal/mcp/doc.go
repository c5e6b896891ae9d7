// Package mcp is the adapter for programs that speak the Model Context Protocol: tools
// over one pair of pipes, on the user's shared daemon, which outlives it.
//
//   - serve.go: the session, and its end, which is that of the input.
//   - tools.go: the tools. Four have the names and parameters of the predecessor, for
//     Lean; five are the same for any language.
//   - progress.go: what a caller that waits long is told meanwhile.
//
// The adapter holds no state of any language. A call that its client cancels, or that
// is under way when the input ends, is cancelled in the daemon.
package mcp
