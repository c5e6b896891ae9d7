// Package script is what the scripted stand-ins, fakelsp and fakerepl, are told to do: Go values that a test writes as
// JSON and the program reads.
//
// A script is a list of rules: when a trigger fires (a message, a command, the start), do some actions. What no rule
// speaks of is done by default, so that a script says only in what its server is odd.
package script
