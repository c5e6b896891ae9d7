// Package actors is the kit that every actor of hearth is made of: a guarded
// process on hollywood's engine, an address, blocking work that answers by
// message, timers that answer by message, and a state machine's bookkeeping.
//
// # The laws
//
//  1. Receive never blocks: no channel receive, file, /proc, Sleep or wait.
//  2. Fields are touched only in Receive. A worker's closure captures values and
//     Self, never the behaviour. A behaviour gets no *actor.Context at all: one
//     that is kept past Receive answers the wrong sender.
//  3. Blocking work is [Go]: a goroutine whose answer is a private message with
//     the id or attempt it belongs to. Its panic is an answer too; an answer that
//     finds its actor sealed or stopped, or was in hand when it panicked, goes to
//     undelivered. Work of an operation derives from the operation's context; what
//     all share (launch, sweep, initialize, warm) from the actor's own.
//  4. Every wait is a named state, and is ended by a timer, by bounded work, or by
//     a child that is itself bound to end. A state's timers end with the state.
//  5. Only [Machine.Become] changes a state: it checks that the step is legal, logs
//     it once and publishes the snapshot.
//  6. Every operation gets exactly one reply. Whoever holds one in a queue arms its
//     clocks and answers when they end; whoever forwards one keeps a copy until it
//     is settled. [messages.ReplyTo] takes the first answer, so a second is harmless.
//  7. Publish before reply: a caller that has its answer sees it in status.
//  8. Parent and child talk, siblings do not. Ids carry a generation and are never
//     used twice; what doesn't come from the present child is ignored.
//  9. Stopping is [Handle.Stop]: the owner calls it when the actor says that it is
//     finished. No actor finishes while a worker of its is out, nor before its tree
//     is reaped. Done serves [Ask] and tests; actors learn of a death by Down.
//  10. Nothing is process-global: no signal handler, no wait for any child, no working
//     directory, no default logger.
//
// # Why the kit brings its own process and mailbox
//
// hollywood v1.0.5 gives the engine, the registry and the addresses, and with them the
// way to other nodes. Its process type is not used: after a panic it restarts actors by
// ways that crash the program (a nil cancel), resurrect what was deregistered, or run
// one actor on two goroutines; a second pill never ends; what stands behind a pill
// vanishes; a Goexit leaves the inbox running for ever; and its middleware is rebuilt for
// every message. The kit's process (guard.go) implements hollywood's Processer instead:
// no panic and no Goexit leaves it, no message that reached it is lost, and stopping is
// one message of the kit's own. So no middleware, no MaxRestarts, no pill and no
// SpawnChild exist to be used wrongly. Its mailbox (mailbox.go) takes turns on
// goroutines that are used again, which halves the cost of a call.
package actors
