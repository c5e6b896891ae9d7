// Package standins builds the stand-in programs for black-box tests and watches the processes that they start.
//
// There are three programs. test/fakelean plays Lean's tools (lake, lean, repl) with their real topology of processes,
// groups and sessions. test/fakelsp is a language server that follows a script, test/fakerepl a REPL that does. A test
// builds them with Build, writes a script or sets knobs, lets the code under test start them, and then compares what it
// said with what the processes noted in their journal and with /proc:
//
//	bin := standins.Build(t)
//	canary := standins.NewCanary(t) // lives in no tree of ours, so nothing may touch it
//	lsp := standins.WriteLSP(t, script.LSP{Rules: []script.Rule{script.When("textDocument/didOpen", ...)}})
//	... start the code under test with lsp.Command(bin) as its server ...
//	opened := lsp.Await(t, standins.Is("server", journal.Received, "textDocument/didOpen"))
//	standins.AwaitGone(t, opened.PID, opened.StartTicks)
//
// Waits are for events with bounds that no slow machine reaches; nothing sleeps to wait.
package standins
