// Package sweeper holds the actor that owns one tree of operating-system
// processes, from the launch of its leader until the leader is reaped as the last
// of it.
//
// A Sweeper is a child of the Supervisor, not of the actor whose tree it ends: it
// outlives that actor, and a successor takes over its tree if it fails itself. It
// never gives up: as long as a process of the tree lives, it tries again, and the
// slot that the tree occupies stays visibly taken.
//
// The order of an end is what keeps strangers safe. The group is signalled first,
// while the unreaped leader pins its number; once the group has ended, or the
// leader is about to be reaped, that number may belong to anybody and is never
// signalled again (procscan.Child holds these facts, so that not even a successor
// can forget them). What has left the group is found by the tree's mark, and the
// leader is reaped when two scans in a row have found nothing.
package sweeper
