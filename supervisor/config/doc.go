// Package config holds what a runtime may be told: its settings, its language
// profiles, and how a request's paths become a project.
//
// A tour:
//
//   - Config is the value in force. Default computes it from the machine's memory
//     alone; Load lays the config file, the environment and the flags over it, in
//     that order, and remembers where each value came from.
//   - The settings are one table (settings.go). A row holds the key, the
//     environment's names, the default, the rule and the help text; everything that
//     parses, checks, prints or explains a setting reads the row. Validate applies
//     the rules, and the rules between settings, to a Config made in code as well.
//   - Language is a profile: which files mark a project, what its server and REPL
//     are, how the end of diagnostics is known. The built-in ones are one table
//     (builtin.go) and every field of it can be overridden in the config file.
//   - Resolve turns what a caller said into a canonical project, a file in it and a
//     language, and takes the fingerprint. It reads the disk and is meant for the
//     caller's goroutine; nothing is shared, nothing cached.
//   - Install and Paths name a running daemon's files, and PrivateDir makes the
//     directory that they are in.
//
// A refused setting is a *messages.ConfigError: its name and source, its value, and
// what it may be. A refused request is an error of kind Invalid.
//
// Nothing here starts a process or looks at the working directory: a command is a
// bare name, found in PATH when it is launched, or an absolute path. A relative one
// would mean another program for every client.
package config
