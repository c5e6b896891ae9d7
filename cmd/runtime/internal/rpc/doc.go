// Package rpc is the daemon's end of its socket: it takes connections, reads requests
// off them in either protocol, has them done by a runtime, and writes the answers.
//
// A tour:
//
//   - server.go: a Server accepts, bounds the number of connections and ends them. It
//     never closes one without a word: what it can't take it refuses as busy.
//   - connection.go: one connection, from its first byte to its last. Version 1 has one
//     request and one reply on it; JSON-RPC stays open.
//   - flight.go: the requests of a JSON-RPC connection that are being done, side by
//     side, and how they are cancelled.
//   - methods.go: what each method asks of the runtime, and refuses.
//   - build.go: build.watch, which tells its client what happens before it answers.
//   - hangup.go: how a client that has gone is told from one that only has no more to ask.
//
// # Clocks
//
// read_timeout bounds how long a request may take to arrive, from its first byte on and,
// on a new connection, from the beginning. Between two requests of JSON-RPC nothing is
// bounded: that connection is kept. An answer must be taken within writeTimeout; a
// client that stops reading loses its connection and nobody waits for it.
//
// # Ends
//
// A JSON-RPC client that hangs up has no use for what it asked: its requests are
// cancelled. One that only closes its sending half still gets its answers. Version 1's
// work is finished in any case, as its clients expect.
//
// While the daemon drains, the server goes on: status is answered and whatever is new is
// refused by the runtime. Only Close ends it.
package rpc
