// Package leanjson writes JSON in the layout of Lean's own printer, which is what Lean's REPL answers with.
//
// The layout is a Wadler-style pretty print: 80 columns, an object's keys in descending order, one space of indent for
// each bracket, and a group (a list, an object, one key with its value) on one line where it fits. Tests that compare
// bytes with recorded dialogues need it exactly; encoding/json's Indent is a different layout.
package leanjson
