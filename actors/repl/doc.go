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
//
// Above them are two actors. A Worker owns one child from its launch to its end and
// gives it one call at a time; a Pool has one Worker in each of its slots, keeps
// those warm that have no call, and replaces each that was spent, failed or grew too
// large, once nothing is left of its processes. So a slot never costs more than one
// tree, and the sum of all slots is what the cache counts a pool for.
//
// # Where a call is
//
// Its time begins when the open Pool takes it, and spans everything: the wait for a
// worker, the check of its header, its run. Until the first byte is written to a
// child it can go back to its old place in the queue, whatever happens to a worker;
// from then on its outcome is unknown until a whole, valid reply came, and whatever
// comes in place of that is a *messages.RunError that says so.
//
// # Why the Pool replies and not the Worker
//
// What status shows of a pool is the Pool's own snapshot. Were the Worker to reply,
// its caller could look at a status in which its call still runs. So the Worker
// brings its answer to the Pool, which publishes, replies and settles.
//
// # Why memory is measured so often
//
// The samples of all trees come every two seconds, in which code can fill a machine.
// While a limited call runs its tree is measured four times a second: the leader's
// process group as it is, and what the last sample knew beside it. Between two calls
// those members alone are measured, which costs microseconds, and decides whether a
// resident worker gets the next call.
package repl
