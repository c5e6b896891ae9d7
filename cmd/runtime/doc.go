// Command hearth keeps language servers and REPLs warm, and leaves no process behind.
//
// A tour:
//
//   - main.go builds an app and runs it; app.go holds the root command, the flags that
//     all commands have, and how an error becomes one line and an exit code; output.go
//     writes results.
//   - One file a verb: check.go, hover.go, run.go, demo.go, doctor.go, config.go,
//     version.go, mcp.go, serve.go; control.go has start, status, tree and stop; wait.go
//     is the hidden child of the demo.
//   - engine.go is what the commands ask of a runtime that runs in this process, and
//     shared.go that they ask the shared daemon for the same.
//   - serve.go is the daemon's life in order: listen, run, drain, end; served.go is what
//     it says of itself, listener.go its socket, daemonlog.go its log, descriptors.go
//     what it was started with and lets go of.
//   - target.go finds the project that a file belongs to. It refuses what is wrong
//     before any engine is started.
//   - gopls.go gets a Go language server for the demo; progress.go tells a person at
//     a terminal what a command waits for.
//   - watch.go runs a build that is watched, always in this process: it has the terminal.
//     watch_line.go says what it does, interrupt.go takes the signals, terminal.go asks
//     how the terminal treats who writes to it from the background.
//   - internal/render turns reports into text; internal/rpc serves the socket,
//     internal/mcp the Model Context Protocol.
//
// Standard output carries results alone, so that it can be piped; everything else
// goes to standard error. Exit codes: 0 done, 1 the code has errors, 2 wrong usage,
// 3 the runtime failed, 4 busy, timed out or interrupted, 141 nobody reads the output;
// watch has those of the command, and of GNU timeout and shells: 124, 125, 126, 127.
package main
