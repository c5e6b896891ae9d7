// Fakerepl is a REPL on standard input and output that follows a script, for black-box tests.
//
//	fakerepl [--script FILE] [--journal FILE] [--protocol lean|jsonl]
//
// The environment variables FAKEREPL_SCRIPT, FAKEREPL_JOURNAL and FAKEREPL_PROTOCOL stand in for missing flags. The script
// is that of package script.
//
// By default each command {"cmd": …, "env": …} gets a new env, counted from 0 per process, and one message that says
// "generation N env N pid N sha256 HEX" (of the decoded code) and " marker M" for each "marker M" in the code; a header
// alone (import lines) gets the env without a message. An env that was not handed out and a surrogate escape in the
// request are refused. What is no JSON ends the process, as it ends Lean's REPL. The protocol jsonl does the same with one
// object a line: {"code": …} gives {"ok", "stdout", "stderr", "result", "error"}.
//
// Comments "-- fake: DEED" in the code (package play) are done before the answer. With a recorded dialogue to replay, a
// command that is in it gets the recorded bytes. Commands are taken one after the other, as a REPL takes them.
package main
