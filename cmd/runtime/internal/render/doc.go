// Package render turns what a runtime answers into text for people. It writes
// nowhere: each function gives the whole text, so that a command prints it with one
// write and notices when that fails.
//
//   - Diagnostics and Query: lines in the style of compilers
//   - Awaited and Summary: a status in one line
//   - Daemon and Tree: what a daemon does, at a glance on 80 columns
//   - Settings and Doctor: tables
//
// The texts that programs of the older protocol read are in supervisor/wire.
package render
