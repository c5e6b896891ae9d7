// Package cache shares what is expensive to start: language servers and REPL pools,
// one for each project and language, at most as many as fit, kept warm until nobody
// uses them or somebody needs their room.
//
// # The parts
//
// A Cache is one actor for each kind of resource. Callers send it operations; it
// answers none of them itself but those that it refuses. What it has given out is in
// its ledger, which is pure and alone decides: grant, create, evict, wait or refuse.
// It decides first and changes afterwards, so that a refusal never costs anybody a
// resource that was resident.
//
// An Entry is one key's actor and lives exactly as long as the key occupies its
// slot: from the creation until the last process of its tree is reaped. Its one
// child, a Session or a Pool, is made by a function that the Cache was given, so
// that this package knows nothing of servers and REPLs. The Entry keeps what comes
// before the child is ready, and a copy of everything that it passed on: whatever
// becomes of the child, each operation is answered and each lease comes back.
//
// # Who is served
//
// Waiting operations stand in one queue. The head is served first, whatever its key,
// and by the very message that frees the room. Two refinements of a plain queue keep
// it from standing still for nothing:
//
//   - A waiter to whom room is promised, since enough of it is being closed already,
//     stops nobody behind it. So the first calls of four new projects have four idle
//     ones closed at the same time and not one after the other.
//   - A waiter for the end of its own key's calls stops nobody: one call that hangs
//     on an outdated server would else hold up every other project.
//
// A waiter for whom no room is in sight stops everything behind it, leases on warm
// keys included: they would keep busy what has to become idle for it, and under
// steady load it would wait for ever.
//
// Victims are the idle keys that were used least recently, and only if they suffice.
// A key that is still being created, and whose callers have all left, is idle like
// any other: it is kept for the next caller, unless its room is needed.
//
// # Time
//
// A waiter is looked at when the time that is left is no more than its creation
// needs: from there on waiting can't help it, unless its key came to be meanwhile.
// So it hears of the creation budget as early as that is certain. At a deadline,
// whosever it was, the answer is Busy, since nothing was started; after a cancel it
// is Cancelled.
//
// # Status
//
// A Cache publishes sums and an Entry its key's state, each when it changes. A lease
// on a warm key changes neither: who is at work is in the resource's own snapshot.
package cache
