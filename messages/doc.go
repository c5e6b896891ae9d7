// Package messages holds what crosses an actor's border: immutable values without
// behaviour, beyond Refuse and Send. A message is never changed after it was sent,
// and holds no function, lock or pointer into an actor.
//
// # Conventions
//
// Commands are imperatives (Close, Launch), events are past tense (Launched,
// Settled), queries end in Query. What names an actor is a [Ref]; what names a tree
// is a [TreeID]; both are never used twice. Messages private to one actor live in
// its own package, in lower case and past tense (opDone).
//
// # Order
//
//	event          | must follow                       | must precede
//	Launched       | Adopt                             | LeaderDown, LeaderReaped
//	LaunchLate     | Adopt                             | LeaderReaped
//	LaunchFailed   | Adopt                             | Closed
//	LeaderDown     | Launched                          |
//	SweepFailed    | Sweep or LaunchLate               | LeaderReaped
//	LeaderReaped   | Sweep or LaunchLate, and the proof that the tree is gone | Closed
//	Ready          | Launched                          | the first operation
//	StartFailed    | Adopt                             | Closed
//	Ending         | Ready                             | any Settled with Broken
//	the answer     | the operation                     | its Settled
//	Settled        | the answer, or with Returned none | its LeaseReleased
//	Closed         | every Settled, LeaderReaped       | EntryClosed
//	EntryClosed    | every LeaseReleased               | the slot's next use
//	Down to parent | the fault                         | Down to the Supervisor
//	TreesGone      | Down, every LeaderReaped below    | the slot's next use
//
// An answer is published to the Observer before it is sent: a caller that has its
// answer sees it in status.
package messages
