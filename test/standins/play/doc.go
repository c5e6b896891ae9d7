// Package play is what a stand-in process does besides speaking its protocol: it notes its signals, ignores or delays
// them, grows, crashes, floods stderr, and starts children of every kind that real servers leave behind: in sessions of
// their own, double forked, without an environment, as zombies, in loops of fork or exec.
//
// All of it is real: fork, exec, setsid and signals of the kernel, since the code under test looks at /proc.
// A Directive is the spelling of such a deed in a comment ("-- fake: sleep 5s") or in a list ("sleep 5s; ignore-term").
package play
