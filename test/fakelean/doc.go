// Fakelean plays Lean's tools for black-box tests where Lean can't be installed. Which tool it is follows from the name
// that it was started by (lake, lean, repl), else from its first argument.
//
// # Processes
//
// The topology is the real one, made by real fork, exec and setsid:
//
//	lake serve                 waits for its child and returns its code
//	└─ lean --server           the watchdog, in the same group
//	   └─ lean --worker URI    one for each open file, in a session of its own
//	      └─ lake setup-file   in the worker's group
//	         └─ lean SRC -o …  the builds of stale imports, in the same group, several at once
//	lake exe repl              waits for its child
//	└─ repl                    in the same group
//
// # Directives
//
// A line "-- fake: DEED" in a Lean file or in code for the REPL is done when the elaboration comes to it. The same deeds,
// separated by semicolons, are done at the start of a process of a role by the environment variable FAKELEAN_AT_ROLE:
// LAKE (serve), EXE, ENV, MAKE (lake build), SETUP, SERVER, WORKER, BUILD (lean -o), DEPS, REPL. A file named .fakelean in
// the working directory sets variables too, one NAME=VALUE a line, for tests that share one environment.
//
// Deeds of all roles are those of package play: sleep D, await FILE, crash, exit N, ignore-term, slow-term D, rss SIZE,
// stderr SIZE, stderr-text TEXT, stop, spawn, fork-daemon, re-session, clear-env, zombie, fork-loop, exec-loop. Beside
// them in text:
//
//	error L:C TEXT        a message at that line (from 1) and column (from 0); also warning, info
//	garbage TEXT          the text and a newline, raw, on the stream to the client
//	partial-frame         half a message to the client and then nothing any more
//	no-publish            the worker publishes nothing for this file
//	ignore-eof            the worker lives on when its input ends
//	import-slow M [D]     as if the file imported a module M whose build takes D (10m)
//
// and for one role by environment:
//
//	LAKE, EXE  exit-early      start the child and end
//	EXE        build-first M   build that module before the program runs
//	SERVER     no-group-kill   leave alone what workers started
//	           no-shutdown     never answer shutdown
//	           refresh         ask the client to refresh tokens and hints, once
//	           ignore-eof      live on when the input ends
//	WORKER     block-in-setup  read nothing while setup-file runs, as before version 4.24; also ignore-eof, no-publish
//	DEPS       schema NAME     result, flat or oldest; by default the newest, which lists Init twice
//	REPL       imports-throw   a missing module is a reply of only a message
//
// FAKELEAN_JOURNAL names the journal of all processes (package journal).
//
// # Elaboration
//
// There is none, only a table of a few rules that give real texts at real places: sorry in a declaration, by with
// nothing behind it, an unknown name, a string where a Nat is wanted, rfl between different numbers, #check, #eval and
// #print of names and small sums, an import that nobody has, a word that begins no command.
package main
