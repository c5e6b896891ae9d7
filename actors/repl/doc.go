// Package repl holds the children that run code: how they are spoken to, how a
// pool of them is kept warm, and what becomes of a call.
//
// Below the actors lie parts that know nothing of them, each usable and tested
// alone:
//
//   - A Client moves frames over a child's two pipes. Its errors say whether any
//     byte of a request was attempted: from then on the outcome is unknown until
//     a whole, valid reply came, and nothing is ever sent twice.
//   - A Protocol makes frames of code and reports of frames: Lean for
//     leanprover-community/repl, JSONL for anything that answers one JSON object
//     a line, with a driver for Python (PythonCommand).
//   - Headers decides what a piece of Lean code may import, whether Lean's own
//     parser must be asked, and whether the body can run in the environment that
//     a warm worker has loaded.
//   - Queue decides which waiting call gets which worker, and which slot starts
//     the next one when.
package repl
